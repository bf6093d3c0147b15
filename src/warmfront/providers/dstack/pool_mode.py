"""The `dstack` provider: a VM is a worker task on a fleet, reached through dstack's tunnel.

The task is named after the VM's id, so that it is found again and never asked for twice. When a VM is
billed is told by dstack's record of the instance, never by what it says a run has cost.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from warmfront.clock import SystemClock
from warmfront.errors import DstackFailed, DstackUnreachable, ProviderError, WarmfrontError
from warmfront.money.billing import Billing
from warmfront.providers.base import Lease, Phase
from warmfront.providers.dstack import listener_bundle
from warmfront.providers.dstack.configuration import id_of, run_name, worker_task
from warmfront.providers.dstack.run_outcome import RunOutcome, outcome_of, why_no_capacity
from warmfront.providers.dstack.tenancy import Tenancy, TenancyIndex
from warmfront.providers.dstack.tunnels import ListenerTunnels

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from warmfront.clock import Clock
    from warmfront.providers.dstack.client import DstackClient
    from warmfront.providers.dstack.resources import DstackRun
    from warmfront.settings import Settings

#: Pauses between two looks at a run: dstack tells nobody when something changes.
_LOOK_S = 0.2
_LONGEST_LOOK_S = 1.0
#: An MI300X of AMD Developer Cloud boots, installs Docker and pulls the image in about this time.
_TYPICAL_BOOT_S = 300.0

_PHASES = {
    RunOutcome.QUEUED: Phase.QUEUED,
    RunOutcome.BOOTING: Phase.BOOTING,
    RunOutcome.PULLING: Phase.PULLING,
    RunOutcome.RUNNING: Phase.STARTING,
}
#: The backend whose VMs may be billed for a minimum.
_RESERVES = "hotaisle"
#: The names of the runs that are VMs.
_VM_PREFIX = run_name("vm_")
_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class RunSnapshot:
    """A VM as dstack has it this moment."""

    run: DstackRun
    outcome: RunOutcome
    stay: Tenancy | None

    @property
    def is_over(self) -> bool:
        """Whether the run has ended, and the VM too or another run has it."""
        return self.outcome.is_final and (self.stay is None or self.stay.until is not None)


class DstackProvider:
    """VMs of a dstack fleet."""

    name = "dstack"
    simulated = False

    def __init__(self, settings: Settings, client: DstackClient, *, clock: Clock | None = None) -> None:
        _warn_about_minimum(settings)
        self.settings = settings
        self.client = client
        self._now = (clock or SystemClock()).now
        self._places = TenancyIndex(client, _VM_PREFIX)
        self._tunnels = ListenerTunnels(client)
        self._asking: dict[str, asyncio.Task[None]] = {}
        self._priced: set[str] = set()

    def billing(self, gpu: str) -> Billing:
        """Return the rate of this GPU type, by the second, with the minimum reservation that is set."""
        return Billing(
            rate_usd_per_h=self.settings.gpu_rate_usd_per_h(gpu),
            minimum_s=float(self.settings.minimum_reservation_s),
        )

    def typical_boot_s(self, gpu: str) -> float:  # noqa: ARG002 - measured for the MI300X only
        """Return the provisioning time that AMD Developer Cloud is known for."""
        return _TYPICAL_BOOT_S

    def slots(self, gpu: str) -> int:  # noqa: ARG002 - all GPU types are alike
        """Return one: a second attempt would disturb the timing of the first."""
        return 1

    async def provision(self, vm_id: str, gpu: str, token: str) -> AsyncIterator[Lease]:
        """Start a worker task, or go on with the one of this id."""
        del gpu  # the fleet has one kind
        told: Lease | None = None
        waits = pauses()
        is_silent = False
        while True:
            lease = None
            try:
                lease = await self._boot_step(vm_id, token, told)
                is_silent = False
            except (DstackUnreachable, DstackFailed) as error:  # it may be restarting, and the VM boots on
                if not is_silent:
                    _log.warning("VM %s is waited for: %s", vm_id, error.message)
                is_silent = True
            if lease is not None and lease != told:
                told, waits = lease, pauses()
                yield lease
                if lease.phase is Phase.READY:
                    return
            await asyncio.sleep(next(waits))

    async def release(self, vm_id: str) -> Lease:
        """Stop the run, then have the VM deleted from the fleet, until dstack has its end on record."""
        await self._asked(vm_id)
        await self._tunnels.close(run_name(vm_id))
        waits = pauses()
        while True:
            seen = await self._look(vm_id)
            if seen is None:
                return _never(vm_id, self._now())
            if seen.is_over:
                return self.lease(vm_id, seen)
            await self._push_to_end(seen)
            await asyncio.sleep(next(waits))

    async def describe(self, vm_id: str) -> Lease | None:
        """The VM as it is now; who asks has doubts, so the tunnel is tried too."""
        seen = await self._look(vm_id)
        if seen is None:
            return None
        await self.reach(seen, doubt=True)
        return self.lease(vm_id, seen)

    async def leases(self) -> list[Lease]:
        """Every run of ours that goes on, and every VM of the fleet that such a run has left."""
        active = [run.name for run in await self.client.runs(_VM_PREFIX)]
        living = [
            instance
            for instance in await self.client.instances(only_active=True)
            if instance.fleet == self.settings.fleet_name
        ]
        names = {*active, *await self._places.last_tenants(living)}
        vm_ids = sorted(id_of(name) or "" for name in names if name.startswith(_VM_PREFIX))
        found = await asyncio.gather(*(self._find(vm_id) for vm_id in vm_ids))
        return [lease for lease in found if lease is not None and lease.phase is not Phase.ENDED]

    async def close(self) -> None:
        """Let go of the tunnels; the VMs live on."""
        await self._tunnels.close_all()
        await self.client.close()

    # What a VM is: in pool mode, one that a worker of ours runs on.

    def task(self, vm_id: str, token: str) -> dict[str, Any]:
        """The run that makes it."""
        packed = listener_bundle.pack(self.settings.cache_dir)
        return worker_task(
            self.settings,
            vm_id=vm_id,
            token=token,
            listener=listener_bundle.LISTENER,
            files=[f"{packed}:{listener_bundle.FOLDER}"],
        )

    def has_failed(self, seen: RunSnapshot) -> bool:
        """Whether it will not come to be ready. A run that is being stopped does not say why yet."""
        return seen.outcome.is_final

    async def reach(self, seen: RunSnapshot, *, doubt: bool) -> None:
        """Open what leads to it; with doubt, see whether it still does."""
        if seen.outcome is RunOutcome.RUNNING:
            await self._tunnels.address(seen.run.name, doubt=doubt)

    async def clear(self, seen: RunSnapshot) -> None:
        """End what else runs on it: nothing does."""

    def lease(self, vm_id: str, seen: RunSnapshot) -> Lease:
        """What the rest of the program is told."""
        stay = seen.stay
        since = stay.since if stay else None
        if seen.is_over:
            ended_at = stay.until if stay else seen.run.finished_at
            return Lease(
                vm_id=vm_id,
                phase=Phase.ENDED,
                started_at=since,
                ended_at=ended_at or self._now(),
                detail=seen.run.job_termination_message or seen.outcome.value,
            )
        address = self._tunnels.known(seen.run.name) if seen.outcome is RunOutcome.RUNNING else None
        if address is not None:
            return Lease(vm_id=vm_id, phase=Phase.READY, started_at=since, address=address)
        # A VM whose run is over idles on, and is billed, until it is deleted.
        return Lease(vm_id=vm_id, phase=_PHASES.get(seen.outcome, Phase.STARTING), started_at=since)

    async def _find(self, vm_id: str) -> Lease | None:
        seen = await self._look(vm_id)
        if seen is None:
            return None
        await self.reach(seen, doubt=False)
        return self.lease(vm_id, seen)

    async def _boot_step(self, vm_id: str, token: str, told: Lease | None) -> Lease:
        """How far it is; it is asked for where dstack has nothing of it."""
        seen = await self._look(vm_id)
        if seen is None:
            await self._ask(vm_id, token)
            return Lease(vm_id=vm_id, phase=Phase.QUEUED)
        if self.has_failed(seen):
            raise ProviderError(await self._why(seen.run, seen.outcome))
        if seen.outcome is RunOutcome.STOPPING and told is not None:
            return told
        lease = self.lease(vm_id, seen)
        if lease != told:
            return lease  # who waits sees that it starts before there is a way to it
        await self.reach(seen, doubt=False)
        return self.lease(vm_id, seen)

    async def _ask(self, vm_id: str, token: str) -> None:
        """Apply the task. Who gives up waiting leaves it on its way, and a release waits for it."""
        asking = self._asking.get(vm_id)
        if asking is None:
            asking = self._asking[vm_id] = asyncio.create_task(self._apply(vm_id, token))
        try:
            await asyncio.shield(asking)
        finally:
            if asking.done():
                self._asking.pop(vm_id, None)

    async def _apply(self, vm_id: str, token: str) -> None:
        await self.client.apply_task(await asyncio.to_thread(self.task, vm_id, token))

    async def _asked(self, vm_id: str) -> None:
        """Wait for what is on its way."""
        asking = self._asking.pop(vm_id, None)
        if asking is not None:
            await asyncio.wait([asking])

    async def _look(self, vm_id: str) -> RunSnapshot | None:
        run = await self.client.run(run_name(vm_id))
        if run is None:
            return None
        outcome = outcome_of(run)
        queued = outcome is RunOutcome.QUEUED
        stay = None if queued else await self._places.stay(run, is_over=outcome.is_final)
        if stay is not None:
            self._note_price(vm_id, stay)
        return RunSnapshot(run=run, outcome=outcome, stay=stay)

    async def _push_to_end(self, seen: RunSnapshot) -> None:
        """The next step: a run is stopped, and then its VM is free to be deleted.

        Not aborted: dstack would not tell the worker to end, and wait half a minute for its last words.
        """
        if not seen.outcome.is_final:
            if seen.outcome is not RunOutcome.STOPPING:
                await self.client.stop(seen.run.name)
        elif seen.stay is not None and seen.stay.instance.status != "terminating":
            instance = seen.stay.instance
            try:
                await self.clear(seen)
                await self.client.delete_instances(self.settings.fleet_name, [instance.num])
            except WarmfrontError as error:  # dstack is at work on it: the next look will tell
                _log.info("%s could not be deleted yet: %s", instance.name, error.message)

    def _note_price(self, vm_id: str, stay: Tenancy) -> None:
        """The ledger counts by the rate that is set: say so where the cloud asks for another."""
        price = stay.instance.price_usd_per_h
        if price is None or vm_id in self._priced:
            return
        self._priced.add(vm_id)
        if price != self.settings.rate_usd_per_h:
            _log.warning(
                "VM %s costs $%s an hour and is counted at $%s: set AMD_MI300X_HOURLY_RATE=%s",
                vm_id,
                price,
                self.settings.rate_usd_per_h,
                price,
            )

    async def _why(self, run: DstackRun, outcome: RunOutcome) -> str:
        if outcome is RunOutcome.NO_CAPACITY:
            outcome = why_no_capacity(await self.client.fleet(self.settings.fleet_name))
        said = (run.job_termination_message or run.error or "").partition("\n")[0].rstrip(".")
        return f"{_WORDS.get(outcome, 'dstack ended it')}{f' ({said})' if said else ''}."


#: Why there is no VM, and what to do, in words for whoever waits for one.
_WORDS = {
    RunOutcome.DONE: "Its worker ended by itself",
    RunOutcome.EXITED: "Its worker failed: `dstack logs` has its last words",
    RunOutcome.TIMED_OUT: "Its worker ran past AMD_VM_MAX_DURATION",
    RunOutcome.STOPPED: "Someone stopped its run",
    RunOutcome.STOPPING: "Its run is being stopped",
    RunOutcome.LOST: "The cloud took the VM away, or it can no longer be reached",
    RunOutcome.NO_CAPACITY: "The cloud has no such VM now",
    RunOutcome.NO_OFFERS: "No backend of the fleet sells such a VM at this price: see AMD_MI300X_HOURLY_RATE",
    RunOutcome.NO_FLEET: "There is no such fleet: `warmfront fleet create` makes it",
    RunOutcome.FLEET_FULL: "The fleet has as many VMs as it may: see AMD_FLEET_MAX_NODES",
    RunOutcome.BAD_IMAGE: "Its container could not be made: see WARMFRONT_WORKER_IMAGE",
    RunOutcome.BOOT_FAILED: "The VM came, and dstack's agent on it did not",
    RunOutcome.BROKEN: "dstack failed",
}


def _warn_about_minimum(settings: Settings) -> None:
    """Warn if the backend may bill a minimum that is not set: dstack does not report it."""
    if settings.backend == _RESERVES and not settings.minimum_reservation_s:
        _log.warning(
            "%s bills some VMs for hours at least: if it does yours, set AMD_MINIMUM_RESERVATION", _RESERVES
        )


def _never(vm_id: str, now: float) -> Lease:
    return Lease(vm_id=vm_id, phase=Phase.ENDED, ended_at=now, detail="There never was such a VM.")


def pauses() -> Iterator[float]:
    """Short ones first, then ever longer up to a bound."""
    pause_s = _LOOK_S
    while True:
        yield pause_s
        pause_s = min(1.5 * pause_s, _LONGEST_LOOK_S)
