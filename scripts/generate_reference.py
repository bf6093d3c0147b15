"""Write the generated pages of the reference: the HTTP API, the command line, the settings and the SDK.

Usage: python -m scripts.generate_reference DIRECTORY
"""

from __future__ import annotations

import argparse
import inspect
import json
import re
from dataclasses import MISSING, fields, is_dataclass
from decimal import Decimal
from functools import reduce
from operator import or_
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Union, cast, get_args, get_origin

import typer.main
from pydantic import BaseModel

import warmfront.client
from warmfront import setting_variables, settings
from warmfront.api.app import create_app
from warmfront.cli.app import app as commands

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from warmfront.api.context import ServiceContext

    #: A command, group or parameter of click, of which Typer has a copy of its own without public types.
    Command = Any

_NOTE = "This page is generated from the code."
_METHODS = ("get", "post", "put", "patch", "delete")
_SECTION = re.compile(r"^(Args|Returns|Yields|Raises|Example):$", re.MULTILINE)


def write(directory: Path) -> None:
    """Write every page into the directory."""
    directory.mkdir(parents=True, exist_ok=True)
    pages = {
        "http-api.md": http_api(openapi_document()),
        "commands.md": command_line(root_command()),
        "all-settings.md": all_settings(),
        "python-sdk.md": python_sdk(),
    }
    for name, text in pages.items():
        (directory / name).write_text(text, "utf-8")


def openapi_document() -> dict[str, Any]:
    """Return the OpenAPI document of the service."""
    document: dict[str, Any] = create_app(cast("ServiceContext", None)).openapi()
    return document


def root_command() -> Command:
    """Return the command `warmfront`."""
    return typer.main.get_command(commands)


# The HTTP API.


def http_api(document: Mapping[str, Any]) -> str:
    """Return the page of all routes and models of an OpenAPI document."""
    by_tag: dict[str, list[str]] = {}
    for path, methods in document["paths"].items():
        for method in _METHODS:
            if method in methods:
                operation = methods[method]
                tag = (operation.get("tags") or ["other"])[0]
                by_tag.setdefault(tag, []).append(_operation(method.upper(), path, operation))
    parts = [
        "# HTTP API: all routes",
        f"{_NOTE} [The HTTP API](../api.md) explains how to use it. `/openapi.json` is for programs.",
    ]
    for tag in sorted(by_tag):
        parts += [f"## {tag.capitalize()}", *by_tag[tag]]
    parts.append("## Models")
    for name, schema in sorted(document["components"]["schemas"].items()):
        parts.append(_model(name, schema))
    return "\n\n".join(parts) + "\n"


def _operation(method: str, path: str, operation: Mapping[str, Any]) -> str:
    parts = [f"### `{method} {path}`", _text(operation.get("description") or operation.get("summary", ""))]
    rows = [
        (
            f"`{parameter['name']}`",
            parameter["in"],
            _type(parameter["schema"]),
            parameter.get("description", ""),
        )
        for parameter in operation.get("parameters", [])
    ]
    if rows:
        parts.append(_table(("parameter", "in", "type", "meaning"), rows))
    body = operation.get("requestBody", {}).get("content", {})
    if body:
        parts.append(
            "Body: " + ", ".join(f"`{kind}` {_type(value.get('schema', {}))}" for kind, value in body.items())
        )
    responses = [
        (status, _content(response), response.get("description", ""))
        for status, response in sorted(operation["responses"].items())
    ]
    parts.append(_table(("status", "body", "meaning"), responses))
    return "\n\n".join(part for part in parts if part)


def _content(response: Mapping[str, Any]) -> str:
    kinds = response.get("content", {}).items()
    return ", ".join(_type(value.get("schema", {})) or f"`{kind}`" for kind, value in kinds)


def _model(name: str, schema: Mapping[str, Any]) -> str:
    parts = [f"### {name}", _text(schema.get("description", ""))]
    if "enum" in schema:
        parts = [f"### {name}", "One of " + ", ".join(f"`{value}`" for value in schema["enum"]) + "."]
    required = set(schema.get("required", ()))
    rows = [
        (f"`{field}`", _type(value), "yes" if field in required else "", value.get("description", ""))
        for field, value in schema.get("properties", {}).items()
    ]
    if rows:
        parts.append(_table(("field", "type", "required", "meaning"), rows))
    return "\n\n".join(part for part in parts if part)


