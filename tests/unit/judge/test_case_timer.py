"""Timing with windows: a scripted guest stands for the process, and its times are known."""

from __future__ import annotations

import random
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING
from unittest.mock import Mock

import pytest

from warmfront.events import Timing, Window
from warmfront.judge import case_timer, timed_inputs
from warmfront.judge.case_timer import CaseTimer
from warmfront.judge.kernel_failure import KernelFailure
from warmfront.judge.machine_speed import MachineSpeed

if TYPE_CHECKING:
    from collections.abc import Callable

CALL_MS = 0.5
OVERHEAD_MS = 0.05


class ScriptedGuest:
    """A guest whose windows take, and wait for the CPU, as long as a script specifies."""

    def __init__(
        self,
        time_ms: Callable[[int], float],
        waited_ms: Callable[[int], float],
        launches: Callable[[int], int],
    ) -> None:
        self._time_ms = time_ms
        self._waited_ms = waited_ms
        self._launches = launches
        self.protected = 0  #: number of protected windows
        self.case_name = ""
        self.is_frozen = False

    def plan(self, _layout: object, _memory: object) -> None:
        """Do nothing; the guest must run to answer."""
        assert not self.is_frozen

    def prioritized(self) -> AbstractContextManager[None]:
        """Do nothing."""
        return nullcontext()

    def pin(self, _cpus: set[int]) -> bool:
        """Do nothing; return that pinning to any CPU works."""
        return True

    def freeze(self) -> None:
        """Stop the guest."""
        self.is_frozen = True

    def thaw(self) -> None:
        """Resume the guest."""
        self.is_frozen = False

    def window(self, calls: int, _memory: object, *, protect: bool, by_cpu_time: bool) -> tuple[Window, Mock]:
        """Return the scripted window; the claimed times are absurd."""
        assert self.is_frozen
        assert by_cpu_time
        self.protected += protect
        # A protected window comes at a random time; it is not part of the script.
        ms, waited_ms = (0.0, 0.0) if protect else (self._time_ms(calls), self._waited_ms(calls))
        window = Window(calls=calls, time_ms=ms, wall_ms=ms + waited_ms, cpu_ms=ms, waited_ms=waited_ms)
        return window, Mock(times_ms=(1e-9,) * calls, launches=self._launches(calls))


@pytest.fixture(name="measure")
def _measure(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Timing]:
    """Return a function that times a case with a scripted guest."""
    monkeypatch.setattr(
        case_timer, "BufferLayout", lambda *_, slots, **__: Mock(slot_stride=1 << 20, slots=slots)
    )
    monkeypatch.setattr(timed_inputs, "check_call", Mock())

    def measure(
        time_ms: Callable[[int], float] = lambda calls: OVERHEAD_MS + calls * CALL_MS,
        waited_ms: Callable[[int], float] = lambda _: 0.0,
        launches: Callable[[int], int] = lambda calls: calls,
        speed: MachineSpeed | None = None,
    ) -> Timing:
        guest = ScriptedGuest(time_ms, waited_ms, launches)
        problem = Mock(flops=Mock(return_value=0), bytes_moved=Mock(return_value=0))
        timer = CaseTimer(
            request=Mock(problem=problem),
            toolchain=Mock(simulated=True, elapsed_s=lambda: 0.0),
            guest=guest,  # type: ignore[arg-type]  # a double
            memory=Mock(missing_guarantees=()),
            prefetch=Mock(),
            budget_s=0.2,
            overhead_ms=OVERHEAD_MS,
            machine_speed=speed,
        )
        timing = timer.time(1)
        assert guest.protected == 1
        return timing

    return measure


def test_timed_calls_without_a_kernel_fail(measure: Callable[..., Timing]) -> None:
    """A guest that launches fewer kernels than it had calls computed on the host."""
    with pytest.raises(KernelFailure) as failure:
        measure(launches=lambda calls: calls - 1)
    assert failure.value.event.code == "NO_KERNEL_LAUNCHED"


def test_constant_costs_cancel(measure: Callable[..., Timing]) -> None:
    """The time of a call is the slope, whatever the guest claims."""
    timing = measure()
    assert timing.runtime_ms == pytest.approx(CALL_MS, rel=1e-3)
    assert timing.self_reported_ms == pytest.approx(1e-9)
    assert not timing.noisy


def test_an_interval_is_never_empty_and_contains_the_time(measure: Callable[..., Timing]) -> None:
    """Windows that are all equal do not make a time certain."""
    timing = measure()
    assert timing.ci[0] < timing.runtime_ms < timing.ci[1]
    assert timing.ci[1] - timing.ci[0] <= 0.02 * timing.runtime_ms


def test_a_slow_small_window_does_not_shorten_the_time(measure: Callable[..., Timing]) -> None:
    """A guest that wastes time in small windows, so that the slope is 0, gains nothing."""
    largest = OVERHEAD_MS + 8 * CALL_MS
    timing = measure(lambda calls: largest if calls > 1 else OVERHEAD_MS + CALL_MS)
    assert timing.runtime_ms >= 0.9 * CALL_MS


