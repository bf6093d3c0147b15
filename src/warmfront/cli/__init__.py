"""The command line."""

from __future__ import annotations

import sys
from typing import Any


def main() -> None:
    """The `warmfront` command."""
    from warmfront.cli import quick  # noqa: PLC0415 - `import warmfront.cli` stays free

    understood = quick.parse(sys.argv[1:])
    if understood is not None:
        sys.exit(_quickly(*understood))
    from warmfront.cli.app import app  # noqa: PLC0415 - everything else is Typer's

    app()


def _quickly(command: str, parameters: dict[str, Any]) -> int:
    """One of the two commands that must start in a blink."""
    if command == "xray":
        from warmfront.cli.xray import print_xray  # noqa: PLC0415 - each loads what it needs

        return print_xray(parameters.pop("file"), **parameters)
    from warmfront.cli.run import Request, run_request  # noqa: PLC0415 - as above

    as_json = parameters.pop("as_json")
    return run_request(Request(**parameters), as_json=as_json)
