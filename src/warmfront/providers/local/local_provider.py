"""The local provider: each VM is a listener process, reached through a UNIX socket.

The process outlives the service, like a leased machine, and its folder is used to find it again. It is free
of charge; in a rehearsal it has the boot time and the price of a cloud VM.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING

from warmfront.clock import SystemClock
from warmfront.errors import ProviderError
from warmfront.hip.toolchain import open_toolchain
from warmfront.money.billing import Billing
from warmfront.providers.base import Lease, Phase
from warmfront.providers.local import processes
from warmfront.providers.local.vm_folder import LocalVMRecord, VMFolder

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

    from warmfront.clock import Clock
    from warmfront.providers.ownership import ForeignVM
    from warmfront.settings import Settings

LISTENER = (sys.executable, "-P", "-m", "warmfront", "listener")
RELEASED = "released"

#: How long a listener may take to stop its attempts and remove their boxes before it is killed.
_GRACE_S = 5.0
#: Polling interval for the address of a listener that starts, which takes about a second.
_POLL_S = 0.02
#: Variables that a listener inherits. Others, such as the database password, are withheld.
_INHERITED = frozenset(
    {
        *("PATH", "HOME", "USER", "LANG", "LC_ALL", "TZ", "TMPDIR", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"),
        *("LD_LIBRARY_PATH", "ROCM_PATH", "HIP_PATH", "DOCKER_HOST", "PYTHONPATH", "VIRTUAL_ENV"),
        "WARMFRONT_PROBLEMS",
    }
)
_log = logging.getLogger(__name__)


class LocalProvider:
    """A provider of VMs on this machine."""

    name = "local"
    toolchain: str | None = None
    vms_outlive_service = False
    foreign_vms: Sequence[ForeignVM] = ()
    max_vms: int | None = None

    def __init__(
        self,
        settings: Settings,
        *,
        listener: Sequence[str] = LISTENER,
        clock: Clock | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self.simulated = open_toolchain(None, settings).simulated
        self._settings = settings
        self._vms = settings.data_dir / "vms"
        self._listener = listener
        self._now = (clock or SystemClock()).now
        self._sleep = sleep
        self._watchers: dict[str, asyncio.Task[None]] = {}
        self._ended: set[str] = set()  # VMs whose folders need not be read again

    def gpu_counts(self, gpu: str) -> tuple[int, ...]:  # noqa: ARG002 - all GPU types are alike
        """Return one, because a local VM uses this machine's resources."""
        return (1,)

    def billing(self, gpu: str, gpu_count: int = 1) -> Billing:  # noqa: ARG002 - always one
        """Return a price of zero; in a rehearsal, the cloud's price of this GPU type."""
        rate = self._settings.gpu_rate_usd_per_h(gpu) if self._settings.rehearse else Decimal(0)
        return Billing(rate_usd_per_h=rate)

    def typical_boot_s(self, gpu: str) -> float:  # noqa: ARG002 - all GPU types start alike
        """Return the start time of a process; in a rehearsal, the cloud's boot time."""
        return self._settings.rehearse_boot_s if self._settings.rehearse else 1.0

    def slots(self, gpu: str, gpu_count: int = 1) -> int:  # noqa: ARG002 - all GPU types are alike
        """Return WARMFRONT_SLOTS.

        One by default, because attempts on the same CPUs disturb each other's timing.
        """
        return self._settings.slots or 1

    async def check_ready(self, gpu: str) -> None:
        """Do nothing, because a local VM needs only this machine."""

    async def provision(
        self,
        vm_id: str,
        gpu: str,
        token: str,
        *,
        gpu_count: int = 1,  # noqa: ARG002 - always one
    ) -> AsyncIterator[Lease]:
        """Start a VM, or resume waiting for the VM with this id."""
        record = self._require_alive(vm_id) if self._current(vm_id) else self._create(vm_id, gpu)
        while record.is_waiting:
            yield record.lease()
            await self._sleep_until(record.changes_at)
            record = self._require_alive(vm_id)
        if record.process is None:
            record = self._start(record, token)
        if record.phase is Phase.STARTING:
            yield record.lease()
            address = await self._wait_for_address(vm_id)
            await self._sleep_until(record.changes_at)
            ready = replace(self._require_alive(vm_id), phase=Phase.READY, address=address)
            record = self._folder(vm_id).save(ready)
        yield record.lease()

    async def release(self, vm_id: str) -> Lease:
        """End all processes of the VM."""
        record = self._current(vm_id)
        if record is None:
            return Lease(
                vm_id=vm_id, phase=Phase.ENDED, ended_at=self._now(), detail="This VM never existed."
            )
        if record.has_ended:
            return record.lease()
        record = self._folder(vm_id).save(replace(record, detail=RELEASED))
        if record.process is not None:
            await processes.end(record.process, grace_s=_GRACE_S)
        return self._finish(vm_id, self._now()).lease()

    def end_command(self, machine_id: str | None) -> str:  # noqa: ARG002 - see below
        """Return an instruction for ending the process, because a local VM has no cloud."""
        return "end the process of its listener on the machine that runs the service"

    async def describe(self, vm_id: str) -> Lease | None:
        """Return the VM's current lease, or None."""
        record = self._current(vm_id)
        return record.lease() if record else None

    async def leases(self) -> list[Lease]:
        """Return the VMs that have not ended."""
        names = [path.name for path in self._vms.iterdir()] if self._vms.is_dir() else []
        records = [self._current(vm_id) for vm_id in sorted(names) if vm_id not in self._ended]
        return [record.lease() for record in records if record and not record.has_ended]

    async def close(self) -> None:
        """Stop watching the VMs, which keep running."""
        watchers = [*self._watchers.values()]
        for watcher in watchers:
            watcher.cancel()
        await asyncio.gather(*watchers, return_exceptions=True)

    def _create(self, vm_id: str, gpu: str) -> LocalVMRecord:
        now = self._now()
        boot_s = self._settings.rehearse_boot_s if self._settings.rehearse else 0.0
        record = LocalVMRecord(vm_id=vm_id, gpu=gpu, phase=Phase.QUEUED, asked_at=now, boot_s=boot_s)
        return self._folder(vm_id).save(record.at(now))

    def _start(self, record: LocalVMRecord, token: str) -> LocalVMRecord:
        folder = self._folder(record.vm_id)
        watchdog = f"{self._settings.watchdog_s:g}"
        process = processes.spawn(
            [
                *(*self._listener, "--uds", str(folder.socket)),
                *("--announce", str(folder.announcement), "--dead-man", watchdog),
            ],
            environ=self._environ(record.gpu, token),
            log=folder.log,
        )
        _log.info("VM %s started as process %d", record.vm_id, process.pid)
        self._watch(record.vm_id, process)
        return folder.save(replace(record, process=process))

    def _environ(self, gpu: str, token: str) -> dict[str, str]:
        """Return the listener's environment: inherited variables, the judge's settings, GPU and token."""
        inherited = {name: value for name, value in os.environ.items() if name in _INHERITED}
        own = {"WARMFRONT_GPU": gpu, "WARMFRONT_LISTENER_TOKEN": token}
        if self._settings.slots is not None:
            own["WARMFRONT_SLOTS"] = str(self._settings.slots)
        return {**inherited, **self._settings.judge_environ(), **own}

    async def _wait_for_address(self, vm_id: str) -> str:
        """Wait until the listener announces its address, and return it."""
        folder = self._folder(vm_id)
        try:
            async with asyncio.timeout(self._settings.provision_timeout_s):
                while (address := folder.address()) is None:
                    self._require_alive(vm_id)
                    await asyncio.sleep(_POLL_S)
        except TimeoutError:
            raise ProviderError(
                f"The listener of VM {vm_id} started, but did not announce its address."
            ) from None
        return address

    async def _sleep_until(self, moment: float) -> None:
        delay_s = moment - self._now()
        if delay_s > 0:
            await self._sleep(delay_s)

    def _require_alive(self, vm_id: str) -> LocalVMRecord:
        record = self._current(vm_id)
        if record is None:
            raise ProviderError(f"The folder of VM {vm_id} does not exist.")
        if record.has_ended:
            raise ProviderError(f"VM {vm_id} has ended: {record.detail}.")
        return record

    def _current(self, vm_id: str) -> LocalVMRecord | None:
        """Return the VM's record, updated to the current state of its boot and its process."""
        folder = self._folder(vm_id)
        stored = folder.load()
        if stored is None or stored.has_ended:
            return stored
        record = stored.at(self._now())
        if record.process is None and record.phase is Phase.STARTING:
            # The service may have been killed between starting the process and storing its pid.
            record = replace(record, process=processes.find(str(folder.announcement)))
        if record != stored:
            folder.save(record)
        if record.process is None:
            return record
        if not processes.is_alive(record.process):
            watched = vm_id in self._watchers
            return self._finish(vm_id, self._now() if watched else folder.last_alive_at())
        folder.note_alive(self._now())
        self._watch(vm_id, record.process)
        return record

    def _watch(self, vm_id: str, process: processes.Process) -> None:
        """Watch the process, so that the VM is billed until it ends, not until the next check."""
        if vm_id not in self._watchers:
            self._watchers[vm_id] = asyncio.create_task(self._finish_after(vm_id, process))

    async def _finish_after(self, vm_id: str, process: processes.Process) -> None:
        try:
            await processes.wait(process)
            self._finish(vm_id, self._now())
        finally:
            del self._watchers[vm_id]

    def _finish(self, vm_id: str, ended_at: float) -> LocalVMRecord:
        """Record the VM's end, unless it is already recorded."""
        folder = self._folder(vm_id)
        record = folder.load()
        if record is None:
            raise ProviderError(f"The folder of VM {vm_id} does not exist.")
        if record.has_ended:
            return record
        how = processes.reap(record.process) if record.process else ""
        detail = record.detail or f"its listener exited ({how}): {folder.last_log_line() or 'no output'}"
        if record.detail != RELEASED:
            _log.warning("VM %s ended: %s", vm_id, detail)
        self._ended.add(vm_id)
        folder.socket.unlink(missing_ok=True)  # left behind by a listener that was killed
        billed_until = max(record.started_at or 0.0, min(ended_at, self._now()))
        return folder.save(replace(record, phase=Phase.ENDED, ended_at=billed_until, detail=detail))

    def _folder(self, vm_id: str) -> VMFolder:
        return VMFolder(self._vms, vm_id)
