"""The X-ray of a local run: in parallel with the check, first in the events, done before timing."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, cast

from warmfront import gpus, problems, settings
from warmfront.cli import parallel_xray
from warmfront.events import Benchmarking, Checked, Checking, Compiling, Event, Failed, Xray
from warmfront.judge_request import JudgeRequest
from warmfront.verdicts import Endpoint, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pytest

    from warmfront.gpus import Gpu
    from warmfront.sandbox.base import Sandbox

#: Only reached if the code under test deadlocks.
DEADLOCK_TIMEOUT_S = 600.0

CHECKED = Checked(test_results=(), passed_tests=0, total_tests=0, simulated=True)


class FakeJudge:
    """A judge, and an X-ray that finishes only after the check."""

    def __init__(self, *, compiles: bool = True) -> None:
        self.check_ended = threading.Event()
        self.xray_ended = threading.Event()
        self.xray_ended_before_timing = False
        self.gpu: Gpu | None = None
        self._compiles = compiles

    def xray_event(self, *_: object, gpu: Gpu, **__: object) -> Xray:
        """Return an event when the check has ended."""
        self.gpu = gpu
        assert self.check_ended.wait(DEADLOCK_TIMEOUT_S), "the check waits for the X-ray"
        self.xray_ended.set()
        return Xray(
            arch="gfx942",
            gpu="MI300X",
            compiler="",
            compiles=self._compiles,
            kernels=[],
            findings=[],
            message="no such builtin",
        )

    def judge(self, end: Event) -> Iterator[Event]:
        """Yield the events of a check that ends with `end`, and of the timing after it."""
        yield Compiling(compiler="g++", toolchain="cpu", sandbox="bubblewrap")
        yield Checking(total_tests=0, compile_s=0.0)
        self.check_ended.set()
        yield end
        self.xray_ended_before_timing = self.xray_ended.is_set()
        yield Benchmarking(total_tests=0)


def run_with_xray(
    fake: FakeJudge, end: Event, monkeypatch: pytest.MonkeyPatch, env: Mapping[str, str] | None = None
) -> list[Event]:
    """Return all events of a run."""
    monkeypatch.setattr(parallel_xray, "xray_event", fake.xray_event)
    relu = problems.get("relu")
    submission = JudgeRequest(source="", problem=relu, dtype=relu.dtypes[0], endpoint=Endpoint.SUBMIT)
    unused = (cast("Sandbox", None), settings.load(env or {}, env_file=None))
    return list(parallel_xray.with_xray(fake.judge(end), submission, *unused))


def test_the_xray_is_for_the_gpu_that_is_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    """With WARMFRONT_GPU, the judge has the builtins of that GPU, so the X-ray compiles for it too."""
    fake = FakeJudge()
    run_with_xray(fake, CHECKED, monkeypatch, {"WARMFRONT_GPU": "MI355X"})
    assert fake.gpu is gpus.get("MI355X")


def test_the_xray_is_the_first_event_even_if_it_ends_last(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check does not wait for the X-ray; its events are held back until after the X-ray."""
    events = run_with_xray(FakeJudge(), CHECKED, monkeypatch)
    assert [event.status for event in events if not isinstance(event, Failed)] == [
        "XRAY",
        "COMPILING",
        "CHECKING",
        "CHECKED",
        "BENCHMARKING",
    ]


def test_timing_starts_after_the_xray(monkeypatch: pytest.MonkeyPatch) -> None:
    """The X-ray has ended before the first timed call."""
    fake = FakeJudge()
    run_with_xray(fake, CHECKED, monkeypatch)
    assert fake.xray_ended_before_timing


def test_a_verdict_says_if_the_gpu_compiler_rejects_the_source(monkeypatch: pytest.MonkeyPatch) -> None:
    """A verdict that was reached before the X-ray ended has the X-ray's compile error."""
    events = run_with_xray(FakeJudge(compiles=False), CHECKED, monkeypatch)
    (verdict,) = [event for event in events if isinstance(event, Checked)]
    assert "does not compile for gfx942: no such builtin" in str(verdict.fields())


def test_a_failed_check_has_an_xray(monkeypatch: pytest.MonkeyPatch) -> None:
    """A submission that fails on the CPU has its X-ray and its verdict."""
    failed = Failed(verdict=Verdict.COMPILE_ERROR, code="COMPILE_ERROR", message="no")
    events = run_with_xray(FakeJudge(), failed, monkeypatch)
    assert isinstance(events[0], Xray)
    assert any(isinstance(event, Failed) and "target" in event.details for event in events)
