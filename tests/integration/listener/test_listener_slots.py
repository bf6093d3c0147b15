"""A listener with several slots: one process per slot, independent of the others."""

from __future__ import annotations

import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.listeners import SPINNING, Listening, listening, spin_until_it_runs
from warmfront.listener.slot_pool import MAX_RESTARTS

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(name="listener")
def _listener(tmp_path: Path) -> Iterator[Listening]:
    with listening(tmp_path, WARMFRONT_SLOTS="2") as running:
        yield running


def _health(listener: Listening) -> dict[str, Any]:
    health: dict[str, Any] = listener.http.get("/health").json()
    return health


def _slot_processes(listener: Listening) -> list[int]:
    """Return the processes of the slots, in the order of the slots."""
    children = Path(f"/proc/{listener.process.pid}/task").glob("*/children")
    pids = [int(pid) for path in children for pid in path.read_text().split()]
    return sorted(pid for pid in pids if b"--slot" in Path(f"/proc/{pid}/cmdline").read_bytes())


def _wait_for_slots(listener: Listening, count: int) -> None:
    """Wait until the listener reports this many working slots."""
    while _health(listener)["slots"] != count:
        time.sleep(0.05)


def test_one_slot_does_not_wait_for_another(listener: Listening) -> None:
    """While a kernel spins in one slot, another attempt gets its verdict; both can be cancelled and ended."""
    assert _health(listener)["slots"] == 2
    with listener.stream("spinning", source=SPINNING) as lines:
        spin_until_it_runs(lines)
        assert listener.execute("beside", endpoint="submit")[-1]["status"] == "ACCEPTED"
        assert _health(listener)["running"] == ["spinning"]
        assert listener.http.delete("/execute/spinning").status_code == 204
        assert list(lines)[-1]["status"] == "CANCELLED"
    assert listener.loaded_boxes() == []
    assert listener.execute("afterwards")[-1]["status"] == "CHECKED"


def test_a_slot_that_crashes_costs_its_own_attempt_only(listener: Listening) -> None:
    """Its attempt is returned to be sent again, and the slot is restarted."""
    with listener.stream("spinning", source=SPINNING) as lines:
        spin_until_it_runs(lines)
        os.kill(_slot_processes(listener)[0], signal.SIGKILL)
        verdict = list(lines)[-1]
        assert (verdict["status"], verdict["code"]) == ("ERROR", "SLOT_FAILED")
        assert "Slot 0 of the VM failed: its process ended with code -9." in verdict["message"]
    assert listener.execute("meanwhile")[-1]["status"] == "CHECKED"
    _wait_for_slots(listener, 2)
    assert listener.execute("afterwards")[-1]["status"] == "CHECKED"


def _wait_for_new_process(listener: Listening, known: set[int]) -> int:
    """Wait until a slot has a process that is not among the known ones; return it, and add it to them."""
    while not (new := set(_slot_processes(listener)) - known):
        time.sleep(0.01)
    known |= new
    return new.pop()


def test_a_slot_that_crashes_while_it_starts_again_gets_another_chance(listener: Listening) -> None:
    """A process that is killed before it is ready counts as one restart, not as the end of the slot."""
    known = set(_slot_processes(listener))
    os.kill(min(known), signal.SIGKILL)
    os.kill(_wait_for_new_process(listener, known), signal.SIGKILL)
    _wait_for_new_process(listener, known)
    _wait_for_slots(listener, 2)


def test_a_slot_that_crashes_again_and_again_is_given_up(listener: Listening) -> None:
    """The VM has one slot fewer; it fails when it has none."""
    known = set(_slot_processes(listener))
    os.kill(min(known), signal.SIGKILL)
    for _ in range(MAX_RESTARTS):
        new = _wait_for_new_process(listener, known)
        _wait_for_slots(listener, 2)
        os.kill(new, signal.SIGKILL)
    _wait_for_slots(listener, 1)
    assert (_health(listener)["failure"], len(_slot_processes(listener))) == ("", 1)
    assert listener.execute("beside")[-1]["status"] == "CHECKED"


def test_slots_end_with_their_listener(listener: Listening) -> None:
    """A listener that is killed leaves no slot process behind: the end of the channel ends them."""
    slots = _slot_processes(listener)
    assert len(slots) == 2
    handles = [os.pidfd_open(pid) for pid in slots]
    listener.process.kill()
    for handle in handles:
        signal_when_ended(handle)


@pytest.mark.slow
def test_eight_submissions_at_once_get_the_times_of_one_alone(tmp_path: Path) -> None:
    """Eight devices of a stub GPU are eight slots; no time differs by more than 5% from that of one alone."""
    # No control plane sends heartbeats here.
    options = ("--dead-man", "3600")
    # Calls are executed on the CPU: with long kernels, fewer calls fill the virtual time.
    with listening(
        tmp_path,
        *options,
        toolchain="stub",
        WARMFRONT_STUB_GPU="devices=8,kernel_us=5000",
        WARMFRONT_BENCH_BUDGET="0.02",
    ) as listener:
        health = _health(listener)
        assert (health["slots"], health["simulated"]) == (8, True)
        alone = listener.execute("alone", endpoint="submit")[-1]
        assert alone["status"] == "ACCEPTED", alone
        with ThreadPoolExecutor(8) as pool:
            ends = list(pool.map(lambda n: listener.execute(f"beside-{n}", endpoint="submit")[-1], range(8)))
        assert [end["status"] for end in ends] == ["ACCEPTED"] * 8, ends
        times = [end["avg_runtime_ms"] for end in ends]
        assert times == pytest.approx([alone["avg_runtime_ms"]] * 8, rel=0.05)


def signal_when_ended(handle: int) -> None:
    """Wait until the process has ended."""
    import select  # noqa: PLC0415 - only here

    select.select([handle], [], [])
    os.close(handle)
