"""Read the options of `warmfront launch`: turn `--grid 4x2 --arg x=1024:index` into the launch of a kernel.

The launch is the same JSON object that the HTTP API gets, so that both are validated in one place. Messages
about its fields are rewritten here to name the options.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from warmfront.errors import UsageError
from warmfront.hip.scratch import FILLS, find_kernels
from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from warmfront.errors import InvalidLaunch
    from warmfront.hip.scratch import KernelParameter

_SIZES = re.compile(r"\d{1,10}(x\d{1,10}){0,2}")
_INTEGER = re.compile(r"[+-]?\d{1,20}")
_EXAMPLE = "--arg x=1024:index --arg y=1024 --arg n=1024"


@dataclass(frozen=True, kw_only=True)
class LaunchOptions:
    """The options that describe a launch, as typed."""

    kernel: str | None  #: None for the only kernel of the file
    grid: str
    block: str
    shared_bytes: int
    arguments: tuple[str, ...]


def declare_launch(options: LaunchOptions, source: str) -> dict[str, Any]:
    """Return the launch as the JSON object of the HTTP API.

    Raises:
        UsageError: an option cannot be read, or names no kernel or parameter of the source.
    """
    kernel, parameters = _choose_kernel(options.kernel, source)
    typed = _typed_arguments(options.arguments)
    names = [parameter.name for parameter in parameters]
    for name in typed:
        if name not in names:
            raise UsageError(
                f"--arg is {name}={typed[name]!r}, and `{kernel}` has no parameter `{name}`.",
                hint=_parameters_hint(parameters),
            )
    missing = [name for name in names if name not in typed]
    if missing:
        raise UsageError(
            f"`{kernel}` needs --arg for {', '.join(missing)}.", hint=_parameters_hint(parameters)
        )
    return {
        "kernel": kernel,
        "grid": _sizes("--grid", options.grid),
        "block": _sizes("--block", options.block),
        "shared_bytes": options.shared_bytes,
        "arguments": [_argument(parameter, typed[parameter.name]) for parameter in parameters],
    }


def as_usage_error(error: InvalidLaunch, launch: Mapping[str, Any], source: str) -> UsageError:
    """Return the error of a launch with the options in place of the fields of the HTTP API."""
    parameters = find_kernels(source).get(str(launch["kernel"])) or ()

    def option(field: re.Match[str]) -> str:
        if field[1] != "arguments" or field[2] is None:
            return f"--{field[1].replace('_', '-')}" if field[1] != "arguments" else "--arg"
        part = f" ({field[3]})" if field[3] and field[3] != "value" else ""
        return f"--arg {parameters[int(field[2])].name}{part}"

    text = re.sub(r"launch\.(\w+)(?:\[(\d+)\])?(?:\.(\w+))?(?:\[\d+\])?", option, error.message)
    return UsageError(text.replace("solution_code", "The file"), hint=error.hint)


def _choose_kernel(name: str | None, source: str) -> tuple[str, tuple[KernelParameter, ...]]:
    kernels = find_kernels(source)
    if not kernels:
        raise UsageError(
            "The file has no kernel.", hint="A kernel is a function that is declared with __global__."
        )
    if name is None and len(kernels) > 1:
        raise UsageError(
            f"The file has {len(kernels)} kernels.", hint=f"Use --kernel with one of: {', '.join(kernels)}."
        )
    chosen = name or next(iter(kernels))
    if chosen not in kernels:
        raise UsageError(
            f"--kernel is {chosen!r}, which the file does not have.",
            hint=f"Use one of: {', '.join(kernels)}.",
        )
    parameters = kernels[chosen]
    if parameters is None:
        raise UsageError(
            f"`{chosen}` is a template or has an unsupported parameter.",
            hint="Write a kernel without template parameters that calls it.",
        )
    return chosen, parameters


def _typed_arguments(words: Sequence[str]) -> dict[str, str]:
    typed: dict[str, str] = {}
    for word in words:
        name, _, value = (part.strip() for part in word.partition("="))
        if not name or not value or name in typed:
            raise UsageError(f"--arg is {word!r}, which is not a new NAME=VALUE.", hint=f"Write {_EXAMPLE}.")
        typed[name] = value
    return typed


def _argument(parameter: KernelParameter, text: str) -> dict[str, Any]:
    """Return an argument of the launch: a number, or a buffer with its size and contents."""
    if not parameter.is_pointer:
        return {"value": _number(parameter, text, text)}
    count, colon, contents = text.partition(":")
    declared: dict[str, Any] = {"count": _number(parameter, count, text)}
    if not colon:
        return declared
    if contents in FILLS:
        return {**declared, "fill": contents}
    return {**declared, "values": [_number(parameter, part, text) for part in contents.split(",")]}


def _number(parameter: KernelParameter, part: str, text: str) -> int | float:
    part = part.strip()
    try:
        return int(part) if _INTEGER.fullmatch(part) else float(part)
    except ValueError:
        allowed = f"COUNT, COUNT:FILL with {', '.join(FILLS)}, or COUNT:NUMBER,NUMBER,…"
        raise UsageError(
            f"--arg is {parameter.name}={text!r}; {part!r} is not a number.",
            hint=f"For a pointer, write {allowed}." if parameter.is_pointer else "Write a number.",
        ) from None


def _sizes(option: str, text: str) -> list[int]:
    if not _SIZES.fullmatch(text.strip()):
        raise UsageError(
            f"{option} is {text!r}; allowed: one to three sizes.", hint=f"Write {option} 4, or {option} 4x2."
        )
    return [int(size) for size in text.strip().split("x")]


def _parameters_hint(parameters: Sequence[KernelParameter]) -> str:
    """Return options that would work, one per parameter, such as `--arg x=COUNT (const float*)`."""
    if not parameters:
        return "It has no parameters."
    shown = []
    for parameter in parameters:
        const, star = ("const " if parameter.is_const else ""), ("*" if parameter.is_pointer else "")
        value = "COUNT[:FILL]" if parameter.is_pointer else "NUMBER"
        shown.append(f"--arg {parameter.name}={value} ({const}{parameter.c_type}{star})")
    return f"Its parameters: {', '.join(shown)}."
