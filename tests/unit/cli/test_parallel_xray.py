"""The X-ray of a run: shown first, made beside the check, over before anything is timed."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, cast

from warmfront import gpus, problems, settings
from warmfront.cli import parallel_xray
from warmfront.events import Benchmarking, Checked, Checking, Compiling, Event, Failed, Xray
from warmfront.hip.xray import analysis
from warmfront.hip.xray.event import xray_event
from warmfront.judge_request import JudgeRequest
from warmfront.verdicts import Endpoint, Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pytest

    from warmfront.sandbox.base import Sandbox
    from warmfront.settings import Settings

PATIENCE_S = 30.0  # for what is there at once unless it is broken

CHECKED = Checked(test_results=(), passed_tests=0, total_tests=0, simulated=True)


class Scene:
    """A judge and an X-ray that meet at the end of the check."""

    def __init__(self, *, compiles: bool = True) -> None:
        self.is_checked = threading.Event()
        self.is_seen = threading.Event()
        self.was_seen_when_timed = False
        self._compiles = compiles

    def examine(self, *_: object, **__: object) -> Xray:
        """An X-ray that takes as long as the check."""
        assert self.is_checked.wait(PATIENCE_S), "the check waits for the X-ray"
        self.is_seen.set()
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
        """A check that ends so, and a timing after it."""
        yield Compiling(compiler="g++", toolchain="cpu", sandbox="bubblewrap")
        yield Checking(total_tests=0, compile_s=0.0)
        self.is_checked.set()
        yield end
        self.was_seen_when_timed = self.is_seen.is_set()
        yield Benchmarking(total_tests=0)


def admitted(scene: Scene, end: Event, monkeypatch: pytest.MonkeyPatch) -> list[Event]:
    """All events of a run."""
    monkeypatch.setattr(parallel_xray, "xray_event", scene.examine)
    relu = problems.get("relu")
    submission = JudgeRequest(source="", problem=relu, dtype=relu.dtypes[0], endpoint=Endpoint.SUBMIT)
    unused = (cast("Sandbox", None), settings.load({}, env_file=None))
    return list(parallel_xray.admitted(scene.judge(end), submission, *unused))


def test_the_check_does_not_wait_for_the_xray_which_is_shown_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """An X-ray that is done last is still the first event, and every other keeps its place."""
    events = admitted(Scene(), CHECKED, monkeypatch)
    assert [event.status for event in events if not isinstance(event, Failed)] == [
        "XRAY",
        "COMPILING",
        "CHECKING",
        "CHECKED",
        "BENCHMARKING",
    ]


def test_nothing_is_timed_beside_the_xray(monkeypatch: pytest.MonkeyPatch) -> None:
    """The X-ray is over before the first timed call."""
    scene = Scene()
    admitted(scene, CHECKED, monkeypatch)
    assert scene.was_seen_when_timed


def test_a_held_verdict_says_what_the_target_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """A verdict that was there before the X-ray tells of a target that refuses the source."""
    events = admitted(Scene(compiles=False), CHECKED, monkeypatch)
    (verdict,) = [event for event in events if isinstance(event, Checked)]
    assert "does not compile for gfx942: no such builtin" in str(verdict.fields())


def test_a_rejection_ends_the_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kernel that fails gets its X-ray and its verdict."""
    failed = Failed(verdict=Verdict.COMPILE_ERROR, code="COMPILE_ERROR", message="no")
    events = admitted(Scene(), failed, monkeypatch)
    assert isinstance(events[0], Xray)
    assert any(isinstance(event, Failed) and "target" in event.details for event in events)


def test_an_xray_that_fails_is_a_note(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever goes wrong in the X-ray, there is an event, and it says nothing of the source."""

    def fail(*_: object, **__: object) -> None:
        raise KeyError("NumVgprs")

    monkeypatch.setattr(analysis, "xray", fail)
    seen = xray_event(
        "",
        file_name="kernel.hip",
        gpu=gpus.MI300X,
        problem=None,
        dtype=None,
        sandbox=cast("Sandbox", None),
        settings=cast("Settings", None),
    )
    assert seen.compiles is None
    assert seen.notes == ["The X-ray failed: KeyError: 'NumVgprs'"]
