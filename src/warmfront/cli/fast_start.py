"""Start `warmfront run` and `warmfront xray` fast.

Start-up tricks are in this module and in `run_local`; `bench/startup.py` measures how much of `warmfront run`
each of them saves, and docs/architecture/startup.md has the figures. A trick that saves less than 1% is
removed.

This module has three tricks. First, the process exits without the interpreter's cleanup. Second, there is no
garbage collection while modules are loaded, which creates many objects and hardly any garbage. Third, there
is a simple argument parser, because loading Typer takes longer than loading everything that the compiler
needs. The parser handles only well-formed calls of the two commands. Typer handles help, errors and all other
commands, because its messages are better; a test compares the parser's options with Typer's.
"""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True, kw_only=True)
class CommandSyntax:
    """The options of one command."""

    values: Mapping[str, str]  #: parameter names by option, for options with a value
    flags: Mapping[str, str]  #: parameter names by option, for options without a value
    defaults: Mapping[str, Any]
    required: frozenset[str]


COMMANDS = {
    "run": CommandSyntax(
        values={
            "--problem": "problem",
            "-p": "problem",
            "--endpoint": "endpoint",
            "--dtype": "dtype",
            "--toolchain": "toolchain",
            "--sandbox": "sandbox",
            "--seed": "seed",
            "--receipt": "receipt",
        },
        flags={"--json": "as_json", "--trust": "trust"},
        defaults={
            "endpoint": "submit",
            "dtype": None,
            "toolchain": None,
            "sandbox": None,
            "seed": None,
            "as_json": False,
            "trust": False,
            "receipt": None,
        },
        required=frozenset({"file", "problem"}),
    ),
    "xray": CommandSyntax(
        values={"--problem": "problem", "-p": "problem", "--dtype": "dtype", "--arch": "arch"},
        flags={"--json": "as_json", "--isa": "isa"},
        defaults={"problem": None, "dtype": None, "arch": "gfx942", "as_json": False, "isa": False},
        required=frozenset({"file"}),
    ),
}


def main() -> None:
    """Run the `warmfront` command with the arguments of this process."""
    call = parse(sys.argv[1:])
    if call is None:
        from warmfront.cli.app import app

        app()
    else:
        gc.disable()
        _exit(_execute(*call))


def _exit(code: int) -> NoReturn:
    """End the process without the interpreter's cleanup of modules, because everything is already closed."""
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        sys.exit(code)  # the reader closed the pipe; the interpreter's own exit handles that
    os._exit(code)


def parse(arguments: Sequence[str]) -> tuple[str, dict[str, Any]] | None:
    """Return the command and its parameters, or None if Typer has to parse the call."""
    syntax = COMMANDS.get(arguments[0]) if arguments else None
    if syntax is None:
        return None
    parameters = _parse_options(arguments[1:], syntax)
    if parameters is None or None in parameters.values() or not syntax.required <= parameters.keys():
        return None
    if "seed" in parameters:
        if not parameters["seed"].isdecimal():
            return None
        parameters["seed"] = int(parameters["seed"])
    if "receipt" in parameters:
        parameters["receipt"] = Path(parameters["receipt"])
    return arguments[0], {**syntax.defaults, **parameters}


def _parse_options(words: Sequence[str], syntax: CommandSyntax) -> dict[str, Any] | None:
    parameters: dict[str, Any] = {}
    rest = iter(words)
    for word in rest:
        option, has_value, value = word.partition("=")
        if option in syntax.values and option.startswith("--"):
            parameters[syntax.values[option]] = value if has_value else next(rest, None)
        elif word in syntax.values:
            parameters[syntax.values[word]] = next(rest, None)
        elif word in syntax.flags:
            parameters[syntax.flags[word]] = True
        elif word.startswith("-") or "file" in parameters:
            return None
        else:
            parameters["file"] = Path(word)
    return parameters


def _execute(command: str, parameters: dict[str, Any]) -> int:
    """Execute the command and return its exit code."""
    if command == "xray":
        from warmfront.cli.run_xray import print_xray

        return print_xray(parameters.pop("file"), **parameters)
    from warmfront.cli import interrupts

    interrupts.hold()
    from warmfront.cli.run_local import RunOptions, run

    as_json = parameters.pop("as_json")
    return run(RunOptions(**parameters), as_json=as_json)
