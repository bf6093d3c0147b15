"""Compilers are begun early, side by side, and none outlives whoever began it."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from warmfront import settings
from warmfront.errors import SandboxFailed
from warmfront.hip.toolchain import SOURCE_FILE, Toolchain, TranslatedSource
from warmfront.judge.compile_jobs import CompileJobs

if TYPE_CHECKING:
    from pathlib import Path

    from warmfront.sandbox.base import Sandbox

SOURCE = TranslatedSource(text="int x;\n")


class Box:
    """A box that takes down what is done with it."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.folder = folder
        self.sent = b""
        self.is_destroyed = False

    def go(self) -> None:
        """Start nothing."""

    def send(self, data: bytes) -> None:
        """Keep it."""
        self.sent += data

    def destroy(self) -> None:
        """End nothing."""
        self.is_destroyed = True


class Boxes:
    """A sandbox of such boxes, by the name of their template; one may be refused."""

    def __init__(self, folder: Path, *, refused: str = "") -> None:
        self.made: dict[str, Box] = {}
        self._folder = folder
        self._refused = refused

    def take(self, template: str) -> Box:
        """A box of this template."""
        if template == self._refused:
            raise SandboxFailed("no room")
        return self.made.setdefault(template, Box(self._folder / template))


def begin(boxes: Boxes, *, bug_finder: bool = True) -> CompileJobs:
    """Both builds of SOURCE."""
    checked = SimpleNamespace(failure=None, compile_template=lambda _: "checked")
    toolchain = cast("Toolchain", SimpleNamespace(checked_build=checked, compile_template=lambda _: "judged"))
    configured = settings.Settings(bug_finder=bug_finder)
    return CompileJobs(SOURCE, toolchain, cast("Sandbox", boxes), configured, thorough=False)


def test_both_compilers_get_the_source_and_the_word_to_go(tmp_path: Path) -> None:
    """The build that decides and the bug finder's are begun alike, each in a box of its own."""
    boxes = Boxes(tmp_path)
    builds = begin(boxes)
    builds.primary.result()
    assert builds.checked is not None
    builds.checked.result()
    assert set(boxes.made) == {"judged", "checked"}
    assert {(box.folder / SOURCE_FILE).read_text() for box in boxes.made.values()} == {SOURCE.text}
    assert {box.sent for box in boxes.made.values()} == {b"go\n"}
    builds.close()


def test_without_the_bug_finder_one_compiler_is_begun(tmp_path: Path) -> None:
    """WARMFRONT_BUG_FINDER=false leaves the second build out."""
    boxes = Boxes(tmp_path)
    builds = begin(boxes, bug_finder=False)
    builds.close()
    assert builds.checked is None
    assert set(boxes.made) <= {"judged"}


@pytest.mark.parametrize("refused", ["judged", "checked"])
def test_closing_ends_what_was_begun(tmp_path: Path, refused: str) -> None:
    """A box that could not be had hides no other: closing destroys those that there are."""
    boxes = Boxes(tmp_path, refused=refused)
    builds = begin(boxes)
    assert builds.checked is not None
    begun = builds.checked if refused == "judged" else builds.primary
    begun.result()
    builds.close()
    (box,) = boxes.made.values()
    assert box.is_destroyed


def test_a_run_loads_no_judge_before_its_compilers_are_begun() -> None:
    """What begins the compilers brings neither the judge along, nor its events, nor NumPy."""
    code = (
        "import sys, warmfront.cli.run_local, warmfront.judge.compile_jobs, warmfront.hip.cpu.cpu_toolchain\n"
        "late = {'warmfront.judge.judge', 'warmfront.events', 'numpy', 'typer', 'rich', 'pydantic'}\n"
        "print(*late & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "\n"
