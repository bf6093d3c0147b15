"""How the command line says that something cannot be done: what, the next step, and the exit code."""

from __future__ import annotations

import json
import sys

from warmfront.cli.hints import cli_hint
from warmfront.errors import InfrastructureError, WarmfrontError


def exit_code(error: WarmfrontError) -> int:
    """2 where the person can fix the call, 3 where the machine is to blame."""
    return 3 if isinstance(error, InfrastructureError) else 2


def report_error(error: WarmfrontError) -> int:
    """Print the error on stderr; the exit code that goes with it."""
    print(f"warmfront: {error.message}", file=sys.stderr)
    if hint := cli_hint(error):
        print(f"  → {hint}", file=sys.stderr)
    return exit_code(error)


def report(error: WarmfrontError, *, as_json: bool) -> int:
    """The same to a person or a program, which reads stdout."""
    if not as_json:
        return report_error(error)
    print(json.dumps({"code": error.code, "message": error.message, "hint": cli_hint(error)}))
    return exit_code(error)
