"""Pool mode: a VM is a long-running worker task on a fleet, reached through an SSH tunnel.

CPU nodes are VMs of a second fleet, with the settings of `Settings.of_cpu_fleet`.
The run is named after our VM id, so it can be found again and is never created twice. Billed intervals come
from dstack's record of the instance, not from the cost that dstack reports for a run.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from warmfront.clock import SystemClock
from warmfront.errors import DstackFailed, DstackUnreachable, WarmfrontError
from warmfront.gpus import CPU_NODE
from warmfront.money.billing import Billing
from warmfront.providers.base import Lease, Phase
from warmfront.providers.clouds import end_command, open_clouds
from warmfront.providers.dstack import boot_errors, listener_bundle
from warmfront.providers.dstack.boot_errors import boot_error
from warmfront.providers.dstack.cloud_presence import CloudPresence
from warmfront.providers.dstack.configuration import (
    PREFIX,
    bundle_files,
    minimum_reservation_s,
    on_market,
    parse_run_name,
    spot_rate_usd_per_h,
    worker_task,
)
from warmfront.providers.dstack.end_confirmation import CONFIRM_POLL_S, EndConfirmation
from warmfront.providers.dstack.owned_runs import OwnedRuns
from warmfront.providers.dstack.prices import VMPrices
from warmfront.providers.dstack.run_outcome import RunOutcome, outcome_of
from warmfront.providers.dstack.tenancy import Tenancy, TenancyIndex
from warmfront.providers.dstack.tunnels import ListenerTunnels
from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Sequence

    from warmfront.clock import Clock
    from warmfront.providers.clouds.base import CloudMachine
    from warmfront.providers.dstack.client import DstackClient
    from warmfront.providers.dstack.resources import DstackRun
    from warmfront.providers.ownership import ForeignVM, Ownership
    from warmfront.settings import Settings

#: Polling starts with short pauses and backs off: dstack sends no notifications.
FIRST_POLL_S = 0.2
_MAX_POLL_S = 1.0
_POLL_BACKOFF = 1.5
#: Phases that may end at any moment with a running listener. Pauses stay short, because a submission waits.
_SHORT_PHASES = (Phase.PULLING, Phase.STARTING)
#: About how long a VM of AMD Developer Cloud takes to boot, install Docker and pull the image.
_TYPICAL_BOOT_S = 300.0
#: About how long a listener takes to start on a host of an SSH fleet, which has the image already.
_TYPICAL_HOST_START_S = 60.0
#: The most times that a run which dstack failed by mistake is submitted again.
_MAX_RESUBMISSIONS = 5

_PHASES = {
    RunOutcome.QUEUED: Phase.QUEUED,
    RunOutcome.BOOTING: Phase.BOOTING,
    RunOutcome.PULLING: Phase.PULLING,
    RunOutcome.RUNNING: Phase.STARTING,
}
_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class RunSnapshot:
    """A VM's run and tenancy, as dstack reported them at one time."""

    run: DstackRun
    outcome: RunOutcome
    tenancy: Tenancy | None
    machine: CloudMachine | None = None  #: the machine, if the cloud still has it after its end in dstack

    @property
    def has_ended_in_dstack(self) -> bool:
        """Whether the run and its tenancy have ended: the VM has ended or belongs to another run."""
        return self.outcome.is_final and (self.tenancy is None or self.tenancy.ended_at is not None)

    @property
    def has_ended(self) -> bool:
        """Whether the VM has ended in dstack and, if the cloud's list can be read, is no longer in it."""
        return self.has_ended_in_dstack and self.machine is None

    @property
    def leaves_machine(self) -> bool:
        """Whether the machine outlives the VM: another run uses it, or it is a host of an SSH fleet."""
        return self.tenancy is not None and self.tenancy.leaves_machine