def _type(schema: Mapping[str, Any]) -> str:
    """Return a JSON schema as Markdown, with links to models."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    for key in ("anyOf", "oneOf", "allOf"):
        if key in schema:
            return " or ".join(dict.fromkeys(_type(option) for option in schema[key]))
    if "const" in schema:
        return f"`{json.dumps(schema['const'])}`"
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    if schema.get("type") == "array":
        return f"list of {_type(schema.get('items', {})) or 'values'}"
    return str(schema.get("type", ""))


# The command line.


def command_line(root: Command) -> str:
    """Return the page of all commands."""
    parts = [
        "# All commands",
        f"{_NOTE} [The command line](../command-line.md) explains how to use them.",
    ]
    parts += [_command(path, command) for path, command in walk(root)]
    return "\n\n".join(parts) + "\n"


def walk(command: Command, path: str = "warmfront") -> Iterator[tuple[str, Command]]:
    """Yield every command that does something, with its full name."""
    children = getattr(command, "commands", None)
    if children is None and not command.hidden:
        yield path, command
    for name, child in (children or {}).items():
        yield from walk(child, f"{path} {name}")


def _command(path: str, command: Command) -> str:
    arguments = [parameter for parameter in command.params if parameter.param_type_name == "argument"]
    usage = " ".join([path, *(argument.name.upper() for argument in arguments), "[OPTIONS]"])
    parts = [f"## {path}", _text(inspect.cleandoc(command.help or "")), f"```sh\n{usage}\n```"]
    options = [parameter for parameter in command.params if parameter.param_type_name == "option"]
    rows = [
        (
            ", ".join(f"`{name}`" for name in [*option.opts, *option.secondary_opts]),
            _default(option),
            option.help or "",
        )
        for option in options
        if not option.hidden
    ]
    if rows:
        parts.append(_table(("option", "default", "meaning"), rows))
    return "\n\n".join(part for part in parts if part)


def _default(option: Command) -> str:
    if option.required:
        return "required"
    value = option.default
    return (
        f"`{value}`"
        if isinstance(value, str | int | float) and not isinstance(value, bool) and value != ""
        else ""
    )


# The settings.


def all_settings() -> str:
    """Return the page of all settings, with their defaults and allowed values."""
    meanings = dict(
        re.findall(r"^    #: ([A-Z][A-Z0-9_]+): (.+)$", inspect.getsource(settings.Settings), re.MULTILINE)
    )
    rows = []
    for field in fields(settings.Settings):
        variable, _, allowed = setting_variables.VARIABLES[field.name]
        rows.append((f"`{variable}`", _value(field), allowed, meanings[variable]))
    return (
        "\n\n".join(
            [
                "# All settings",
                f"{_NOTE} [Settings](../settings.md) groups them by purpose.",
                _table(("variable", "default", "allowed", "meaning"), sorted(rows)),
            ]
        )
        + "\n"
    )


def _value(field: Any) -> str:  # noqa: ANN401 - a field of a dataclass
    value = field.default
    if value is MISSING or value is None or value in {"", ()}:
        return ""
    if isinstance(value, bool):
        return f"`{str(value).lower()}`"
    if field.name.endswith("_bytes"):
        return f"`{_size(value)}`"
    return f"`{value:g}`" if isinstance(value, float) and not isinstance(value, Decimal) else f"`{value}`"


def _size(size_bytes: int) -> str:
    for unit, name in ((1024**3, "GB"), (1024**2, "MB")):
        if size_bytes % unit == 0:
            return f"{size_bytes // unit}{name}"
    return str(size_bytes)


# The SDK.


def python_sdk() -> str:
    """Return the page of everything that `warmfront.client` exports."""
    parts = [
        "# Python SDK: all classes and functions",
        f"{_NOTE} [The SDK](../sdk.md) explains how to use it.",
        _text(inspect.cleandoc(warmfront.client.__doc__ or "")),
    ]
    names = sorted(warmfront.client.__all__, key=lambda name: (name[0].isupper(), name))
    parts += [_export(name, getattr(warmfront.client, name)) for name in names]
    return "\n\n".join(parts) + "\n"


def _export(name: str, value: Any) -> str:  # noqa: ANN401 - a class or a function
    if inspect.isclass(value) and issubclass(value, BaseModel):
        return f"## {name}\n\n{_docstring(value)}\n\n{_model_fields(value)}"
    if not inspect.isclass(value):
        return f"## {name}\n\n```python\n{name}{_signature(value)}\n```\n\n{_docstring(value)}"
    parts = [f"## {name}", f"```python\n{name}{_signature(value)}\n```", _docstring(value)]
    for method_name, method in inspect.getmembers(value, inspect.isroutine):
        if not method_name.startswith("_"):
            parts.append(f"### {name}.{method_name}")
            parts.append(f"```python\n{method_name}{_signature(method)}\n```\n\n{_docstring(method)}")
    return "\n\n".join(parts)


def _model_fields(model: type[BaseModel]) -> str:
    rows = [
        (f"`{name}`", f"`{_type_name(field.annotation)}`".replace("|", "\\|"), field.description or "")
        for name, field in model.model_fields.items()
    ]
    return _table(("field", "type", "meaning"), rows)


def _type_name(annotation: Any) -> str:  # noqa: ANN401 - any type
    text = (
        annotation.__name__
        if inspect.isclass(annotation) and not hasattr(annotation, "__args__")
        else str(_plain_type(annotation))
    )
    return re.sub(r"\b(?:[a-z_]+\.)+(?=[A-Za-z])", "", text)


def _plain_type(annotation: Any) -> Any:  # noqa: ANN401 - any type
    """Return a type without pydantic's validators, and an optional type as a union."""
    if get_origin(annotation) is Annotated:
        return _plain_type(get_args(annotation)[0])
    if get_origin(annotation) is Union:
        return reduce(or_, map(_plain_type, get_args(annotation)))
    return annotation


