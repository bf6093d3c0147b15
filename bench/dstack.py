"""Time of a warm submission in pool mode and in direct mode, and our share of a cold start.

The benchmark uses the unmodified dstack server and the fake cloud, whose VMs boot in half a second, so nearly
all of the time is dstack's and ours. It takes about five minutes; `--pool` leaves out direct mode.

dstack's time consists of its polling intervals, which do not depend on the load of the machine. Our time is
work, which does. Our share is therefore computed from figures that the load does not change: the CPU seconds
of the service and of the listener while the submission waits for them, and the pauses between polls. The
wall-clock time is printed beside it.
"""

from __future__ import annotations

import argparse
import compileall
import os
import shutil
import statistics
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.dstack.harness import open_stack
from tests.support.dstack_services import User, dstack_service, temporary_home
from tests.support.fake_cloud import Switches
from warmfront import settings
from warmfront.hip.toolchain import open_toolchain
from warmfront.orchestrator import vm_monitor
from warmfront.providers.dstack import listener_bundle, pool_mode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.dstack.harness import Stack
    from tests.support.services import Service

#: A submission in direct mode takes most of a minute.
ROUNDS = {"pool": 9, "direct": 3}
GOAL = 20
MAX_SHARE = 0.02
#: Where the stages of a cold start end.
QUEUED, STARTING, TUNNEL, READY, VERDICT = "queued", "starting", "ready", "VM_READY", "CHECKED"
#: A word in the listener's command line.
_LISTENER = listener_bundle.FOLDER.encode()
_TICK_S = 1 / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, kw_only=True)
class Reading:
    """The clock and the CPU seconds used so far, at one event of a submission."""

    at: float
    service_s: float
    vm_s: float  #: the listener and what it started

    @property
    def work_s(self) -> float:
        """The CPU seconds of both."""
        return self.service_s + self.vm_s


@dataclass(frozen=True, kw_only=True)
class SubmissionTrace:
    """The readings of one submission by event, from its request to its verdict."""

    readings: dict[str, Reading]

    @property
    def wall_s(self) -> float:
        """The time from the request to the verdict."""
        return self.readings[VERDICT].at - self.readings[""].at

    def between(self, first: str, last: str) -> Reading:
        """Return the differences between two events."""
        begin, end = self.readings[first], self.readings[last]
        return Reading(
            at=end.at - begin.at,
            service_s=end.service_s - begin.service_s,
            vm_s=end.vm_s - begin.vm_s,
        )


def process_tree(root: int) -> Iterator[int]:
    """Yield a process and its descendants."""
    yield root
    try:
        tasks = list(Path(f"/proc/{root}/task").iterdir())
        children = [int(pid) for task in tasks for pid in (task / "children").read_text().split()]
    except OSError:  # it has ended
        return
    for child in children:
        yield from process_tree(child)


def cpu_s(root: int) -> float:
    """Return the CPU seconds of a process and its descendants, with those that it has waited for."""
    total = 0
    for pid in process_tree(root):
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        total += sum(map(int, fields[11:15]))
    return total * _TICK_S


def listener_cpu_s() -> float:
    """Return the CPU seconds of the listeners on VMs, which are descendants of this process."""
    listeners = []
    for pid in process_tree(os.getpid()):
        try:
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if _LISTENER in words[:3]:
            listeners.append(pid)
    return sum(cpu_s(pid) for pid in listeners)


def trace_submission(user: User, service: Service) -> SubmissionTrace:
    """Submit a kernel to the checker, and read the clock and the CPU seconds at each event."""

    def read() -> Reading:
        return Reading(at=time.time(), service_s=cpu_s(service.pid), vm_s=listener_cpu_s())

    readings = {"": read()}
    last: dict[str, Any] = {}
    for last in user.follow(user.submit(endpoint="checker")):
        readings.setdefault(last.get("phase") or last["status"], read())
    assert last["status"] == VERDICT, last
    return SubmissionTrace(readings=readings)


def dstack_interval(stack: Stack) -> tuple[float, float]:
    """Return when the first run was submitted and when its command started, by dstack's events."""
    (run,) = [run for run in stack.client.runs.list(all=True) if "-vm-" in run.name]
    events = stack.client.client.events.list(within_runs=[run._run.id], ascending=True)  # noqa: SLF001 - the id is not public
    (started,) = [event for event in events if event.message == "Job status changed PULLING -> RUNNING"]
    return run._run.submitted_at.timestamp(), started.recorded_at.timestamp()  # noqa: SLF001 - not public


