"""A warm submission in pool mode over one in direct mode, and our share of a cold start.

Against the unmodified dstack server, one after the other on VMs of the same simulated cloud, which boots in
half a second: what is left is dstack's own time and ours. It takes about five minutes.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from tests.dstack.harness import open_stack
from tests.support.dstack_services import User, at_home, serving_dstack

if TYPE_CHECKING:
    from tests.dstack.harness import Stack

#: Direct ones take most of a minute each.
ROUNDS = {"pool": 9, "direct": 3}
GOAL = 20


def submit_s(user: User) -> float:
    """Submit to verdict."""
    start = time.perf_counter()
    last = user.judged(endpoint="checker")[-1]
    assert last["status"] == "CHECKED", last
    return time.perf_counter() - start


def without_us_s(stack: Stack) -> float:
    """From the submission of the first run to its command running, by dstack's own record."""
    (run,) = [run for run in stack.client.runs.list(all=True) if run.name.startswith("wf-vm-")]
    events = stack.client.client.events.list(within_runs=[run._run.id], ascending=True)  # noqa: SLF001 - its id
    (runs,) = [event for event in events if event.message == "Job status changed PULLING -> RUNNING"]
    return float((runs.recorded_at - run._run.submitted_at).total_seconds())  # noqa: SLF001 - as above


def measure(mode: str) -> tuple[float, list[float], float]:
    """A cold submission, some warm ones, and what of the cold one was dstack's and the cloud's."""
    with (
        at_home() as folder,
        tempfile.TemporaryDirectory() as data,
        open_stack(folder, scale=None) as stack,
        serving_dstack(stack, Path(data), WARMFRONT_DSTACK_MODE=mode, AMD_VM_IDLE_TIMEOUT="20") as service,
    ):
        user = User(service, "bench")
        cold_s = submit_s(user)
        warm_s = [submit_s(user) for _ in range(ROUNDS[mode])]
        theirs_s = without_us_s(stack) if mode == "pool" else 0.0
        user.wait_until_no_vm_is_alive()
        return cold_s, warm_s, theirs_s


def main() -> None:
    """Measure each."""
    medians = {}
    for mode in ROUNDS:
        cold_s, warm_s, theirs_s = measure(mode)
        medians[mode] = statistics.median(warm_s)
        spread = f"{min(warm_s):.2f} to {max(warm_s):.2f}, n={len(warm_s)}"
        print(f"  {mode:6} warm, submit to verdict: {medians[mode]:6.2f} s ({spread}); cold {cold_s:.1f} s")
        if mode == "pool":
            judging_s = medians[mode]
            ours_s = max(0.0, cold_s - judging_s - theirs_s)
            print(f"  cold start, dstack and the cloud: {theirs_s:.1f} s; ours: {ours_s:.1f} s,")
            print(f"  our share over theirs: {ours_s / theirs_s:.1%}")
    ratio = medians["direct"] / medians["pool"]
    print(f"  pool mode is {ratio:.0f} times faster than direct mode, warm (goal: {GOAL} or more)")


if __name__ == "__main__":
    main()
