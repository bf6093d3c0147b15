"""Pool mode: a VM is a long-running worker task on a fleet, reached through dstack's tunnel.

The run is named after our VM id, so it can be found again and is never created twice. Billed intervals come
from dstack's record of the instance; the cost that dstack reports for a run is not used.
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
from warmfront.providers.dstack.configuration import id_of, rate_variable, run_name, worker_task
from warmfront.providers.dstack.run_outcome import RunOutcome, outcome_of, why_no_capacity
from warmfront.providers.dstack.tenancy import Tenancy, TenancyIndex
from warmfront.providers.dstack.tunnels import ListenerTunnels

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from warmfront.clock import Clock
    from warmfront.providers.dstack.client import DstackClient
    from warmfront.providers.dstack.resources import DstackRun
    from warmfront.settings import Settings

#: Polling starts with short pauses and backs off: dstack sends no notifications.
_FIRST_POLL_S = 0.2
_MAX_POLL_S = 1.0
_POLL_BACKOFF = 1.5
#: Phases that end at any moment with a listener that runs: pauses stay short, because its submission waits.
_SHORT_PHASES = (Phase.PULLING, Phase.STARTING)
#: About how long a VM of AMD Developer Cloud boots, installs Docker and pulls the image.
_TYPICAL_BOOT_S = 300.0

_PHASES = {
    RunOutcome.QUEUED: Phase.QUEUED,
    RunOutcome.BOOTING: Phase.BOOTING,
    RunOutcome.PULLING: Phase.PULLING,
    RunOutcome.RUNNING: Phase.STARTING,
}
#: The backend whose VMs may be billed for a minimum time.
_BACKEND_WITH_MINIMUM = "hotaisle"
#: Characters of the worker's last line that an error quotes.
_MAX_LINE = 500
#: Prefix of the names of runs that are VMs.
_VM_PREFIX = run_name("vm_")
_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class RunSnapshot:
    """A VM's run and tenancy, as dstack reported them at one moment."""

    run: DstackRun
    outcome: RunOutcome
    tenancy: Tenancy | None

    @property
    def has_ended(self) -> bool:
        """Whether the run has ended, and its tenancy too: the VM has ended or belongs to another run."""
        return self.outcome.is_final and (self.tenancy is None or self.tenancy.ended_at is not None)


