"""A fleet of many VMs: a real service and a real dstack server, with light VMs, and crashes of the service.

Each step waits for reports of the service and the cloud; nothing depends on how long it takes.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.support.dstack_services import IMAGE, User
from tests.support.services import Service

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.dstack.harness import Stack
    from tests.support.request_counter import RequestCounter

#: Only a step that hangs takes this long: a hundred VMs on a busy machine take most of an hour.
_TIMEOUT_S = 4 * 3600.0
_POLL_S = 1.0
#: Long enough to hold an attempt until it is released.
_HELD_S = 1e6
_FLEET = "many-vms"
_ENDED = {"TERMINATED", "FAILED"}


@dataclass(frozen=True, kw_only=True)
class ProcessUsage:
    """The resources that a process and its children have used."""

    cpu_s: float
    memory_bytes: int


class LargeFleet:
    """A service whose VMs each hold a submission until all are warm."""

    def __init__(self, stack: Stack, counter: RequestCounter, data_dir: Path, *, vms: int) -> None:
        self.vms = vms
        self.submitted: list[str] = []
        self._stack = stack
        stack.apply_fleet(_FLEET, nodes=f"0..{vms}")
        self.service = Service(
            data_dir,
            HOME=str(stack.server.home),
            WARMFRONT_PROVIDER="dstack",
            DSTACK_SERVER_URL=counter.url,
            DSTACK_TOKEN=stack.server.token,
            DSTACK_PROJECT=stack.server.project,
            AMD_FLEET_NAME=_FLEET,
            AMD_FLEET_MAX_NODES=str(vms),
            AMD_VM_MAX_CONCURRENT=str(vms),
            AMD_GRANT_CREDITS_TOTAL="1000000",
            AMD_VM_IDLE_TIMEOUT="14400",
            WARMFRONT_PROVISION_TIMEOUT="14400",
            WARMFRONT_TASK_TIMEOUT="14400",
            WARMFRONT_LOST_AFTER="600",
            WARMFRONT_RATE_LIMIT="100000",
            WARMFRONT_WORKER_IMAGE=IMAGE,
            WARMFRONT_WORKER_TOOLCHAIN="cpu",
            WARMFRONT_BUG_FINDER="false",
            WARMFRONT_XRAY="false",  # the compiler would take most of the CPU time
        )
        self.service.start()
        self.user = User(self.service, "bench")

    def hold_attempts(self) -> None:
        """Keep attempts running until `finish_attempts`."""
        self._stack.cloud.switches.light_attempt_s = _HELD_S

    def finish_attempts(self) -> None:
        """End all attempts."""
        self._stack.cloud.switches.light_attempt_s = 0.05

    def boot_one(self) -> float:
        """Have the first VM judge a submission; return how long that took, which is mostly the boot."""
        start = time.monotonic()
        assert self.wait_for_verdicts(self.submit(1)) == ["CHECKED"]
        return time.monotonic() - start

    def learn_durations(self, boot_s: float) -> None:
        """Have an attempt take longer than a boot: the autoscaler then provides a VM per submission."""
        self.hold_attempts()
        ids = self.submit(1)
        self.wait_for_busy(1)
        time.sleep(1.5 * boot_s)
        self.finish_attempts()
        assert self.wait_for_verdicts(ids) == ["CHECKED"]

    def submit(self, number: int) -> list[str]:
        """Submit this many times, and return the ids."""
        with ThreadPoolExecutor(8) as threads:
            ids = list(threads.map(lambda _: self.user.submit(endpoint="checker"), range(number)))
        self.submitted += ids
        return ids

    def crash(self, **environment: str) -> None:
        """Kill the service and start it again, with these settings changed."""
        self.service.kill()
        self.service.environment.update(environment)
        self.service.start()

    def wait_for_busy(self, number: int) -> None:
        """Wait until this many VMs have an attempt."""
        self.wait(lambda: self.states()["BUSY"] >= number)

    def states(self) -> Counter[str]:
        """Return how many VMs are in each state."""
        return Counter(vm["state"] for vm in self.user.vms())

    def wait_for_verdicts(self, ids: list[str]) -> list[str]:
        """Wait until all of these submissions have a verdict, and return their last statuses."""
        return [list(self.user.follow(submission_id))[-1]["status"] for submission_id in ids]

    def wait_until_none_is_left(self) -> None:
        """Wait until every VM has ended, for us, for dstack and in the cloud."""
        self.wait(lambda: not [vm for vm in self.user.vms() if vm["state"] not in _ENDED])
        self.wait(lambda: not self._stack.cloud.droplets)
        assert all(entry.ended_at is not None for entry in self._stack.cloud.bill())

    def billed_vms(self) -> int:
        """Return how many VMs the cloud has ever had."""
        return len(self._stack.cloud.bill())

    def usage(self) -> ProcessUsage:
        """Return the CPU time and the memory of the service."""
        process = self.service._process
        assert process is not None
        return _usage(process.pid)

    def wait(self, condition: Callable[[], Any]) -> None:
        """Wait for a condition for which there is no event."""
        give_up_at = time.monotonic() + _TIMEOUT_S
        while not condition():
            assert time.monotonic() < give_up_at, self.states()
            time.sleep(_POLL_S)


def _usage(pid: int) -> ProcessUsage:
    """Return the usage of a process and all of its descendants; memory that they share is counted once."""
    folder = Path(f"/proc/{pid}")
    fields = (folder / "stat").read_text().rpartition(")")[2].split()
    cpu_s = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    lines = (folder / "smaps_rollup").read_text().splitlines()
    memory_kb = next(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    children = [
        _usage(int(child))
        for task in (folder / "task").iterdir()
        for child in (task / "children").read_text().split()
    ]
    return ProcessUsage(
        cpu_s=cpu_s + sum(child.cpu_s for child in children),
        memory_bytes=memory_kb * 1024 + sum(child.memory_bytes for child in children),
    )
