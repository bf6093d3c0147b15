"""How the command line says that something cannot be done: what, the next step, and the exit code."""

from __future__ import annotations

import sys

from warmfront.errors import InfrastructureError, WarmfrontError


def exit_code(error: WarmfrontError) -> int:
    """2 where the person can fix the call, 3 where the machine is to blame."""
    return 3 if isinstance(error, InfrastructureError) else 2


def report_error(error: WarmfrontError) -> int:
    """Print the error on stderr; the exit code that goes with it."""
    print(f"warmfront: {error.message}", file=sys.stderr)
    if error.hint:
        print(f"  → {error.hint}", file=sys.stderr)
    return exit_code(error)
