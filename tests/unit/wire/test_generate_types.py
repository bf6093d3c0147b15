"""The generator of the page's TypeScript types."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from warmfront.api.app import create_app

if TYPE_CHECKING:
    from types import ModuleType

    from warmfront.api.context import ServiceContext

SCRIPT = Path(__file__).resolve().parents[3] / "scripts" / "generate_types.py"


@pytest.fixture(name="script", scope="module")
def _script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate_types", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_checked_in_types_are_current(script: ModuleType) -> None:
    """`generated.ts` is equal to the script's output for the OpenAPI document."""
    document = create_app(cast("ServiceContext", None)).openapi()
    assert script.TARGET.read_text("utf-8") == script.generate(document)


@pytest.mark.parametrize(
    ("schema", "typescript"),
    [
        ({"type": "integer"}, "number"),
        ({"$ref": "#/components/schemas/Other"}, "Other"),
        ({"enum": ["a", "b"], "type": "string"}, '"a" | "b"'),
        ({"const": "a"}, '"a"'),
        ({"anyOf": [{"type": "number"}, {"type": "null"}]}, "number | null"),
        ({"type": "array", "items": {"type": "string"}}, "string[]"),
        ({"type": "array", "items": {"anyOf": [{"type": "number"}, {"type": "null"}]}}, "(number | null)[]"),
        ({"type": "array", "prefixItems": [{"type": "number"}, {"type": "string"}]}, "[number, string]"),
        ({"type": "object", "additionalProperties": {"type": "number"}}, "Record<string, number>"),
        (
            {
                "type": "object",
                "propertyNames": {"$ref": "#/components/schemas/Key"},
                "additionalProperties": {"type": "number"},
            },
            "Partial<Record<Key, number>>",
        ),
        ({}, "unknown"),
    ],
)
def test_a_schema_becomes_a_type(script: ModuleType, schema: dict[str, Any], typescript: str) -> None:
    """Each kind of schema has its TypeScript type."""
    document = {"components": {"schemas": {"Thing": {"anyOf": [schema]}}}}
    assert script.generate(document).endswith(f"export type Thing = {typescript};\n")


def test_a_field_that_is_not_required_is_optional(script: ModuleType) -> None:
    """Optional fields have a question mark, and descriptions become comments."""
    thing = {
        "type": "object",
        "required": ["a"],
        "properties": {"a": {"type": "string", "description": "First."}, "b": {"type": "boolean"}},
    }
    text = script.generate({"components": {"schemas": {"Thing": thing}}})
    assert "export interface Thing {\n  /** First. */\n  a: string;\n  b?: boolean;\n}" in text
