"""The speed of the machine: a fixed computation, the file between processes, and the choice of a CPU."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from warmfront.judge import machine_speed
from warmfront.judge.machine_speed import FULL_SPEED, FastCpu, MachineSpeed

if TYPE_CHECKING:
    from pathlib import Path

FAST_MS, SLOW_MS = 0.04, 0.07


class ScriptedSpeed(MachineSpeed):
    """Has a given speed on each CPU."""

    def __init__(self, ms_by_cpu: dict[int, float]) -> None:
        super().__init__()
        self._known_ms = FAST_MS
        self._ms_by_cpu = ms_by_cpu
        self.cpu = -1

    def measure(self) -> float:
        """Return the time on the current CPU."""
        return self._ms_by_cpu[self.cpu]


@pytest.fixture(name="pinned")
def _pinned(monkeypatch: pytest.MonkeyPatch) -> list[set[int]]:
    """Pretend that this thread has two CPUs, and record where it is pinned."""
    pinned: list[set[int]] = []
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {3, 5})
    monkeypatch.setattr(os, "sched_setaffinity", lambda _, cpus: pinned.append(cpus))
    return pinned


def test_measurement_is_cpu_time_of_real_work() -> None:
    """The computation takes time, and the lower quartile of the measurements is the typical speed."""
    speed = MachineSpeed()
    assert speed.fastest_ms is None
    measured = [speed.measure() for _ in range(20)]
    assert min(measured) > 0.001
    assert speed.fastest_ms == sorted(measured)[5]


def test_next_process_knows_the_fastest_time(tmp_path: Path) -> None:
    """A process that starts on a slowed machine knows that it is slow."""
    file = tmp_path / "machine-speed"
    first = MachineSpeed(file)
    first.measure()
    first.save()
    second = MachineSpeed(file)
    fastest_ms = first.fastest_ms
    assert fastest_ms is not None
    assert second.fastest_ms == pytest.approx(fastest_ms, abs=1e-6)
    assert second.is_full(fastest_ms * (1 + FULL_SPEED / 2))
    assert not second.is_full(fastest_ms * 1.5)


def test_slower_times_do_not_replace_a_faster_one(tmp_path: Path) -> None:
    """Many processes, each a little slower than the last, do not move the fastest time."""
    file = tmp_path / "machine-speed"
    for ms in (0.0400, 0.0402, 0.0404, 0.0399, 0.0401):
        speed = MachineSpeed(file)
        speed._measured_ms.append(ms)
        speed.save()
    assert MachineSpeed(file).fastest_ms == 0.0399


def test_slowed_process_does_not_renew_the_file(tmp_path: Path) -> None:
    """The file keeps its age if a process does not reach the stored time."""
    file = tmp_path / "machine-speed"
    file.write_text("1e-9")
    written = file.stat().st_mtime_ns
    speed = MachineSpeed(file)
    speed.measure()
    speed.save()
    assert (file.read_text(), file.stat().st_mtime_ns) == ("1e-9", written)


@pytest.mark.parametrize("content", ["", "fast", "-1", "nan"])
def test_unusable_file_is_ignored(tmp_path: Path, content: str) -> None:
    """A file that another program wrote is ignored."""
    file = tmp_path / "machine-speed"
    file.write_text(content)
    assert MachineSpeed(file).fastest_ms is None


def test_old_file_is_ignored(tmp_path: Path) -> None:
    """A machine may become slower permanently."""
    file = tmp_path / "machine-speed"
    file.write_text(str(FAST_MS))
    hours_ago = file.stat().st_mtime - 7200
    os.utime(file, (hours_ago, hours_ago))
    assert MachineSpeed(file).fastest_ms is None


def test_unwritable_cache_is_no_error(tmp_path: Path) -> None:
    """Without the file, only this process has the time."""
    file = tmp_path / "missing" / "machine-speed"
    speed = MachineSpeed(file)
    measured_ms = speed.measure()
    speed.save()
    assert speed.fastest_ms == measured_ms
    assert not file.exists()


def test_guest_moves_to_a_cpu_at_full_speed(pinned: list[set[int]]) -> None:
    """Guest and judge leave a slowed CPU together, and get all CPUs back at the end."""
    speed = ScriptedSpeed({3: SLOW_MS, 5: FAST_MS})

    def pin_guest(cpus: set[int]) -> bool:
        speed.cpu = min(cpus)
        return True

    with FastCpu(speed, pin_guest) as cpu:
        assert cpu.settle() == FAST_MS
        assert pinned == [{3}, {5}]
        assert cpu.fastest_ms == FAST_MS
    assert pinned[-1] == {3, 5}


def test_looking_for_a_fast_cpu_ends(pinned: list[set[int]]) -> None:
    """On a machine that is slow everywhere, the measurement continues, and reports it."""
    speed = ScriptedSpeed({3: SLOW_MS, 5: SLOW_MS})

    def pin_guest(cpus: set[int]) -> bool:
        speed.cpu = min(cpus)
        return True

    with FastCpu(speed, pin_guest) as cpu:
        assert cpu.settle() == SLOW_MS
    assert len(pinned) <= machine_speed._TRIES + 2


def test_speed_is_unknown_if_the_guest_cannot_be_pinned(pinned: list[set[int]]) -> None:
    """The processes of a container may be invisible here; then the speed of their CPU is unknown."""
    with FastCpu(ScriptedSpeed({}), lambda _: False) as cpu:
        assert cpu.settle() is None
        assert cpu.measure() is None
        assert cpu.fastest_ms is None
    assert pinned == []
