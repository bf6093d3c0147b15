"""Hints for users of the command line: they name commands, options and settings.

`warmfront.errors` explains the mechanism. An error that is not listed here keeps the hint it was raised with.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from warmfront import errors

if TYPE_CHECKING:
    from collections.abc import Mapping

_COMMAND = "warmfront"
_HINTS: Mapping[type[errors.WarmfrontError], str] = {
    errors.NoApiKey: "Create one with `warmfront keys create --user NAME --role operator`, or serve on "
    "127.0.0.1.",
    errors.UnknownProblem: "`warmfront problems list` lists the problems.",
    errors.SubmissionNotFound: "`warmfront ps -a` lists your submissions.",
    errors.VMNotFound: "`warmfront vms --all` lists the recent VMs.",
    errors.UnknownSigningKey: "Pass the public keys of the service that signed it: --key FILE, saved from "
    "its /api/amd/keys, or --server URL.",
    errors.NotAuthenticated: "Set WARMFRONT_API_KEY to your API key; an operator creates one with "
    "`warmfront keys create`.",
    errors.ServerUnreachable: "Start the service with `warmfront serve`, or set WARMFRONT_URL to its "
    "address.",
    errors.OnStandby: "Set WARMFRONT_URL to the active service, or to both addresses, separated by a comma.",
    errors.Superseded: "Start it again: with WARMFRONT_STANDBY=true, it waits until the other one ends.",
    errors.ToolchainFailed: "`warmfront doctor` lists the compilers of this machine; g++ 12 or later works.",
    errors.NoVM: "`warmfront vms --all` shows why VMs failed.",
}


def cli_hint(error: errors.WarmfrontError) -> str:
    """Return the hint of an error for users of the command line; empty if there is none."""
    return as_typed_here(errors.hint_for(error, _HINTS))


def as_typed_here(text: str) -> str:
    """Replace `warmfront …` in a text with the command as it was called, such as `.venv/bin/warmfront …`."""
    called = sys.argv[0]
    if (
        Path(called).name != _COMMAND
        or Path(shutil.which(_COMMAND) or "").resolve() == Path(called).resolve()
    ):
        return text
    return text.replace(f"`{_COMMAND} ", f"`{called} ").replace(f"→ {_COMMAND} ", f"→ {called} ")
