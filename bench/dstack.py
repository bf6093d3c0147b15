"""Time of a warm submission in pool mode and in direct mode, and our share of a cold start.

Runs against the unmodified dstack server and the fake cloud, whose VMs boot in half a second, so that what
remains is dstack's time and ours. Takes about five minutes.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from tests.dstack.harness import open_stack
from tests.support.dstack_services import User, dstack_service, temporary_home

if TYPE_CHECKING:
    from tests.dstack.harness import Stack

#: A submission in direct mode takes most of a minute.
ROUNDS = {"pool": 9, "direct": 3}
GOAL = 20


def submit_s(user: User) -> float:
    """Return the time from submission to verdict."""
    start = time.perf_counter()
    last = user.submit_and_wait(endpoint="checker")[-1]
    assert last["status"] == "CHECKED", last
    return time.perf_counter() - start


def dstack_share_s(stack: Stack) -> float:
    """Return the time from submitting the first run to the start of its command, by dstack's events."""
    (run,) = [run for run in stack.client.runs.list(all=True) if run.name.startswith("wf-vm-")]
    events = stack.client.client.events.list(within_runs=[run._run.id], ascending=True)  # noqa: SLF001 - the id is not public
    (started,) = [event for event in events if event.message == "Job status changed PULLING -> RUNNING"]
    return float((started.recorded_at - run._run.submitted_at).total_seconds())  # noqa: SLF001 - not public


def measure(mode: str) -> tuple[float, list[float], float]:
    """Return the times of a cold and of warm submissions, and the share of dstack and the cloud."""
    with (
        temporary_home() as folder,
        tempfile.TemporaryDirectory() as data,
        open_stack(folder, scale=None) as stack,
        dstack_service(stack, Path(data), WARMFRONT_DSTACK_MODE=mode, AMD_VM_IDLE_TIMEOUT="20") as service,
    ):
        user = User(service, "bench")
        cold_s = submit_s(user)
        warm_s = [submit_s(user) for _ in range(ROUNDS[mode])]
        dstack_s = dstack_share_s(stack) if mode == "pool" else 0.0
        user.wait_until_all_vms_ended()
        return cold_s, warm_s, dstack_s


def main() -> None:
    """Measure both modes and print the results."""
    medians = {}
    for mode in ROUNDS:
        cold_s, warm_s, dstack_s = measure(mode)
        medians[mode] = statistics.median(warm_s)
        spread = f"{min(warm_s):.2f} to {max(warm_s):.2f}, n={len(warm_s)}"
        print(f"  {mode:6} warm, submit to verdict: {medians[mode]:6.2f} s ({spread}); cold {cold_s:.1f} s")
        if mode == "pool":
            judging_s = medians[mode]
            ours_s = max(0.0, cold_s - judging_s - dstack_s)
            print(f"  cold start: {dstack_s:.1f} s in dstack and the cloud, {ours_s:.1f} s in Warmfront")
            print(f"  ratio of Warmfront's share to theirs: {ours_s / dstack_s:.1%}")
    ratio = medians["direct"] / medians["pool"]
    print(f"  pool mode is {ratio:.0f} times faster than direct mode, warm (goal: {GOAL} or more)")


if __name__ == "__main__":
    main()