class DstackProvider:
    """A provider of VMs of a dstack fleet and, if there is a second fleet, of CPU nodes."""

    name = "dstack"
    simulated = False
    vms_outlive_service = True

    def __init__(
        self, settings: Settings, client: DstackClient, *, ownership: Ownership, clock: Clock | None = None
    ) -> None:
        self.settings = settings
        self.client = client
        self.ownership = ownership
        self._cpu_settings = settings.of_cpu_fleet() if settings.has_cpu_nodes else None
        self._fleets = [settings.fleet_name]
        if self._cpu_settings is not None:
            self._fleets.append(self._cpu_settings.fleet_name)
        self.max_cpu_nodes = settings.cpu_max_nodes if settings.has_cpu_nodes else 0
        self.runs = OwnedRuns(client, ownership, self._fleets)
        self.foreign_vms: Sequence[ForeignVM] = ()
        self.toolchain: str | None = settings.worker_toolchain
        self.max_vms: int | None = settings.max_fleet_vms
        self._now = (clock or SystemClock()).now
        self._presence = CloudPresence(open_clouds(settings), client.project, self._now)
        self._ends = EndConfirmation(self._presence, settings)
        self._tenancies = TenancyIndex(client)
        self._tunnels = ListenerTunnels(
            client, settings.data_dir / "tunnels", jump_key=settings.fleet_ssh_key
        )
        self._applying: dict[str, asyncio.Task[None]] = {}
        self._spot_vms: set[str] = set()
        self._gpu_counts: dict[str, int] = {}  # for VMs that this process requested
        self._prices = VMPrices(self.settings_for)
        self._resubmitted: Counter[str] = Counter()

    def gpu_counts(self, gpu: str) -> Sequence[int]:
        """Return AMD_VM_GPUS; one for CPU nodes, which have a single size."""
        return self.settings_for(gpu).gpu_counts

    def billing(self, gpu: str, gpu_count: int = 1) -> Billing:
        """Return the rate of such a VM, billed by the second, with the configured minimum reservation."""
        return Billing(
            rate_usd_per_h=self.settings.vm_rate_usd_per_h(gpu, gpu_count),
            minimum_s=float(minimum_reservation_s(self.settings_for(gpu))),
        )

    def spot_billing(self, gpu: str, gpu_count: int = 1) -> Billing | None:
        """Return the billing model of a spot VM, from AMD_SPOT_PRICE_RATIO; None if there are none."""
        rate = spot_rate_usd_per_h(self.settings_for(gpu), gpu, gpu_count)
        return None if rate is None else replace(self.billing(gpu, gpu_count), rate_usd_per_h=rate)

    def typical_boot_s(self, gpu: str) -> float:
        """Return the typical boot time on AMD Developer Cloud, or the start-up time on a running host."""
        return _TYPICAL_HOST_START_S if self.settings_for(gpu).fleet_hosts else _TYPICAL_BOOT_S

    def slots(self, gpu: str, gpu_count: int = 1) -> int:
        """Return one slot per GPU, because a second attempt would disturb the timing of the first.

        CPU nodes do not time anything, so they have AMD_CPU_SLOTS.
        """
        return self.settings.cpu_slots if gpu == CPU_NODE else gpu_count

    async def check_ready(self, gpu: str) -> None:
        """Check the server, the fleet and SSH, without calling the cloud."""
        await boot_errors.check_ready(self.client, self.settings_for(gpu))

    def settings_for(self, gpu: str | None) -> Settings:
        """Return the settings of the fleet for VMs with this GPU type, or for CPU nodes.

        If AMD_CPU_FLEET_NAME was unset while there were CPU nodes, they can only be released.
        """
        return self.settings if gpu != CPU_NODE else self._cpu_settings or self.settings.of_cpu_fleet()

    async def provision(
        self, vm_id: str, gpu: str, token: str, *, gpu_count: int = 1
    ) -> AsyncIterator[Lease]:
        """Submit the VM's worker task, or resume waiting for it.

        While the dstack server is unavailable, wait for it: the VM keeps booting without it.
        """
        self._gpu_counts[vm_id] = gpu_count
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

    def provision_spot(self, vm_id: str, gpu: str, token: str, *, gpu_count: int = 1) -> AsyncIterator[Lease]:
        """Submit the VM's worker task for a spot VM, or resume waiting for it."""
        self._spot_vms.add(vm_id)
        return self.provision(vm_id, gpu, token, gpu_count=gpu_count)

    async def release(self, vm_id: str) -> Lease:
        """Stop the run, delete its VM from the fleet, and return when dstack has recorded the VM's end.

        With a key for the cloud's list, return only when the cloud no longer has the VM. A host of an SSH
        fleet is not deleted: the VM ends with its run, and the host is idle again.
        """
        await self._wait_for_apply(vm_id)
        await self._tunnels.close(self.runs.name(vm_id))
        pauses = poll_pauses()
        while True:
            snapshot = await self._snapshot(vm_id)
            if snapshot is not None and not snapshot.has_ended_in_dstack:
                await self._advance_release(snapshot)
                await asyncio.sleep(next(pauses))
                continue
            ended = await self._confirm_end(vm_id, snapshot)
            if ended is not None:
                return ended
            await asyncio.sleep(CONFIRM_POLL_S)

    async def describe(self, vm_id: str) -> Lease | None:
        """Return the VM's current lease.

        Callers use this when a VM does not respond, so the tunnel is probed and reopened if it is broken.
        A VM that is no longer in the cloud's list has ended on its own, which dstack notices minutes later.
        """
        snapshot = await self._snapshot(vm_id)
        if snapshot is None:
            return await self._unknown_to_dstack(vm_id)
        vanished, _ = await asyncio.gather(
            self._ends.vanished(snapshot, self.lease(vm_id, snapshot)), self.open_tunnel(snapshot, probe=True)
        )
        if vanished is not None:
            return vanished
        return self.lease(vm_id, snapshot)

    async def leases(self) -> list[Lease]:
        """Return the VMs of our active runs, and the fleet's VMs that our runs used last.

        A host of an SSH fleet counts only while one of our runs is on it. This also updates `foreign_vms`.
        """
        active = await self.client.runs(PREFIX)
        instances = [
            instance
            for instance in await self.client.instances(only_active=True)
            if instance.fleet in self._fleets and not instance.is_own_host
        ]
        last_tenants = await self._tenancies.last_tenants(instances, active)
        vm_ids, self.foreign_vms = await self.runs.split(active, last_tenants)
        vm_ids = sorted({*vm_ids, *await self._vms_in_cloud(active)})
        leases = await asyncio.gather(*(self._current_lease(vm_id) for vm_id in vm_ids))
        return [lease for lease in leases if lease is not None and lease.phase is not Phase.ENDED]

    async def close(self) -> None:
        """Close the tunnels and the client. VMs keep running."""
        await self._tunnels.close_all()
        await self._presence.close()
        await self.client.close()

    def end_command(self, machine_id: str | None) -> str:
        """Return the command that ends a machine of the backend."""
        return end_command(self.settings, machine_id)

    # The methods that direct mode overrides.

    def task(self, vm_id: str, gpu: str, token: str) -> dict[str, Any]:
        """Return the configuration of the VM's run."""
        bundle = listener_bundle.pack_for_upload(self.settings.cache_dir)
        return worker_task(
            self.settings_for(gpu),
            vm_id=vm_id,
            gpu=gpu,
            gpu_count=self._gpu_counts.get(vm_id, 1),
            token=token,
            owner=self.ownership.id,
            listener=listener_bundle.LISTENER,
            files=[bundle_files(bundle)],
        )

    def has_failed(self, snapshot: RunSnapshot) -> bool:
        """Return whether a booting VM will never be ready. A stopping run has no reason yet."""
        return snapshot.outcome.is_final

    async def open_tunnel(self, snapshot: RunSnapshot, *, probe: bool) -> None:
        """Open the tunnel to the VM's listener if it is running; with `probe`, check an open tunnel."""
        if snapshot.outcome is RunOutcome.RUNNING:
            await self._tunnels.open(snapshot.run, probe=probe)

    async def stop_attempts(self, snapshot: RunSnapshot) -> None:
        """Do nothing, because in pool mode a VM has no other runs."""

    def lease(self, vm_id: str, snapshot: RunSnapshot) -> Lease:
        """Convert a snapshot to a lease."""
        tenancy, gpu = snapshot.tenancy, self._gpu_of(snapshot.run)
        started_at = tenancy.started_at if tenancy else None
        if snapshot.has_ended:
            ended_at = tenancy.ended_at if tenancy else snapshot.run.finished_at
            return Lease(
                vm_id=vm_id,
                phase=Phase.ENDED,
                gpu=gpu,
                gpu_count=snapshot.run.gpu_count or 1,
                started_at=started_at,
                billing=self._prices.billing(tenancy, gpu),
                ended_at=ended_at or self._now(),
                # Only a release reads the cloud's list again.
                end_confirmed=started_at is None or snapshot.leaves_machine,
                machine_id=snapshot.run.machine_id,
                detail=snapshot.run.job_termination_message or snapshot.outcome.value,
            )
        address = None
        if snapshot.outcome is RunOutcome.RUNNING:
            address = self._tunnels.known_address(snapshot.run.name)
        # A VM whose run has ended is idle and billed until it is deleted. That counts as STARTING.
        phase = Phase.READY if address else _PHASES.get(snapshot.outcome, Phase.STARTING)
        return Lease(
            vm_id=vm_id,
            phase=phase,
            gpu=gpu,
            gpu_count=snapshot.run.gpu_count or 1,
            started_at=started_at,
            billing=self._prices.billing(tenancy, gpu),
            address=address,
            machine_id=snapshot.run.machine_id,
        )

    async def _current_lease(self, vm_id: str) -> Lease | None:
        snapshot = await self._snapshot(vm_id)
        if snapshot is None:
            return await self._unknown_to_dstack(vm_id)
        await self.open_tunnel(snapshot, probe=False)
        return self.lease(vm_id, snapshot)

    async def _poll_boot(self, vm_id: str, gpu: str, token: str, latest: Lease | None) -> Lease:
        """Return the current lease of a booting VM; submit its run if dstack does not have it."""
        snapshot = await self._snapshot(vm_id)
        if snapshot is None:
            foreign = await self._idle_foreign_vm(self.settings_for(gpu).fleet_name)
            if foreign is not None:  # dstack would put our run on it
                return Lease(
                    vm_id=vm_id, phase=Phase.QUEUED, gpu=gpu, detail=f"Waiting until {foreign} ends."
                )
            await self._apply(vm_id, gpu, token)
            return Lease(vm_id=vm_id, phase=Phase.QUEUED, gpu=gpu)
        if self.has_failed(snapshot):
            if await self._may_submit_again(vm_id, gpu, snapshot):
                await self._apply(vm_id, gpu, token)
                return Lease(vm_id=vm_id, phase=Phase.QUEUED, gpu=gpu)
            raise await boot_error(self.client, self.settings_for(gpu), snapshot.run, snapshot.outcome)
        if snapshot.outcome is RunOutcome.STOPPING and latest is not None:
            return latest
        lease = self.lease(vm_id, snapshot)
        if lease != latest:
            return lease  # report STARTING before the tunnel is opened, which takes seconds
        await self.open_tunnel(snapshot, probe=False)
        failure = self._tunnels.failure(snapshot.run.name)
        if failure is not None and failure.is_final:
            raise boot_errors.not_reachable(self.settings_for(gpu), failure.message)
        return self.lease(vm_id, snapshot)

    async def _may_submit_again(self, vm_id: str, gpu: str, snapshot: RunSnapshot) -> bool:
        """Return whether dstack failed a run without a VM by mistake, and retries remain."""
        if self._resubmitted[vm_id] >= _MAX_RESUBMISSIONS:
            return False
        run, outcome, settings = snapshot.run, snapshot.outcome, self.settings_for(gpu)
        if not await boot_errors.lost_race_for_fleet(self.client, settings, run, outcome):
            return False
        self._resubmitted[vm_id] += 1
        _log.info("dstack did not find fleet %s for VM %s; trying again", settings.fleet_name, vm_id)
        return True

    async def _idle_foreign_vm(self, fleet: str) -> str | None:
        """Return the name of an idle VM of another service on one of our fleets; None if there is none."""
        for instance in await self.client.instances(only_active=True):
            if instance.is_own_host:
                continue  # its last run does not matter
            if instance.fleet == fleet and instance.status == "idle":
                tenant = await self._tenancies.last_tenant(instance)
                if tenant is not None and not await self.runs.is_ours(tenant, [fleet]):
                    return instance.name
        return None

    async def _apply(self, vm_id: str, gpu: str, token: str) -> None:
        """Submit the run. Concurrent calls share one request, which continues if they are cancelled."""
        applying = self._applying.get(vm_id)
        if applying is None:
            applying = self._applying[vm_id] = asyncio.create_task(self._apply_task(vm_id, gpu, token))
        try:
            await asyncio.shield(applying)
        finally:
            if applying.done():
                self._applying.pop(vm_id, None)

    async def _apply_task(self, vm_id: str, gpu: str, token: str) -> None:
        task = await asyncio.to_thread(self.task, vm_id, gpu, token)
        spot, gpu_count = vm_id in self._spot_vms, self._gpu_counts.get(vm_id, 1)
        await self.client.apply_task(on_market(self.settings_for(gpu), task, gpu, gpu_count, spot=spot))

    async def _wait_for_apply(self, vm_id: str) -> None:
        """Wait for a submit request that is in progress, because an earlier release would miss the run."""
        applying = self._applying.pop(vm_id, None)
        if applying is not None:
            await asyncio.wait([applying])

    async def _snapshot(self, vm_id: str) -> RunSnapshot | None:
        run = await self.runs.find(vm_id)
        if run is None:
            return None
        outcome = outcome_of(run)
        tenancy = None
        if outcome is not RunOutcome.QUEUED:
            tenancy = await self._tenancies.tenancy(run, has_ended=outcome.is_final)
        if tenancy is not None:
            self._prices.check(vm_id, tenancy, self._gpu_of(run), run.gpu_count or 1)
        snapshot = RunSnapshot(run=run, outcome=outcome, tenancy=tenancy)
        if snapshot.has_ended_in_dstack and not snapshot.leaves_machine:
            machine = await self._ends.find_machine(run.name, run.instance_id)
            return replace(snapshot, machine=machine)
        return snapshot

    # The cloud's own list.

    async def _unknown_to_dstack(self, vm_id: str) -> Lease | None:
        """Return the lease of a VM that the cloud has and dstack does not; None if the cloud has none."""
        machine = await self._ends.find_machine(self.runs.name(vm_id), None)
        if machine is None:
            return None
        return Lease(vm_id=vm_id, phase=Phase.STARTING, started_at=machine.created_at, machine_id=machine.id)

    async def _vms_in_cloud(self, active: Sequence[DstackRun]) -> set[str]:
        """Return the ids of our VMs that the cloud has and that have no active run."""
        known = {run.instance_id for run in active}
        machines = await self._ends.machines()
        left = [machine for machine in machines.values() if machine.id not in known]
        if not left:
            return set()
        ended = {run.instance_id: run.name for run in await self.client.recent_runs(PREFIX)}
        names = {self._presence.run_name(machine) or ended.get(machine.id) for machine in left}
        labels = [
            parse_run_name(name) for name in names if name and await self.runs.is_ours(name, self._fleets)
        ]
        return {label.our_id for label in labels if label is not None}

    async def _confirm_end(self, vm_id: str, snapshot: RunSnapshot | None) -> Lease | None:
        """Return the lease of a VM that ended according to dstack; None while it is in the cloud's list."""
        if snapshot is None:
            detail = "dstack has no run of this VM."
            ended = Lease(vm_id=vm_id, phase=Phase.ENDED, ended_at=self._now(), detail=detail)
            return await self._ends.confirm(ended, None, self.runs.name(vm_id))
        ended = self.lease(vm_id, replace(snapshot, machine=None))
        if snapshot.leaves_machine:
            return ended
        return await self._ends.confirm(ended, snapshot, snapshot.run.name)

    @staticmethod
    def _gpu_of(run: DstackRun) -> str | None:
        """Return the GPU type that one of our runs requests; a run without a GPU is a CPU node."""
        return CPU_NODE if run.requests_no_gpu else run.gpu

    async def _advance_release(self, snapshot: RunSnapshot) -> None:
        """Take the next step of a release: stop the run, then delete its VM.

        The run is not aborted, because dstack would not signal the worker, and would wait half a minute for
        output.
        """
        if not snapshot.outcome.is_final:
            if snapshot.outcome is not RunOutcome.STOPPING:
                await self.client.stop(snapshot.run.name)
        elif snapshot.tenancy is not None and not snapshot.leaves_machine:
            instance = snapshot.tenancy.instance
            if instance.status == "terminating":
                return
            try:
                await self.stop_attempts(snapshot)
                await self.client.delete_instances(instance.fleet or self.settings.fleet_name, [instance.num])
            except WarmfrontError as error:  # dstack is still processing the instance
                _log.info("cannot delete instance %s yet: %s; retrying", instance.name, error.message)


def poll_pauses(*, backs_off: bool = True) -> Iterator[float]:
    """Yield the pauses between polls: exponential backoff up to a maximum, or always the shortest pause."""
    pause_s = FIRST_POLL_S
    while True:
        yield pause_s
        if backs_off:
            pause_s = min(_POLL_BACKOFF * pause_s, _MAX_POLL_S)
