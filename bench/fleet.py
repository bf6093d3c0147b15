"""A fleet of a hundred VMs: time until all are warm, cost per VM in the service, load on dstack's API.

The service uses the unmodified dstack server and the fake cloud, whose VMs are listeners without
processes. The service is killed three times: while VMs boot, while all of them judge, and before they end.
No submission may be lost, and no VM may be left behind. This takes about twenty minutes;
`python -m bench.fleet 10` is quicker, and `python -m bench.fleet 100 0.2` scales the intervals of the dstack
server to a fifth, so its times are not those of production.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.dstack.harness import open_stack
from tests.support.dstack_services import temporary_home
from tests.support.fake_cloud import Switches
from tests.support.large_fleet import LargeFleet, ProcessUsage
from tests.support.request_counter import RequestCounter

#: How long the load of warm VMs is measured.
STEADY_S = 60.0


def measure(fleet: LargeFleet, counter: RequestCounter) -> None:
    """Boot, serve, crash and end, and print the figures."""
    boot_s = fleet.boot_one()
    one_vm = _usage_with_one_vm(fleet)
    fleet.crash()  # its estimates would include the short attempts
    fleet.learn_durations(boot_s)
    fleet.hold_attempts()
    empty = fleet.usage()
    start, requests = time.perf_counter(), counter.requests
    held = fleet.submit(fleet.vms)
    fleet.wait(lambda: fleet.states().total() == fleet.vms)  # all are requested
    fleet.wait_for_busy(max(1, fleet.vms // 3))
    before_crash = fleet.usage()
    fleet.crash()  # while VMs boot
    fleet.wait_for_busy(fleet.vms)
    warm_s = time.perf_counter() - start
    boot_cpu_s = before_crash.cpu_s - empty.cpu_s + fleet.usage().cpu_s
    print(f"  {fleet.vms} warm VMs after {warm_s:.0f} s, with a crash in between")
    print(f"  requests to dstack per VM until then: {(counter.requests - requests) / fleet.vms:.1f}")
    print(f"  CPU time of the service until then: {boot_cpu_s / fleet.vms * 1000:.0f} ms per VM")
    fleet.crash()  # while all of them judge
    fleet.wait(lambda: fleet.states()["BUSY"] == fleet.vms)
    fleet.finish_attempts()
    verdicts = Counter(fleet.wait_for_verdicts(held))
    assert verdicts == {"CHECKED": fleet.vms}, verdicts
    _measure_steady_state(fleet, counter, one_vm)
    start = time.perf_counter()
    verdicts = Counter(fleet.wait_for_verdicts(fleet.submit(3 * fleet.vms)))
    assert verdicts == {"CHECKED": 3 * fleet.vms}, verdicts
    print(f"  {3 * fleet.vms} submissions on warm VMs in {time.perf_counter() - start:.1f} s")
    _end(fleet)


def _usage_with_one_vm(fleet: LargeFleet) -> ProcessUsage:
    """Return the usage of a new process of the service with one VM, which has judged once."""
    fleet.crash()
    assert fleet.wait_for_verdicts(fleet.submit(1)) == ["CHECKED"]
    return fleet.usage()


def _measure_steady_state(fleet: LargeFleet, counter: RequestCounter, one_vm: ProcessUsage) -> None:
    """Measure while VMs are warm. As for one VM, the process is new and each VM has judged once."""
    before, requests = fleet.usage(), counter.requests
    time.sleep(STEADY_S)
    after = fleet.usage()
    cpu_ms = (after.cpu_s - before.cpu_s) / STEADY_S * 60 * 1000 / fleet.vms
    per_vm = (before.memory_bytes - one_vm.memory_bytes) / max(1, fleet.vms - 1)
    print(
        f"  memory of the service: {before.memory_bytes / 1e6:.0f} MB; with one VM "
        f"{one_vm.memory_bytes / 1e6:.0f} MB: {per_vm / 1e3:.0f} kB per VM"
    )
    print(f"  CPU time of the service per warm VM: {cpu_ms:.0f} ms per minute")
    per_min = (counter.requests - requests) / STEADY_S * 60
    print(
        f"  requests to dstack's API with warm VMs: {per_min:.1f} per minute, {per_min / 60:.2f} per second"
    )


def _end(fleet: LargeFleet) -> None:
    """Crash once more, and end all VMs: each gets a submission and is idle for a second after it."""
    fleet.hold_attempts()
    held = fleet.submit(fleet.vms)
    fleet.wait_for_busy(fleet.vms)
    fleet.crash(AMD_VM_IDLE_TIMEOUT="1")
    fleet.finish_attempts()
    start = time.perf_counter()
    verdicts = Counter(fleet.wait_for_verdicts(held))
    assert verdicts == {"CHECKED": fleet.vms}, verdicts
    fleet.wait_until_none_is_left()
    assert fleet.billed_vms() == fleet.vms
    print(f"  all VMs ended after {time.perf_counter() - start:.0f} s")
    print(
        f"  three crashes: {len(fleet.submitted)} submissions, none lost; {fleet.vms} VMs, none left behind"
    )


def main() -> None:
    """Run the benchmark with the number of VMs that is given as an argument."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("vms", type=int, nargs="?", default=100, help="how many VMs; default: 100")
    parser.add_argument(
        "scale", type=float, nargs="?", help="a factor for the intervals of dstack; default: 1"
    )
    options = parser.parse_args()
    vms, scale = options.vms, options.scale
    print(
        f"{vms} VMs, intervals of dstack x{scale or 1:g}, "
        f"load {os.getloadavg()[0]:.0f} on {os.cpu_count()} CPUs"
    )
    switches = Switches(light_attempt_s=0.05, pull_s=1.0, boot_s=1.0)
    with (
        temporary_home() as folder,
        tempfile.TemporaryDirectory() as data,
        open_stack(folder, scale=scale, switches=switches) as stack,
        RequestCounter(stack.server.url) as counter,
    ):
        fleet = LargeFleet(stack, counter, Path(data), vms=vms)
        try:
            measure(fleet, counter)
        except BaseException:
            print("\n".join(fleet.service.lines[-40:]), file=sys.stderr)
            raise
        finally:
            fleet.service.stop()


if __name__ == "__main__":
    main()
