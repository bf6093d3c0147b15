"""`warmfront run` without loading Typer: half of the time before the compiler starts would be Typer's.

It understands a plain, well-formed call and nothing else. Whatever it does not understand (help, a mistake,
another command) is Typer's, which says it better.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Option → the parameter of `app.run`. A test holds this against Typer's own.
VALUES = {
    "--problem": "problem",
    "-p": "problem",
    "--endpoint": "endpoint",
    "--dtype": "dtype",
    "--toolchain": "toolchain",
    "--sandbox": "sandbox",
    "--seed": "seed",
}
FLAGS = {"--json": "as_json", "--trust": "trust"}

DEFAULTS: dict[str, Any] = {
    "endpoint": "submit",
    "dtype": None,
    "toolchain": None,
    "sandbox": None,
    "seed": None,
    "as_json": False,
    "trust": False,
}


def parse(arguments: Sequence[str]) -> dict[str, Any] | None:
    """The parameters of `app.run`, or None where Typer should look at the call."""
    if arguments[:1] != ["run"]:
        return None
    found: dict[str, Any] = {}
    words = iter(arguments[1:])
    for word in words:
        option, has_value, value = word.partition("=")
        if option in VALUES and option.startswith("--"):
            found[VALUES[option]] = value if has_value else next(words, None)
        elif word in VALUES:
            found[VALUES[word]] = next(words, None)
        elif word in FLAGS:
            found[FLAGS[word]] = True
        elif word.startswith("-") or "file" in found:
            return None
        else:
            found["file"] = Path(word)
    if None in found.values() or not {"file", "problem"} <= found.keys():
        return None
    if "seed" in found:
        if not found["seed"].isdecimal():
            return None
        found["seed"] = int(found["seed"])
    return {**DEFAULTS, **found}
