"""Compile jobs start early and in parallel, and none outlives its owner."""

from __future__ import annotations

import subprocess
import sys
import threading
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from warmfront import settings
from warmfront.errors import SandboxFailed
from warmfront.hip.source.edits import RewriteError
from warmfront.hip.toolchain import SOURCE_FILE, Toolchain, TranslatedSource
from warmfront.judge.compile_jobs import CompileJobs

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from warmfront.sandbox.base import Sandbox

SOURCE = TranslatedSource(text="int x;\n")


class Box:
    """A fake box that records the calls of its methods."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.folder = folder
        self.sent = b""
        self.is_destroyed = False
        self.started = threading.Event()

    def start(self) -> None:
        """Record the call."""
        self.started.set()

    def go(self) -> None:
        """Do nothing."""

    def send(self, data: bytes) -> None:
        """Record the data."""
        self.sent += data

    def destroy(self) -> None:
        """Record the call."""
        self.is_destroyed = True


class Boxes:
    """A fake sandbox with one box per template; `refused` is a template that fails."""

    def __init__(self, folder: Path, *, refused: str = "") -> None:
        self.made: dict[str, Box] = {}
        self._folder = folder
        self._refused = refused

    def take(self, template: str) -> Box:
        """Return the box of this template."""
        if template == self._refused:
            raise SandboxFailed("no box")
        if template not in self.made:
            self.made[template] = Box(self._folder / template)
        return self.made[template]


def start_jobs(
    boxes: Boxes, *, bug_finder: bool = True, translate: Callable[[], TranslatedSource] = lambda: SOURCE
) -> CompileJobs:
    """Start the compile jobs of SOURCE."""
    checked = SimpleNamespace(failure=None, compile_template=lambda _: "checked")
    toolchain = cast(
        "Toolchain", SimpleNamespace(checked_build=checked, compile_template=lambda _: "primary")
    )
    configured = settings.Settings(bug_finder=bug_finder)
    return CompileJobs(translate, toolchain, cast("Sandbox", boxes), configured, thorough=False)


def test_both_compilers_get_the_source(tmp_path: Path) -> None:
    """The primary build and the bug finder's build start in a box each, with the same source."""
    boxes = Boxes(tmp_path)
    jobs = start_jobs(boxes)
    jobs.primary.result()
    assert jobs.checked is not None
    jobs.checked.result()
    assert set(boxes.made) == {"primary", "checked"}
    assert {(box.folder / SOURCE_FILE).read_text() for box in boxes.made.values()} == {SOURCE.text}
    assert {box.sent for box in boxes.made.values()} == {b"go\n"}
    jobs.close()


def test_boxes_start_before_the_source_is_translated(tmp_path: Path) -> None:
    """Starting a box and translating the source take about as long, so they happen at the same time."""
    boxes = Boxes(tmp_path)

    def translate() -> TranslatedSource:
        for name in ("primary", "checked"):
            assert boxes.made[name].started.wait(60)
            assert not (boxes.made[name].folder / SOURCE_FILE).exists()
        return SOURCE

    boxes.take("primary")
    boxes.take("checked")
    jobs = start_jobs(boxes, translate=translate)
    jobs.primary.result()
    jobs.close()


def test_without_the_bug_finder_one_compiler_starts(tmp_path: Path) -> None:
    """WARMFRONT_BUG_FINDER=false skips the second build."""
    boxes = Boxes(tmp_path)
    jobs = start_jobs(boxes, bug_finder=False)
    jobs.close()
    assert jobs.checked is None
    assert set(boxes.made) <= {"primary"}


@pytest.mark.parametrize("refused", ["primary", "checked"])
def test_closing_destroys_every_box(tmp_path: Path, refused: str) -> None:
    """If one box could not be made, closing still destroys the other."""
    boxes = Boxes(tmp_path, refused=refused)
    jobs = start_jobs(boxes)
    assert jobs.checked is not None
    job = jobs.checked if refused == "primary" else jobs.primary
    job.result()
    jobs.close()
    (box,) = boxes.made.values()
    assert box.is_destroyed


def test_a_source_that_cannot_be_translated(tmp_path: Path) -> None:
    """The boxes that were started meanwhile are destroyed, and the error is the caller's."""
    boxes = Boxes(tmp_path)

    def refuse() -> TranslatedSource:
        raise RewriteError(1, 1, "no")

    with pytest.raises(RewriteError):
        start_jobs(boxes, translate=refuse)
    assert all(box.is_destroyed and not box.sent for box in boxes.made.values())


def test_starting_the_compilers_does_not_import_the_judge() -> None:
    """The modules that start the compilers import neither the judge, nor its events, nor NumPy."""
    code = (
        "import sys, warmfront.cli.run_local, warmfront.judge.compile_jobs, warmfront.hip.cpu.cpu_toolchain\n"
        "late = {'warmfront.judge.judge', 'warmfront.events', 'numpy', 'typer', 'rich', 'pydantic'}\n"
        "print(*late & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "\n"
