"""Print an error at the command line: the fact, the hint, and the exit code."""

from __future__ import annotations

import json
import sys

from warmfront.cli.hints import cli_hint
from warmfront.errors import InfrastructureError, WarmfrontError


def exit_code(error: WarmfrontError) -> int:
    """Return 3 for an infrastructure error, and 2 for an error that the user can fix."""
    return 3 if isinstance(error, InfrastructureError) else 2


def report_error(error: WarmfrontError) -> int:
    """Print the error on stderr and return its exit code."""
    print(f"warmfront: {error.message}", file=sys.stderr)
    if hint := cli_hint(error):
        print(f"  → {hint}", file=sys.stderr)
    return exit_code(error)


def report(error: WarmfrontError, *, as_json: bool) -> int:
    """Print the error, as JSON on stdout or as text on stderr, and return its exit code."""
    if not as_json:
        return report_error(error)
    print(json.dumps({"code": error.code, "message": error.message, "hint": cli_hint(error)}))
    return exit_code(error)
