"""The command line."""

from __future__ import annotations


def main() -> None:
    """The `warmfront` command."""
    from warmfront.cli.app import app  # noqa: PLC0415 - `import warmfront.cli` stays free of Typer

    app()
