"""`warmfront run` and `warmfront xray` without loading Typer, which would be half of their start.

It understands a plain, well-formed call and nothing else. Whatever it does not understand (help, a mistake,
another command) is Typer's, which says it better.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True, kw_only=True)
class Grammar:
    """The options of one command. A test holds them against Typer's own."""

    values: Mapping[str, str]  #: option → parameter
    flags: Mapping[str, str]
    defaults: Mapping[str, Any]
    required: frozenset[str]


GRAMMARS = {
    "run": Grammar(
        values={
            "--problem": "problem",
            "-p": "problem",
            "--endpoint": "endpoint",
            "--dtype": "dtype",
            "--toolchain": "toolchain",
            "--sandbox": "sandbox",
            "--seed": "seed",
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
        },
        required=frozenset({"file", "problem"}),
    ),
    "xray": Grammar(
        values={"--problem": "problem", "-p": "problem", "--dtype": "dtype", "--arch": "arch"},
        flags={"--json": "as_json", "--isa": "isa"},
        defaults={"problem": None, "dtype": None, "arch": "gfx942", "as_json": False, "isa": False},
        required=frozenset({"file"}),
    ),
}


def parse(arguments: Sequence[str]) -> tuple[str, dict[str, Any]] | None:
    """The command and its parameters, or None where Typer should look at the call."""
    grammar = GRAMMARS.get(arguments[0]) if arguments else None
    if grammar is None:
        return None
    found = _read(arguments[1:], grammar)
    if found is None or None in found.values() or not grammar.required <= found.keys():
        return None
    if "seed" in found:
        if not found["seed"].isdecimal():
            return None
        found["seed"] = int(found["seed"])
    return arguments[0], {**grammar.defaults, **found}


def _read(words: Sequence[str], grammar: Grammar) -> dict[str, Any] | None:
    found: dict[str, Any] = {}
    rest = iter(words)
    for word in rest:
        option, has_value, value = word.partition("=")
        if option in grammar.values and option.startswith("--"):
            found[grammar.values[option]] = value if has_value else next(rest, None)
        elif word in grammar.values:
            found[grammar.values[word]] = next(rest, None)
        elif word in grammar.flags:
            found[grammar.flags[word]] = True
        elif word.startswith("-") or "file" in found:
            return None
        else:
            found["file"] = Path(word)
    return found
