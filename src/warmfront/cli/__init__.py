"""The command line."""

from __future__ import annotations

import gc
import os
import sys
from typing import Any, NoReturn

#: Seconds that a thread which computes may keep one waiting that only starts or awaits other programs.
SWITCH_INTERVAL_S = 0.0005

#: Objects made before Python looks for cycles among them: a run is over before it would be worth while.
OBJECTS_BEFORE_SEARCH = 50_000


def main() -> None:
    """The `warmfront` command."""
    from warmfront.cli import fast_start  # noqa: PLC0415 - `import warmfront.cli` stays free

    understood = fast_start.parse(sys.argv[1:])
    if understood is not None:
        sys.setswitchinterval(SWITCH_INTERVAL_S)
        gc.set_threshold(OBJECTS_BEFORE_SEARCH)
        _leave(_quickly(*understood))
    from warmfront.cli.app import app  # noqa: PLC0415 - everything else is Typer's

    app()


def _quickly(command: str, parameters: dict[str, Any]) -> int:
    """One of the two commands that must start in a blink."""
    if command == "xray":
        from warmfront.cli.run_xray import print_xray  # noqa: PLC0415 - each loads what it needs

        return print_xray(parameters.pop("file"), **parameters)
    from warmfront.cli import interrupts  # noqa: PLC0415 - as above

    interrupts.hold()
    from warmfront.cli.run_local import Request, run_request  # noqa: PLC0415 - as above

    as_json = parameters.pop("as_json")
    return run_request(Request(**parameters), as_json=as_json)


def _leave(code: int) -> NoReturn:
    """End without taking every module apart first: everything is closed, and somebody waits."""
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        sys.exit(code)  # nobody reads it: Python's own end knows what to do
    os._exit(code)
