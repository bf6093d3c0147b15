"""The command line."""

from __future__ import annotations

import sys


def main() -> None:
    """The `warmfront` command."""
    from warmfront.cli import quick  # noqa: PLC0415 - `import warmfront.cli` stays free

    if (parameters := quick.parse(sys.argv[1:])) is not None:
        from warmfront.cli.run import Request, run_request  # noqa: PLC0415 - the command that must be quick

        as_json = parameters.pop("as_json")
        sys.exit(run_request(Request(**parameters), as_json=as_json))
    from warmfront.cli.app import app  # noqa: PLC0415 - everything else is Typer's

    app()
