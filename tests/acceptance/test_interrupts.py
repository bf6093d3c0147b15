"""Ctrl-C while a command is still loading."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parent.parent.parent / "examples" / "leaky_relu.hip"

#: The signal arrives before the command itself has started.
INTERRUPTED = """
import os, signal
from warmfront.cli import interrupts, main
signal.signal(signal.SIGINT, signal.default_int_handler)
interrupts.hold()
os.kill(os.getpid(), signal.SIGINT)
main()
"""


@pytest.mark.parametrize("arguments", [[], ["--json"]], ids=["shown", "json"])
def test_an_early_interrupt_gives_a_verdict(arguments: list[str]) -> None:
    """The last event is CANCELLED, with its exit code, and there is no traceback."""
    command = ["run", str(EXAMPLE), "--problem", "leaky-relu", *arguments]
    run = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, *command],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert (run.returncode, run.stderr) == (3, "")
    if arguments:
        assert json.loads(run.stdout.splitlines()[-1])["status"] == "CANCELLED"
    else:
        assert "Stopped by Ctrl-C." in run.stdout
