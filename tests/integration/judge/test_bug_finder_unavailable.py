"""A bug finder that cannot work accuses nobody and stops nothing: the check goes on and says so."""

from __future__ import annotations

import shutil
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from tests.support import bug_corpus
from warmfront import sandbox, settings
from warmfront.hip.cpu.checked_build import CheckedBuild
from warmfront.hip.cpu.cpu_toolchain import CpuToolchain
from warmfront.hip.cpu.host_compiler import HostCompiler
from warmfront.hip.toolchain import shell_job
from warmfront.judge import Judge
from warmfront.judge.bug_finder import BugFinderRun
from warmfront.judge_request import JudgeRequest
from warmfront.verdicts import Endpoint

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from warmfront.sandbox.base import Template
    from warmfront.settings import Settings

    Check = Callable[[], dict[str, Any]]


@pytest.fixture(name="check")
def _check() -> Iterator[Check]:
    """Checks a correct kernel; the last event."""
    configured = settings.load({}, env_file=None)
    maker = sandbox.open_sandbox("bubblewrap", base=configured.box_dir)
    judge = Judge(CpuToolchain(configured.cache_dir), maker, configured)
    kernel = bug_corpus.read(bug_corpus.HERE / "correct/tree.hip")
    submission = JudgeRequest(
        source=kernel.source, problem=kernel.problem, dtype=kernel.dtype, endpoint=Endpoint.CHECKER
    )

    def check() -> dict[str, Any]:
        return list(judge.judge(submission))[-1].fields()

    yield check
    maker.close()


def test_a_machine_that_cannot_build_it_is_told_once(tmp_path: Path) -> None:
    """The failure is kept in the cache, so that no later run tries again."""
    compiler = HostCompiler(name="g++", command=shutil.which("false") or "false", identity="false")
    assert "could not build" in (CheckedBuild(tmp_path, compiler).failure or "")
    again = CheckedBuild(tmp_path, compiler)
    assert again.is_built
    assert again.failure


def test_a_check_without_it_says_so(check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it is not built, the verdict stands and names what is missing."""
    monkeypatch.setattr(CheckedBuild, "failure", "no such compiler")
    event = check()
    assert (event["status"], event["bug_finder"]) == ("CHECKED", "It could not be built on this machine.")


def test_a_source_that_only_it_cannot_compile_is_no_error(
    check: Check, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A compiler that refuses the checked build does not refuse the kernel."""
    template = CheckedBuild.compile_template

    def refusing(build: CheckedBuild, configured: Settings) -> Template:
        return replace(template(build, configured), argv=shell_job("exit 1"))

    monkeypatch.setattr(CheckedBuild, "compile_template", refusing)
    event = check()
    assert (event["status"], event["bug_finder"]) == (
        "CHECKED",
        "Its own build of this source did not compile.",
    )


def test_a_hunt_that_breaks_leaves_the_verdict_alone(
    check: Check, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A mistake of ours in the bug finder is logged, and costs the author nothing."""

    def broken(*_: object) -> None:
        raise RuntimeError("our own mistake")

    monkeypatch.setattr(BugFinderRun, "_ask_all", broken)
    event = check()
    assert event["status"] == "CHECKED"
    assert event["bug_finder"]
    assert "the bug finder failed" in caplog.text
