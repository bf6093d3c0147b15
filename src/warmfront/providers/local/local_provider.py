"""The `local` provider: a VM is a listener process on loopback that stands in for a leased machine.

It outlives the service, as a leased machine would, and is found again by its folder. It is free; in a
rehearsal it takes a cloud's time to boot and has a cloud's price. It never looks at what the VM runs.
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
    from warmfront.settings import Settings

LISTENER = (sys.executable, "-P", "-m", "warmfront", "listener")
RELEASED = "released"

#: A listener that is asked to end has this long to stop what it runs and clear it away.
_GRACE_S = 5.0
#: How often the address of a listener that starts is looked for; it takes about a second.
_LOOK_S = 0.02
#: What a listener needs of our environment. All else, such as the database's password, stays here.
_INHERITED = frozenset(
    {
        *("PATH", "HOME", "USER", "LANG", "LC_ALL", "TZ", "TMPDIR", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"),
        *("LD_LIBRARY_PATH", "ROCM_PATH", "HIP_PATH", "DOCKER_HOST", "PYTHONPATH", "VIRTUAL_ENV"),
        "WARMFRONT_PROBLEMS",
    }
)
_log = logging.getLogger(__name__)


class LocalProvider:
    """VMs on this machine."""

    name = "local"

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
        self._over: set[str] = set()  # ended ones stay on disk for ever, and need no second look

    def billing(self, gpu: str) -> Billing:
        """Return a price of zero; in a rehearsal, the cloud's price of this GPU type."""
        return Billing(
            rate_usd_per_h=self._settings.gpu_rate_usd_per_h(gpu) if self._settings.rehearse else Decimal(0)
        )

    def typical_boot_s(self, gpu: str) -> float:  # noqa: ARG002 - all GPU types start alike
        """Return a process's start time; in a rehearsal, the cloud's boot time."""
        return self._settings.rehearse_boot_s if self._settings.rehearse else 1.0

    def slots(self, gpu: str) -> int:  # noqa: ARG002 - all GPU types are alike
        """Return one: attempts on this machine would disturb each other's timing."""
        return 1

    async def provision(self, vm_id: str, gpu: str, token: str) -> AsyncIterator[Lease]:
        """Start a VM, or go on with the one of this id."""
        record = self._living(vm_id) if self._look(vm_id) else self._ask(vm_id, gpu)
        while record.boots:
            yield record.lease()
            await self._until(record.changes_at)
            record = self._living(vm_id)
        if record.process is None:
            record = self._start(record, token)
        if record.phase is Phase.STARTING:
            yield record.lease()
            address = await self._announced(vm_id)
            await self._until(record.changes_at)
            ready = replace(self._living(vm_id), phase=Phase.READY, address=address)
            record = self._folder(vm_id).save(ready)
        yield record.lease()

    async def release(self, vm_id: str) -> Lease:
        """Stop the VM's processes, all of them."""
        record = self._look(vm_id)
        if record is None:
            return Lease(
                vm_id=vm_id, phase=Phase.ENDED, ended_at=self._now(), detail="There never was such a VM."
            )
        if record.is_over:
            return record.lease()
        record = self._folder(vm_id).save(replace(record, detail=RELEASED))
        if record.process is not None:
            await processes.end(record.process, grace_s=_GRACE_S)
        return self._finish(vm_id, self._now()).lease()

    async def describe(self, vm_id: str) -> Lease | None:
        """The VM as it is now."""
        record = self._look(vm_id)
        return record.lease() if record else None

    async def leases(self) -> list[Lease]:
        """Every VM that is there or on its way."""
        known = [path.name for path in self._vms.iterdir()] if self._vms.is_dir() else []
        found = [self._look(vm_id) for vm_id in sorted(known) if vm_id not in self._over]
        return [record.lease() for record in found if record and not record.is_over]

    async def close(self) -> None:
        """Look after the VMs no more; they live on."""
        watchers = [*self._watchers.values()]
        for watcher in watchers:
            watcher.cancel()
        await asyncio.gather(*watchers, return_exceptions=True)

    def _ask(self, vm_id: str, gpu: str) -> LocalVMRecord:
        now = self._now()
        boot_s = self._settings.rehearse_boot_s if self._settings.rehearse else 0.0
        asked = LocalVMRecord(vm_id=vm_id, gpu=gpu, phase=Phase.QUEUED, asked_at=now, boot_s=boot_s)
        return self._folder(vm_id).save(asked.at(now))

    def _start(self, record: LocalVMRecord, token: str) -> LocalVMRecord:
        folder = self._folder(record.vm_id)
        dead_man = f"{self._settings.dead_man_s:g}"
        process = processes.spawn(
            [*self._listener, "--port", "0", "--announce", str(folder.announced), "--dead-man", dead_man],
            environ=self._environ(token),
            log=folder.log,
        )
        _log.info("VM %s is process %d", record.vm_id, process.pid)
        self._watch(record.vm_id, process)
        return folder.save(replace(record, process=process))

    def _environ(self, token: str) -> dict[str, str]:
        """The judge's settings as they are here, whichever file they came from, and the VM's own token."""
        inherited = {name: value for name, value in os.environ.items() if name in _INHERITED}
        return {**inherited, **self._settings.judge_environ(), "WARMFRONT_LISTENER_TOKEN": token}

    async def _announced(self, vm_id: str) -> str:
        """The address that the listener writes down once it listens."""
        folder = self._folder(vm_id)
        try:
            async with asyncio.timeout(self._settings.provision_timeout_s):
                while (address := folder.address()) is None:
                    self._living(vm_id)
                    await asyncio.sleep(_LOOK_S)
        except TimeoutError:
            raise ProviderError(f"VM {vm_id} was started and does not listen.") from None
        return address

    async def _until(self, moment: float) -> None:
        delay_s = moment - self._now()
        if delay_s > 0:
            await self._sleep(delay_s)

    def _living(self, vm_id: str) -> LocalVMRecord:
        record = self._look(vm_id)
        if record is None:
            raise ProviderError(f"The folder of VM {vm_id} is gone.")
        if record.is_over:
            raise ProviderError(f"VM {vm_id} has ended: {record.detail}.")
        return record

    def _look(self, vm_id: str) -> LocalVMRecord | None:
        """The record, brought up to what is true now."""
        folder = self._folder(vm_id)
        written = folder.load()
        if written is None or written.is_over:
            return written
        record = written.at(self._now())
        if record.process is None and record.phase is Phase.STARTING:
            # We may have been killed between starting it and writing that down.
            record = replace(record, process=processes.find(str(folder.announced)))
        if record != written:
            folder.save(record)
        if record.process is None:
            return record
        if not processes.is_alive(record.process):
            watched = vm_id in self._watchers
            return self._finish(vm_id, self._now() if watched else folder.last_sign_of_life())
        folder.seen_alive(self._now())
        self._watch(vm_id, record.process)
        return record

    def _watch(self, vm_id: str, process: processes.Process) -> None:
        """Have its end noticed when it comes, so that it is billed until then and not until someone looks."""
        if vm_id not in self._watchers:
            self._watchers[vm_id] = asyncio.create_task(self._see_out(vm_id, process))

    async def _see_out(self, vm_id: str, process: processes.Process) -> None:
        try:
            await processes.wait(process)
            self._finish(vm_id, self._now())
        finally:
            del self._watchers[vm_id]

    def _finish(self, vm_id: str, ended_at: float) -> LocalVMRecord:
        """Write down that it ended; whoever says so first is believed."""
        folder = self._folder(vm_id)
        record = folder.load()
        if record is None:
            raise ProviderError(f"The folder of VM {vm_id} is gone.")
        if record.is_over:
            return record
        how = processes.reap(record.process) if record.process else ""
        detail = record.detail or f"its listener ended by itself ({how}): {folder.last_words() or 'no words'}"
        if record.detail != RELEASED:
            _log.warning("VM %s ended: %s", vm_id, detail)
        self._over.add(vm_id)
        billed_until = max(record.started_at or 0.0, min(ended_at, self._now()))
        return folder.save(replace(record, phase=Phase.ENDED, ended_at=billed_until, detail=detail))

    def _folder(self, vm_id: str) -> VMFolder:
        return VMFolder(self._vms, vm_id)