def test_disturbed_windows_are_discarded_and_counted(measure: Callable[..., Timing]) -> None:
    """Windows in which the guest waited do not count while there are enough others."""
    state = {"windows": 0}

    def waited_ms(_calls: int) -> float:
        state["windows"] += 1
        return 5.0 if state["windows"] % 8 == 0 else 0.0

    timing = measure(waited_ms=waited_ms)
    assert timing.discarded_windows > 0
    assert f"{timing.discarded_windows} had to wait for a CPU" in timing.note
    assert "full speed" not in timing.note
    assert not timing.noisy
    assert timing.runtime_ms == pytest.approx(CALL_MS, rel=1e-3)


def test_a_busy_machine_widens_the_interval(measure: Callable[..., Timing]) -> None:
    """If every window was disturbed, all are used, and the interval is wider."""
    quiet, busy = measure(), measure(waited_ms=lambda calls: 10.0 * calls)
    assert busy.runtime_ms == pytest.approx(CALL_MS, rel=1e-3)
    assert busy.ci[1] - busy.ci[0] > 2 * (quiet.ci[1] - quiet.ci[0])


def test_scattered_windows_are_noisy(measure: Callable[..., Timing]) -> None:
    """Times that differ threefold are marked, and the interval contains all of them."""
    scatter = random.Random(3)  # noqa: S311 - not for security

    def time_ms(calls: int) -> float:
        return OVERHEAD_MS + calls * CALL_MS * scatter.choice((1.0, 2.0, 3.0))

    timing = measure(time_ms, lambda calls: 10.0 * calls)
    assert timing.noisy
    assert timing.ci[0] <= min(timing.runs) < max(timing.runs) <= timing.ci[1]


class ScriptedSpeed(MachineSpeed):
    """A machine that is slowed during some windows."""

    def __init__(self, is_slowed: Callable[[], bool], slow_ms: float = 0.06) -> None:
        super().__init__()
        self._known_ms = 0.04
        self._is_slowed = is_slowed
        self._slow_ms = slow_ms

    def measure(self) -> float:
        """Return 0.04 ms, or the slow time."""
        return self._slow_ms if self._is_slowed() else 0.04


def test_windows_on_a_slowed_cpu_are_discarded(measure: Callable[..., Timing]) -> None:
    """Half of the windows take 1.5 times as long, because the CPU itself was slower."""
    state = {"windows": 0}

    def is_slowed() -> bool:
        return state["windows"] // 4 % 2 == 1

    def time_ms(calls: int) -> float:
        slowed = is_slowed()
        state["windows"] += 1
        return OVERHEAD_MS + calls * CALL_MS * (1.5 if slowed else 1.0)

    timing = measure(time_ms, speed=ScriptedSpeed(is_slowed))
    assert timing.discarded_windows > 0
    assert f"{timing.discarded_windows} ran on a CPU below its full speed" in timing.note
    assert "wait" not in timing.note
    assert not timing.noisy
    assert timing.runtime_ms == pytest.approx(CALL_MS, rel=1e-3)


def test_time_is_scaled_to_the_full_speed_of_the_cpu(measure: Callable[..., Timing]) -> None:
    """A clock frequency that is 10% lower for the whole measurement changes the interval, not the time."""
    quick = measure(speed=ScriptedSpeed(lambda: False))
    slowed = measure(
        lambda calls: OVERHEAD_MS + calls * 1.1 * CALL_MS, speed=ScriptedSpeed(lambda: True, slow_ms=0.044)
    )
    assert slowed.runtime_ms == pytest.approx(CALL_MS, rel=2e-3)
    assert slowed.discarded_windows == 0
    assert slowed.ci[1] - slowed.ci[0] > quick.ci[1] - quick.ci[0]
    assert "10% slower" in slowed.note


def test_few_fast_windows_gain_little(measure: Callable[..., Timing]) -> None:
    """Code that is fast in a third of its windows gets nearly the time of the others."""
    state = {"windows": 0}

    def time_ms(calls: int) -> float:
        state["windows"] += 1
        return OVERHEAD_MS + calls * CALL_MS * (0.5 if state["windows"] % 6 < 2 else 1.0)

    timing = measure(time_ms)
    assert timing.runtime_ms >= 0.97 * CALL_MS


def test_interval_on_a_slowed_machine_includes_full_speed(measure: Callable[..., Timing]) -> None:
    """If no window was at full speed, the result is noisy, and its interval includes full speed."""
    timing = measure(lambda calls: OVERHEAD_MS + calls * 1.5 * CALL_MS, speed=ScriptedSpeed(lambda: True))
    assert timing.noisy
    assert timing.ci[0] <= CALL_MS <= timing.ci[1]
    assert "50% slower" in timing.note