class DstackProvider:
    """Provides VMs of a dstack fleet."""

    name = "dstack"
    simulated = False
    vms_outlive_service = True

    def __init__(self, settings: Settings, client: DstackClient, *, clock: Clock | None = None) -> None:
        _warn_about_minimum(settings)
        self.settings = settings
        self.client = client
        self.toolchain: str | None = settings.worker_toolchain
        self._now = (clock or SystemClock()).now
        self._tenancies = TenancyIndex(client, _VM_PREFIX)
        self._tunnels = ListenerTunnels(client)
        self._applying: dict[str, asyncio.Task[None]] = {}
        self._price_checked: set[str] = set()

    def billing(self, gpu: str) -> Billing:
        """Return the rate of this GPU type, by the second, with the minimum reservation that is set."""
        return Billing(
            rate_usd_per_h=self.settings.gpu_rate_usd_per_h(gpu),
            minimum_s=float(self.settings.minimum_reservation_s),
        )

    def typical_boot_s(self, gpu: str) -> float:  # noqa: ARG002 - known for the MI300X only
        """Return the provisioning time that AMD Developer Cloud is known for."""
        return _TYPICAL_BOOT_S

    def slots(self, gpu: str) -> int:  # noqa: ARG002 - all GPU types are alike
        """Return one: a second attempt would disturb the timing of the first."""
        return 1

    async def provision(self, vm_id: str, gpu: str, token: str) -> AsyncIterator[Lease]:
        """Submit the VM's worker task, or resume waiting for it.

        While the dstack server is unavailable, wait for it: the VM keeps booting without it.
        """
        latest: Lease | None = None
        pauses = poll_pauses()
        is_unavailable = False
        while True:
            lease = None
            try:
                lease = await self._poll_boot(vm_id, gpu, token, latest)
                is_unavailable = False
            except (DstackUnreachable, DstackFailed) as error:
                if not is_unavailable:
                    _log.warning("cannot follow the boot of VM %s: %s; retrying", vm_id, error.message)
                is_unavailable = True
            if lease is not None and lease != latest:
                latest, pauses = lease, poll_pauses(backs_off=lease.phase not in _SHORT_PHASES)
                yield lease
                if lease.phase is Phase.READY:
                    return
                if lease.phase is Phase.STARTING:
                    continue  # open the tunnel at once
            await asyncio.sleep(next(pauses))

    async def release(self, vm_id: str) -> Lease:
        """Stop the run, delete its VM from the fleet, and return when dstack has recorded the VM's end."""
        await self._wait_for_apply(vm_id)
        await self._tunnels.close(run_name(vm_id))
        pauses = poll_pauses()
        while True:
            snapshot = await self._snapshot(vm_id)
            if snapshot is None:
                return Lease(
                    vm_id=vm_id, phase=Phase.ENDED, ended_at=self._now(), detail="This VM never existed."
                )
            if snapshot.has_ended:
                return self.lease(vm_id, snapshot)
            await self._advance_release(snapshot)
            await asyncio.sleep(next(pauses))

    async def describe(self, vm_id: str) -> Lease | None:
        """Return the VM's current lease.

        Callers use this when a VM does not respond, so the tunnel is probed and reopened if it is broken.
        """
        snapshot = await self._snapshot(vm_id)
        if snapshot is None:
            return None
        await self.open_tunnel(snapshot, probe=True)
        return self.lease(vm_id, snapshot)

    async def leases(self) -> list[Lease]:
        """Return the VMs of our active runs, and the fleet's VMs that our runs used last."""
        active = [run.name for run in await self.client.runs(_VM_PREFIX)]
        instances = [
            instance
            for instance in await self.client.instances(only_active=True)
            if instance.fleet == self.settings.fleet_name
        ]
        names = {*active, *await self._tenancies.last_tenants(instances)}
        vm_ids = sorted(id_of(name) or "" for name in names if name.startswith(_VM_PREFIX))
        leases = await asyncio.gather(*(self._current_lease(vm_id) for vm_id in vm_ids))
        return [lease for lease in leases if lease is not None and lease.phase is not Phase.ENDED]

    async def close(self) -> None:
        """Close the tunnels and the client. VMs keep running."""
        await self._tunnels.close_all()
        await self.client.close()

    # The methods that direct mode overrides.

    def task(self, vm_id: str, gpu: str, token: str) -> dict[str, Any]:
        """Return the configuration of the VM's run."""
        bundle = listener_bundle.pack(self.settings.cache_dir)
        return worker_task(
            self.settings,
            vm_id=vm_id,
            gpu=gpu,
            token=token,
            listener=listener_bundle.LISTENER,
            files=[f"{bundle}:{listener_bundle.FOLDER}"],
        )

    def has_failed(self, snapshot: RunSnapshot) -> bool:
        """Return whether a VM that boots will never be ready. A stopping run has no reason yet."""
        return snapshot.outcome.is_final

    async def open_tunnel(self, snapshot: RunSnapshot, *, probe: bool) -> None:
        """Open the tunnel to the VM's listener if it runs; with `probe`, check an open tunnel."""
        if snapshot.outcome is RunOutcome.RUNNING:
            await self._tunnels.address(snapshot.run.name, probe=probe)

    async def stop_attempts(self, snapshot: RunSnapshot) -> None:
        """Stop the VM's other runs; in pool mode it has none."""

    def lease(self, vm_id: str, snapshot: RunSnapshot) -> Lease:
        """Convert a snapshot to a lease."""
        tenancy, gpu = snapshot.tenancy, snapshot.run.gpu
        started_at = tenancy.started_at if tenancy else None
        if snapshot.has_ended:
            ended_at = tenancy.ended_at if tenancy else snapshot.run.finished_at
            return Lease(
                vm_id=vm_id,
                phase=Phase.ENDED,
                gpu=gpu,
                started_at=started_at,
                ended_at=ended_at or self._now(),
                detail=snapshot.run.job_termination_message or snapshot.outcome.value,
            )
        address = None
        if snapshot.outcome is RunOutcome.RUNNING:
            address = self._tunnels.known_address(snapshot.run.name)
        # A VM whose run has ended is idle, and billed, until it is deleted: that counts as STARTING.
        phase = Phase.READY if address else _PHASES.get(snapshot.outcome, Phase.STARTING)
        return Lease(vm_id=vm_id, phase=phase, gpu=gpu, started_at=started_at, address=address)

    async def _current_lease(self, vm_id: str) -> Lease | None:
        snapshot = await self._snapshot(vm_id)
        if snapshot is None:
            return None
        await self.open_tunnel(snapshot, probe=False)
        return self.lease(vm_id, snapshot)

    async def _poll_boot(self, vm_id: str, gpu: str, token: str, latest: Lease | None) -> Lease:
        """Return the current lease of a VM that boots; submit its run if dstack does not have it."""
        snapshot = await self._snapshot(vm_id)
        if snapshot is None:
            await self._apply(vm_id, gpu, token)
            return Lease(vm_id=vm_id, phase=Phase.QUEUED, gpu=gpu)
        if self.has_failed(snapshot):
            raise await self._boot_error(snapshot.run, snapshot.outcome)
        if snapshot.outcome is RunOutcome.STOPPING and latest is not None:
            return latest
        lease = self.lease(vm_id, snapshot)
        if lease != latest:
            return lease  # report STARTING before the tunnel is opened, which takes seconds
        await self.open_tunnel(snapshot, probe=False)
        return self.lease(vm_id, snapshot)

    async def _apply(self, vm_id: str, gpu: str, token: str) -> None:
        """Submit the run. Concurrent calls share one request, which also survives their cancellation."""
        applying = self._applying.get(vm_id)
        if applying is None:
            applying = self._applying[vm_id] = asyncio.create_task(self._apply_task(vm_id, gpu, token))
        try:
            await asyncio.shield(applying)
        finally:
            if applying.done():
                self._applying.pop(vm_id, None)

    async def _apply_task(self, vm_id: str, gpu: str, token: str) -> None:
        await self.client.apply_task(await asyncio.to_thread(self.task, vm_id, gpu, token))

    async def _wait_for_apply(self, vm_id: str) -> None:
        """Wait for a submit request that is still in progress: releasing before it would miss the run."""
        applying = self._applying.pop(vm_id, None)
        if applying is not None:
            await asyncio.wait([applying])

    async def _snapshot(self, vm_id: str) -> RunSnapshot | None:
        run = await self.client.run(run_name(vm_id))
        if run is None:
            return None
        outcome = outcome_of(run)
        tenancy = None
        if outcome is not RunOutcome.QUEUED:
            tenancy = await self._tenancies.tenancy(run, has_ended=outcome.is_final)
        if tenancy is not None:
            self._check_price(vm_id, run, tenancy)
        return RunSnapshot(run=run, outcome=outcome, tenancy=tenancy)

    async def _advance_release(self, snapshot: RunSnapshot) -> None:
        """Take the next step of a release: stop the run; then delete its VM.

        The run is not aborted: dstack would then not signal the worker, and wait half a minute for output.
        """
        if not snapshot.outcome.is_final:
            if snapshot.outcome is not RunOutcome.STOPPING:
                await self.client.stop(snapshot.run.name)
        elif snapshot.tenancy is not None and snapshot.tenancy.instance.status != "terminating":
            instance = snapshot.tenancy.instance
            try:
                await self.stop_attempts(snapshot)
                await self.client.delete_instances(self.settings.fleet_name, [instance.num])
            except WarmfrontError as error:  # dstack is still processing the instance
                _log.info("cannot delete instance %s yet: %s; retrying", instance.name, error.message)

    def _check_price(self, vm_id: str, run: DstackRun, tenancy: Tenancy) -> None:
        """Warn once if the cloud's price differs from the rate that the ledger uses."""
        price = tenancy.instance.price_usd_per_h
        if price is None or run.gpu is None or vm_id in self._price_checked:
            return
        self._price_checked.add(vm_id)
        rate = self.settings.gpu_rate_usd_per_h(run.gpu)
        if price != rate:
            _log.warning(
                "VM %s costs $%s per hour, but the ledger uses $%s: set %s=%s",
                vm_id,
                price,
                rate,
                rate_variable(run.gpu),
                price,
            )

    async def _boot_error(self, run: DstackRun, outcome: RunOutcome) -> ProviderError:
        if outcome is RunOutcome.NO_CAPACITY:
            outcome = why_no_capacity(await self.client.fleet(self.settings.fleet_name))
        detail = (run.job_termination_message or run.error or "").partition("\n")[0].rstrip(".")
        if outcome in {RunOutcome.EXITED, RunOutcome.DONE}:
            detail = await self._last_line(run.name) or detail
        message = f"{_FAILURES.get(outcome, 'dstack ended the run')}{f' ({detail})' if detail else ''}."
        return ProviderError(message, hint=_HINTS.get(outcome))

    async def _last_line(self, run_name: str) -> str:
        """Return the last line that the worker printed, which says why it ended; empty if there is none."""
        try:
            output = await self.client.logs(run_name)
        except WarmfrontError:
            return ""
        lines = [line.strip() for line in output.decode(errors="replace").splitlines() if line.strip()]
        last = "".join(character for character in lines[-1] if character.isprintable()) if lines else ""
        return last[:_MAX_LINE].rstrip(".")


