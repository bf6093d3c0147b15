"""Ctrl-C while a command is still being loaded."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parent.parent.parent / "examples" / "leaky_relu.hip"

#: It comes before the first line of the command itself.
STOPPED = """
import os, signal
from warmfront.cli import interrupts, main
signal.signal(signal.SIGINT, signal.default_int_handler)
interrupts.hold()
os.kill(os.getpid(), signal.SIGINT)
main()
"""


@pytest.mark.parametrize("arguments", [[], ["--json"]], ids=["shown", "json"])
def test_a_run_that_is_stopped_at_once_ends_with_its_verdict(arguments: list[str]) -> None:
    """The last that is said is CANCELLED, with its exit code, and there is no traceback."""
    command = ["run", str(EXAMPLE), "--problem", "leaky-relu", *arguments]
    run = subprocess.run(
        [sys.executable, "-c", STOPPED, *command], capture_output=True, text=True, check=False, timeout=120
    )
    assert (run.returncode, run.stderr) == (3, "")
    if arguments:
        assert json.loads(run.stdout.splitlines()[-1])["status"] == "CANCELLED"
    else:
        assert "You stopped it." in run.stdout
