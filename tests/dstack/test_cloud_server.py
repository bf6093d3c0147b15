"""The dstack server for tests: killed, restarted, and removed completely."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.dstack.harness import finished, job, logs, open_stack, running

if TYPE_CHECKING:
    from tests.dstack.harness import Stack

#: The real dstack server is slow.
pytestmark = pytest.mark.slow


def test_killed_in_mid_run(own_stack: Stack, tmp_path: Path) -> None:
    """A run continues without a server, and the restarted server reports its end."""
    release_file = tmp_path / "release"
    own_stack.apply_fleet("killed")
    run = running(
        own_stack.submit(
            "killed", "killed", f"while [ ! -e {release_file} ]; do sleep 0.1; done; echo survived"
        )
    )
    own_stack.server.kill()
    release_file.touch()
    own_stack.server.start()
    assert finished(run).status.value == "done"
    assert (job(run).exit_status, logs(run)) == (0, "survived\r\n")
    assert len(own_stack.cloud.bill()) == 1


def test_no_process_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Closing a stack with a running task ends all processes of the server, its SSH and the task."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    with open_stack(tmp_path) as stack:
        stack.apply_fleet("left")
        running(stack.submit("left", "left", "setsid sleep 612345 & sleep 612345"))
        assert _processes("612345")
        assert _processes(str(tmp_path))
    assert not _processes("612345")
    assert not _processes(str(tmp_path))


def _processes(word: str) -> list[str]:
    """Return the command lines of other processes whose command line or environment has the word."""
    lines = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            line = (folder / "cmdline").read_bytes()
            text = line + (folder / "environ").read_bytes()
        except OSError:
            continue
        if word.encode() in text and int(folder.name) != os.getpid():
            lines.append(line.decode(errors="replace"))
    return lines
