"""A bug finder that does not work reports no error and does not stop the check; the verdict says so."""

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
    """Return a function that checks a correct kernel and returns the last event."""
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


def test_a_failed_build_is_cached(tmp_path: Path) -> None:
    """The failure is stored in the cache, so that later runs do not try again."""
    compiler = HostCompiler(name="g++", command=shutil.which("false") or "false", identity="false")
    assert "could not build" in (CheckedBuild(tmp_path, compiler).failure or "")
    again = CheckedBuild(tmp_path, compiler)
    assert again.is_built
    assert again.failure


def test_a_check_without_the_bug_finder_says_so(check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the bug finder is not built, the verdict is the same and names what is missing."""
    monkeypatch.setattr(CheckedBuild, "failure", "no such compiler")
    event = check()
    assert (event["status"], event["bug_finder"]) == (
        "CHECKED",
        "The bug finder cannot be built on this machine.",
    )


def test_a_failed_checked_build_is_not_a_compile_error(check: Check, monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel whose checked build fails to compile can still pass."""
    template = CheckedBuild.compile_template

    def failing_template(build: CheckedBuild, configured: Settings) -> Template:
        return replace(template(build, configured), argv=shell_job("exit 1"))

    monkeypatch.setattr(CheckedBuild, "compile_template", failing_template)
    event = check()
    assert (event["status"], event["bug_finder"]) == (
        "CHECKED",
        "The bug finder's build of this source did not compile.",
    )


def test_a_crash_of_the_bug_finder_does_not_change_the_verdict(
    check: Check, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """An internal error of the bug finder is logged and does not affect the author."""

    def broken(*_: object) -> None:
        raise RuntimeError("internal error")

    monkeypatch.setattr(BugFinderRun, "_run_cases", broken)
    event = check()
    assert event["status"] == "CHECKED"
    assert event["bug_finder"]
    assert "the bug finder failed" in caplog.text
