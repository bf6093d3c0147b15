"""Write the page's TypeScript types from the OpenAPI document of the service.

Usage: python scripts/generate_types.py [--check]

`--check` writes nothing and exits with 1 if `frontend/src/lib/generated.ts` is not up to date.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from warmfront.api.app import create_app

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from warmfront.api.context import ServiceContext

TARGET = Path(__file__).resolve().parent.parent / "frontend" / "src" / "lib" / "generated.ts"

HEADER = """\
/* Generated from the OpenAPI document by scripts/generate_types.py. Do not edit. */
"""

_PRIMITIVES = {
    "string": "string",
    "integer": "number",
    "number": "number",
    "boolean": "boolean",
    "null": "null",
}


def generate(document: Mapping[str, Any]) -> str:
    """Return the TypeScript declarations of every component schema of an OpenAPI document."""
    schemas = document["components"]["schemas"]
    blocks = [_declaration(name, schema) for name, schema in sorted(schemas.items())]
    return HEADER + "\n" + "\n\n".join(blocks) + "\n"


def _declaration(name: str, schema: Mapping[str, Any]) -> str:
    if "enum" in schema:
        return f"export type {name} = {_type(schema)};"  # its docstring is about Python
    comment = _comment(schema.get("description"), "")
    if schema.get("type") == "object" and "properties" in schema:
        lines = "\n".join(_properties(schema))
        return f"{comment}export interface {name} {{\n{lines}\n}}"
    return f"{comment}export type {name} = {_type(schema)};"


def _properties(schema: Mapping[str, Any]) -> Iterator[str]:
    required = set(schema.get("required", ()))
    for name, value in schema["properties"].items():
        optional = "" if name in required else "?"
        yield f"{_comment(value.get('description'), '  ')}  {_key(name)}{optional}: {_type(value)};"


def _type(schema: Mapping[str, Any]) -> str:
    if "$ref" in schema:
        return str(schema["$ref"]).rsplit("/", 1)[-1]
    if "const" in schema or "enum" in schema:
        values = schema.get("enum") or [schema["const"]]
        return " | ".join(json.dumps(value) for value in values)
    if members := schema.get("oneOf") or schema.get("anyOf"):
        return " | ".join(dict.fromkeys(_type(member) for member in members))
    if schema.get("type") == "array":
        return _array(schema)
    if schema.get("type") == "object":
        return _record(schema)
    return _PRIMITIVES.get(str(schema.get("type")), "unknown")


def _array(schema: Mapping[str, Any]) -> str:
    if "prefixItems" in schema:
        return f"[{', '.join(_type(item) for item in schema['prefixItems'])}]"
    item = _type(schema.get("items", {}))
    return f"({item})[]" if " " in item else f"{item}[]"


def _record(schema: Mapping[str, Any]) -> str:
    values = schema.get("additionalProperties")
    value = _type(values) if isinstance(values, dict) else "unknown"
    keys = _type(schema["propertyNames"]) if "propertyNames" in schema else "string"
    # A map by enum has entries for some of the values.
    return f"Record<string, {value}>" if keys == "string" else f"Partial<Record<{keys}, {value}>>"


def _key(name: str) -> str:
    return name if name.isidentifier() else json.dumps(name)


def _comment(text: str | None, indent: str) -> str:
    if not text:
        return ""
    lines = [line.rstrip() for line in text.replace("*/", "* /").splitlines()]
    if len(lines) == 1:
        return f"{indent}/** {lines[0]} */\n"
    body = "\n".join(f"{indent} * {line}".rstrip() for line in lines)
    return f"{indent}/**\n{body}\n{indent} */\n"


def main() -> int:
    """Write or check the file; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="fail if the file is not up to date")
    check = parser.parse_args().check
    # Only the declarations of the routes are needed, so there is no service behind them.
    generated = generate(create_app(cast("ServiceContext", None)).openapi())
    if check:
        if not TARGET.exists() or TARGET.read_text("utf-8") != generated:
            print(
                f"{TARGET.name} is not up to date: run `python scripts/generate_types.py`.", file=sys.stderr
            )
            return 1
        return 0
    TARGET.write_text(generated, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
