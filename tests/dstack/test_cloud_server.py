"""The real dstack server as tests handle it: killed and started again, and gone without a trace."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.dstack.harness import finished, job, logs, open_stack, running

if TYPE_CHECKING:
    from tests.dstack.harness import Stack

#: A real server takes its time.
pytestmark = pytest.mark.slow


def test_killed_in_mid_run(own_stack: Stack, tmp_path: Path) -> None:
    """A run goes on while no server is there, and the next server tells its end."""
    go_on = tmp_path / "go-on"
    own_stack.apply_fleet("killed")
    run = running(
        own_stack.submit("killed", "killed", f"while [ ! -e {go_on} ]; do sleep 0.1; done; echo survived")
    )
    own_stack.server.kill()
    go_on.touch()
    own_stack.server.start()
    assert finished(run).status.value == "done"
    assert (job(run).exit_status, logs(run)) == (0, "survived\r\n")
    assert len(own_stack.cloud.bill()) == 1


def test_nothing_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When a stack is closed with a task on it, no process of the server, its SSH or the task is left."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    with open_stack(tmp_path) as stack:
        stack.apply_fleet("left")
        running(stack.submit("left", "left", "setsid sleep 612345 & sleep 612345"))
        assert _processes("612345")
        assert _processes(str(tmp_path))
    assert not _processes("612345")
    assert not _processes(str(tmp_path))


def _processes(word: str) -> list[str]:
    """Command lines and environments that the word is in; of others than this process."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            line = (folder / "cmdline").read_bytes()
            text = line + (folder / "environ").read_bytes()
        except OSError:
            continue
        if word.encode() in text and int(folder.name) != os.getpid():
            found.append(line.decode(errors="replace"))
    return found