def _signature(value: Any) -> str:  # noqa: ANN401 - anything that can be called
    signature = _fields_signature(value) if is_dataclass(value) else inspect.signature(value)
    text = str(signature).replace("'", "")
    return re.sub(r"\b(?:[a-z_]+\.)+(?=[A-Z])", "", text)


def _fields_signature(cls: Any) -> inspect.Signature:  # noqa: ANN401 - a dataclass
    """Return the signature of a dataclass; its `__init__` has none until the first object is created."""
    parameters = [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY if field.kw_only else inspect.Parameter.POSITIONAL_OR_KEYWORD,
            default=inspect.Parameter.empty if field.default is MISSING else field.default,
            annotation=field.type,
        )
        for field in fields(cls)
    ]
    return inspect.Signature(parameters)


def _docstring(value: Any) -> str:  # noqa: ANN401 - anything with a docstring
    """Return a docstring as Markdown: arguments and exceptions as lists, examples as code."""
    pieces = _SECTION.split(inspect.getdoc(value) or "")
    parts = [_text(pieces[0])]
    for title, body in zip(pieces[1::2], pieces[2::2], strict=True):
        text, _, rest = body.strip("\n").partition("\n\n")
        lines = inspect.cleandoc(text)
        if title == "Example":
            parts.append(f"```pycon\n{lines}\n```")
        elif title in {"Args", "Raises"}:
            items = re.sub(r"^(\w+): ", r"- `\1`: ", lines, flags=re.MULTILINE)
            parts.append(f"**{title}**\n\n" + re.sub(r"\n +", " ", items))
        else:
            parts.append(f"**{title}**: {' '.join(lines.split())}")
        parts.append(_text(inspect.cleandoc(rest)))
    return "\n\n".join(part for part in parts if part)


# Markdown.


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(_cell(cell) for cell in line) + " |" for line in lines)


def _cell(text: str) -> str:
    return " ".join(_text(str(text)).split())


def _text(text: str) -> str:
    """Return text of a docstring as Markdown; outside of code, escape what looks like a tag."""
    pieces = re.split(r"(`[^`]*`)", text)
    return "".join(piece if piece.startswith("`") else piece.replace("<", "&lt;") for piece in pieces)


def main() -> None:
    """Write the pages."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory", type=Path)
    write(parser.parse_args().directory)


if __name__ == "__main__":
    main()
