"""The command that `warmfront serve` suggests works in a new terminal."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

from warmfront.cli.run_service import submit_command

URL = "http://127.0.0.1:3000"


def test_the_command_runs_the_same_program_from_any_directory(tmp_path: Path) -> None:
    """It changes to the directory first, so that a relative path to the script and the example is found."""
    (tmp_path / "examples").mkdir()
    (tmp_path / "examples/softmax.hip").touch()
    script = tmp_path / ".venv/bin/warmfront"
    script.parent.mkdir(parents=True)
    script.write_text('#!/bin/sh\ntest -f "$2" && echo "$@"\n')
    script.chmod(0o755)
    command = submit_command(URL, Path(".venv/bin/warmfront"), tmp_path)
    assert command.endswith("&& .venv/bin/warmfront submit examples/softmax.hip --problem softmax")
    result = subprocess.run(["/bin/sh", "-c", command], cwd="/", capture_output=True, text=True, check=True)
    assert result.stdout == "submit examples/softmax.hip --problem softmax\n"


def test_another_address_is_set_for_the_command(tmp_path: Path) -> None:
    """A service that does not listen on the default address is named in the command."""
    command = submit_command("http://127.0.0.1:3001", Path("/usr/bin/warmfront"), tmp_path)
    assert "WARMFRONT_URL=http://127.0.0.1:3001 /usr/bin/warmfront submit" in command


def test_a_module_run_by_python_is_suggested_as_such(tmp_path: Path) -> None:
    """`python -m warmfront serve` has no script to name."""
    command = submit_command(URL, Path("src/warmfront/__main__.py"), tmp_path)
    assert f"{shlex.quote(sys.executable)} -m warmfront submit" in command