#: Why a VM could not be provisioned; users see this, too.
_FAILURES = {
    RunOutcome.DONE: "The worker exited",
    RunOutcome.EXITED: "The worker failed",
    RunOutcome.TIMED_OUT: "The worker exceeded AMD_VM_MAX_DURATION",
    RunOutcome.STOPPED: "The run was stopped",
    RunOutcome.STOPPING: "The run is being stopped",
    RunOutcome.LOST: "The VM was interrupted or became unreachable",
    RunOutcome.NO_CAPACITY: "The cloud has no such VM available now",
    RunOutcome.NO_OFFERS: "No backend of the fleet offers such a VM within the hourly rate",
    RunOutcome.NO_FLEET: "The fleet does not exist",
    RunOutcome.FLEET_FULL: "The fleet has reached AMD_FLEET_MAX_NODES",
    RunOutcome.BAD_IMAGE: "The container of WARMFRONT_WORKER_IMAGE could not be created",
    RunOutcome.BOOT_FAILED: "The VM booted, but dstack's agent on it did not start",
    RunOutcome.BROKEN: "dstack failed",
}
#: What the operator can do about it.
_HINTS = {
    RunOutcome.EXITED: "`dstack logs` shows the worker's output.",
    RunOutcome.NO_FLEET: "Create it with `warmfront fleet create`.",
    RunOutcome.NO_OFFERS: "`warmfront fleet verify` shows the prices.",
    RunOutcome.BAD_IMAGE: "Check that the VM can pull the image.",
    RunOutcome.BROKEN: "Check the dstack server's log.",
}


def _warn_about_minimum(settings: Settings) -> None:
    """Warn if the backend may bill a minimum time and none is set: dstack does not report it."""
    if settings.backend == _BACKEND_WITH_MINIMUM and not settings.minimum_reservation_s:
        _log.warning(
            "%s bills some VMs for a minimum number of hours: if that applies to yours, set "
            "AMD_MINIMUM_RESERVATION",
            _BACKEND_WITH_MINIMUM,
        )


def poll_pauses(*, backs_off: bool = True) -> Iterator[float]:
    """Yield the pauses between polls: exponential backoff up to a maximum, or always the shortest one."""
    pause_s = _FIRST_POLL_S
    while True:
        yield pause_s
        if backs_off:
            pause_s = min(_POLL_BACKOFF * pause_s, _MAX_POLL_S)