def print_cold_start(cold: SubmissionTrace, warm: list[SubmissionTrace], stack: Stack) -> None:
    """Print where the time of a cold start is spent, and our share of it."""
    submitted_at, started_at = dstack_interval(stack)
    dstack_s = started_at - submitted_at
    xray = [trace.between("", READY) for trace in warm]
    judging = [trace.between(READY, VERDICT) for trace in warm]
    before, first = cold.between("", QUEUED), cold.between(READY, VERDICT)
    tunnel, answer = cold.between(STARTING, TUNNEL), cold.between(TUNNEL, READY)
    median = statistics.median
    prepare = (
        submitted_at - cold.readings[""].at - median(part.at for part in xray),
        before.service_s - median(part.service_s for part in xray),
    )
    judgment = (
        first.at - median(part.at for part in judging),
        first.work_s - median(part.work_s for part in judging),
    )
    #: In wall-clock time, and in CPU seconds and pauses.
    parts = {
        "before dstack has the task, beyond a warm X-ray": prepare,
        "until the start is noticed": (cold.readings[STARTING].at - started_at, pool_mode.FIRST_POLL_S / 2),
        "tunnel to the VM": (tunnel.at, tunnel.service_s),
        "start of the listener": (cold.readings[READY].at - started_at, cold.readings[READY].vm_s),
        "first answer of the listener": (answer.at, answer.service_s + vm_monitor.POLL_LISTENER_S / 2),
        "first judgment, beyond a warm one": judgment,
    }
    print(
        f"  cold start: {dstack_s:.1f} s in dstack and the cloud; ours, in wall-clock time and without load:"
    )
    for name, (wall_s, work_s) in parts.items():
        print(f"    {name:48} {wall_s:6.2f} s {work_s:6.2f} s")
    prepare_s, noticed_s, tunnel_s, listener_s, answer_s, judgment_s = (
        max(0.0, work_s) for _, work_s in parts.values()
    )
    # The listener starts at the same time as the tunnel, on another machine.
    ours_s = prepare_s + max(noticed_s + tunnel_s, listener_s) + answer_s + judgment_s
    wall_s = cold.wall_s - median(trace.wall_s for trace in warm) - dstack_s
    load = os.getloadavg()[0]
    print(f"  our share of wall-clock time, load {load:.0f}: {wall_s:.1f} s, {wall_s / dstack_s:.1%}")
    print(
        f"  our share without load: {ours_s:.2f} s, {ours_s / dstack_s:.1%} (goal: {MAX_SHARE:.0%} or less)"
    )


def build_image(folder: Path) -> Switches:
    """Return a cloud whose image has what `warmfront image build` puts there.

    That is the listener with its bytecode, and the toolchain: a VM builds nothing when it starts.
    """
    configured = settings.load({}, env_file=None)
    open_toolchain("cpu", configured).build()  # VMs of the fake cloud have the cache of this machine
    listener = shutil.copytree(listener_bundle.pack(folder / "cache"), folder / "image")
    assert compileall.compile_dir(listener, quiet=1)
    return Switches(image_environ={"WARMFRONT_LISTENER_DIR": str(listener)})


def measure(mode: str, *, scale: float | None = None) -> float:
    """Print the times of a cold and of warm submissions; return the median of the warm ones."""
    with (
        temporary_home() as folder,
        tempfile.TemporaryDirectory() as data,
        tempfile.TemporaryDirectory() as image,
        open_stack(folder, scale=scale, switches=build_image(Path(image))) as stack,
        dstack_service(stack, Path(data), WARMFRONT_DSTACK_MODE=mode, AMD_VM_IDLE_TIMEOUT="20") as service,
    ):
        user = User(service, "bench")
        cold = trace_submission(user, service)
        warm = [trace_submission(user, service) for _ in range(ROUNDS[mode])]
        warm_s = [trace.wall_s for trace in warm]
        spread = f"{min(warm_s):.2f} to {max(warm_s):.2f}, n={len(warm_s)}"
        median_s = statistics.median(warm_s)
        print(f"  {mode:6} warm, submit to verdict: {median_s:6.2f} s ({spread}); cold {cold.wall_s:.1f} s")
        if mode == "pool":
            print_cold_start(cold, warm, stack)
        user.wait_until_all_vms_ended()
        return median_s


def main() -> None:
    """Measure both modes and print the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pool", action="store_true", help="leave out direct mode")
    parser.add_argument("--scale", type=float, help="scale dstack's intervals, to try a change quickly")
    arguments = parser.parse_args()
    modes = ["pool"] if arguments.pool else [*ROUNDS]
    medians = {mode: measure(mode, scale=arguments.scale) for mode in modes}
    if not arguments.pool:
        ratio = medians["direct"] / medians["pool"]
        print(f"  pool mode is {ratio:.0f} times faster than direct mode, warm (goal: {GOAL} or more)")


if __name__ == "__main__":
    main()
