"""A fake `Provider` whose VMs boot in phases, cost money, hang, vanish and terminate slowly.

It keeps its own bill, with which a ledger can be compared. A seed determines which VM has which fault.
"""

from __future__ import annotations

import asyncio
import contextvars
import random
from dataclasses import field, replace
from decimal import Decimal
from typing import TYPE_CHECKING

from warmfront import gpus
from warmfront.errors import ProviderError
from warmfront.money.billing import Billing
from warmfront.providers.base import Lease, Phase
from warmfront.provisioning import FailureKind
from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine, Sequence

    from warmfront.clock import Clock
    from warmfront.providers.ownership import ForeignVM

#: The phases of a boot, with their mean durations in seconds.
_BOOT: tuple[tuple[Phase, float], ...] = (
    (Phase.QUEUED, 2.0),
    (Phase.BOOTING, 20.0),
    (Phase.PULLING, 12.0),
    (Phase.STARTING, 3.0),
)


#: Billing models with the list price of each GPU type that has one.
_LIST_PRICES = {
    gpu.name: Billing(rate_usd_per_h=gpu.list_price_usd_per_h)
    for gpu in gpus.CATALOG
    if gpu.list_price_usd_per_h is not None
}

_CPU_NODE_PRICE = Billing(rate_usd_per_h=Decimal("0.10"))


@dataclass(frozen=True, kw_only=True)
class ProviderFaults:
    """The probabilities of faults per VM, each from 0 to 1, and their times."""

    no_capacity: float = 0.0  #: it cannot be provisioned
    slow: float = 0.0  #: its boot takes `slow_factor` times as long
    slow_factor: float = 4.0
    stuck: float = 0.0  #: its boot never ends
    vanish: float = 0.0  #: it ends on its own within `vanish_s`
    vanish_s: float = 300.0
    spot_interruptions_per_h: float = 0.0  #: how often a spot VM is preempted
    fails_after_charge: float = 0.0  #: it is created and billed, but the request for it fails
    image_bytes: float = 25e9  #: the size of the image that a new VM pulls
    bytes_per_s: float | None = None  #: the bandwidth of the pull; None to use a mean time instead
    rocm_s: float = 0.0  #: the time to prepare ROCm while the VM boots
    release_s: float = 8.0  #: the longest time that a release takes
    release_slow: float = 0.0  #: a release takes up to four times as long
    release_fails: float = 0.0  #: the request for a release fails, at most twice


NO_FAULTS = ProviderFaults()


@dataclass(kw_only=True, eq=False)
class FakeVM:
    """A VM, as seen by its provider."""

    id: str
    gpu: str
    token: str
    gpu_count: int = 1
    spot: bool = False
    billing: Billing | None = None  #: its price; None if it has the price of its type
    phase: Phase = Phase.QUEUED
    started_at: float | None = None
    ended_at: float | None = None
    detail: str = ""
    release_failures_left: int = 2
    release: asyncio.Task[None] | None = None  #: the task that ends the VM, once a release was requested
    boot: asyncio.Task[None] | None = None
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def lease(self) -> Lease:
        """Return the VM's current lease."""
        return Lease(
            vm_id=self.id,
            phase=self.phase,
            gpu=self.gpu,
            gpu_count=self.gpu_count,
            started_at=self.started_at,
            ended_at=self.ended_at,
            address=f"http://{self.id}.invalid" if self.phase is Phase.READY else None,
            detail=self.detail,
            billing=self.billing,
        )


class FakeProvider:
    """A `Provider` whose VMs exist only in memory.

    Args:
        clock: the provider's clock, which may differ from the control plane's.
        seed: determines the faults and the durations.
        faults: the probabilities of faults.
        billing: the billing model of every GPU type; None for the list price of each, by the second.
        slots: how many attempts a VM runs at the same time per GPU.
        gpu_counts: how many GPUs a VM can have; each costs as much as a VM with one.
        spot_price_ratio: the price of a spot VM relative to an on-demand VM; None if there are no spot VMs.
        max_cpu_nodes: the most CPU nodes at a time; 0 if there are none.
        offers: the prices of the offers relative to the billing model, each up to 1, of which a VM gets one;
            empty if all VMs have the price of the billing model.

    Example:
        >>> provider = FakeProvider(clock=clock, faults=ProviderFaults(no_capacity=0.5))
        >>> leases = [lease async for lease in provider.provision("vm_1", "MI300X", "token")]
        >>> leases[-1].phase
        <Phase.READY: 'ready'>
    """

    name = "simulated"
    toolchain: str | None = None
    simulated = False
    vms_outlive_service = True
    foreign_vms: Sequence[ForeignVM] = ()
    max_vms: int | None = None

    def __init__(
        self,
        *,
        clock: Clock,
        seed: int = 0,
        faults: ProviderFaults = NO_FAULTS,
        billing: Billing | None = None,
        slots: int = 1,
        gpu_counts: Sequence[int] = (1,),
        spot_price_ratio: Decimal | None = None,
        max_cpu_nodes: int = 0,
        offers: Sequence[Decimal] = (),
    ) -> None:
        self._billing = billing
        self.max_cpu_nodes = max_cpu_nodes
        self.spot_price_ratio = spot_price_ratio  #: may be changed before the first VM
        self._slots = slots
        self._gpu_counts = tuple(gpu_counts)
        self._offers = tuple(offers)
        self.faults = faults  #: may be changed at any time
        self.vms: dict[str, FakeVM] = {}  #: every VM ever created
        #: Returns why no VM with this GPU type can be provisioned; None if one can.
        self.refuses: Callable[[str], ProviderError | None] = lambda _: None
        self.on_create: Callable[[FakeVM], None] = lambda _: None
        self.on_ready: Callable[[FakeVM], None] = lambda _: None
        self.on_end: Callable[[FakeVM], None] = lambda _: None
        self._clock = clock
        self._random = random.Random(f"cloud {seed}")  # noqa: S311 - must be reproducible
        # Drawn apart, so that the rest is the same with and without offers.
        self._price_draws = random.Random(f"offers {seed}")  # noqa: S311 - must be reproducible
        # Tasks of the cloud continue when the process that started them crashes.
        self._context = contextvars.copy_context()

    def gpu_counts(self, gpu: str) -> tuple[int, ...]:
        """Return the VM sizes that were set at creation; CPU nodes have a single size."""
        return (1,) if gpu == gpus.CPU_NODE else self._gpu_counts

    def billing(self, gpu: str, gpu_count: int = 1) -> Billing:
        """Return the billing model that was set at creation, or one with the GPU type's list price."""
        billing = _CPU_NODE_PRICE if gpu == gpus.CPU_NODE else self._billing or _LIST_PRICES[gpu]
        return replace(billing, rate_usd_per_h=billing.rate_usd_per_h * gpu_count)

    def spot_billing(self, gpu: str, gpu_count: int = 1) -> Billing | None:
        """Return the billing model of a spot VM, with the ratio that was set at creation."""
        if self.spot_price_ratio is None or gpu == gpus.CPU_NODE:
            return None
        billing = self.billing(gpu, gpu_count)
        return replace(billing, rate_usd_per_h=billing.rate_usd_per_h * self.spot_price_ratio)

    def provision_spot(self, vm_id: str, gpu: str, token: str, *, gpu_count: int = 1) -> AsyncIterator[Lease]:
        """Provision a spot VM, which is preempted as set by `ProviderFaults.spot_interruptions_per_h`."""
        return self._provision(FakeVM(id=vm_id, gpu=gpu, token=token, gpu_count=gpu_count, spot=True))

    def typical_boot_s(self, gpu: str) -> float:  # noqa: ARG002 - all GPU types boot alike
        """Return the mean time of a boot without faults."""
        return sum(seconds for _, seconds in _BOOT)

    def slots(self, gpu: str, gpu_count: int = 1) -> int:  # noqa: ARG002 - all GPU types are alike
        """Return the number of slots, as set at creation."""
        return self._slots * gpu_count

    async def check_ready(self, gpu: str) -> None:
        """Do nothing, because only `provision` fails."""

    async def provision(
        self, vm_id: str, gpu: str, token: str, *, gpu_count: int = 1
    ) -> AsyncIterator[Lease]:
        """Provision a VM, or follow the boot of the VM with this id, and yield its lease at each change.

        Raises:
            ProviderError: there is no capacity, or the VM ended during its boot.
        """
        async for lease in self._provision(FakeVM(id=vm_id, gpu=gpu, token=token, gpu_count=gpu_count)):
            yield lease

    async def _provision(self, requested: FakeVM) -> AsyncIterator[Lease]:
        vm = self.vms.get(requested.id) or self._create(requested)
        while True:
            changed = vm.changed
            lease = vm.lease()
            if lease.phase is Phase.ENDED:
                raise ProviderError(f"{vm.id} ended during its boot: {vm.detail}")
            yield lease
            if lease.phase is Phase.READY:
                return
            if vm.changed is changed:
                await changed.wait()

    async def release(self, vm_id: str) -> Lease:
        """End the VM and return its final lease; a VM that is unknown or has ended is not an error.

        Raises:
            ProviderError: the request failed, as set by `ProviderFaults.release_fails`.
        """
        vm = self.vms.get(vm_id)
        if vm is None:
            return Lease(vm_id=vm_id, phase=Phase.ENDED, detail="unknown VM")
        if vm.phase is Phase.ENDED:
            return vm.lease()
        if vm.release is None:
            if vm.release_failures_left and self._random.random() < self.faults.release_fails:
                vm.release_failures_left -= 1
                raise ProviderError(f"the request to release {vm_id} failed")
            slow = 4 if self._random.random() < self.faults.release_slow else 1
            after_s = slow * self.faults.release_s * self._random.random()
            vm.release = self.spawn(self._end_after(vm, after_s, "released"))
        await asyncio.shield(vm.release)
        return vm.lease()

    def end_command(self, machine_id: str | None) -> str:  # noqa: ARG002 - see below
        """Return a note instead of a command, because fake VMs have no machines."""
        return "nothing to end: this VM is simulated"

    async def describe(self, vm_id: str) -> Lease | None:
        """Return the lease of a VM, even after its end; None if it is unknown."""
        vm = self.vms.get(vm_id)
        return vm.lease() if vm else None

    async def leases(self) -> list[Lease]:
        """Return the leases of all VMs that have not ended."""
        return [vm.lease() for vm in self.alive()]

    async def close(self) -> None:
        """Do nothing: there is nothing to release."""

    def add_unknown_vm(self, vm_id: str) -> None:
        """Add a ready VM that is unknown to the control plane."""
        vm = FakeVM(id=vm_id, gpu=gpus.MI300X.name, token="", started_at=self._clock.now())
        self._add(vm)
        self._enter(vm, Phase.READY)
        self.on_ready(vm)

    def alive(self) -> list[FakeVM]:
        """Return the VMs that have not ended."""
        return [vm for vm in self.vms.values() if vm.phase is not Phase.ENDED]

    def bill_usd(self, vm_id: str) -> Decimal:
        """Return the cost of this VM so far."""
        vm = self.vms[vm_id]
        if vm.started_at is None:
            return Decimal(0)
        until = self._clock.now() if vm.ended_at is None else vm.ended_at
        billing = vm.billing or self._type_billing(vm)
        return billing.cost_usd(max(0.0, until - vm.started_at))

    def _type_billing(self, vm: FakeVM) -> Billing:
        spot = self.spot_billing(vm.gpu, vm.gpu_count) if vm.spot else None
        return spot or self.billing(vm.gpu, vm.gpu_count)

    def spent_usd(self) -> Decimal:
        """Return the cost of all VMs so far."""
        return sum((self.bill_usd(vm_id) for vm_id in self.vms), Decimal(0))

    def end(self, vm: FakeVM, why: str) -> None:
        """End the VM now."""
        if vm.phase is Phase.ENDED:
            return
        vm.ended_at = self._clock.now()
        if vm.boot is not None:
            vm.boot.cancel()
        vm.detail = why
        self._enter(vm, Phase.ENDED)
        self.on_end(vm)

    def spawn(self, coro: Coroutine[None, None, None]) -> asyncio.Task[None]:
        """Start a task that belongs to the cloud instead of the calling process."""
        return asyncio.get_running_loop().create_task(coro, context=self._context.copy())

    def _create(self, vm: FakeVM) -> FakeVM:
        refused = self.refuses(vm.gpu)
        if refused is not None:
            raise refused
        if self._random.random() < self.faults.no_capacity:
            raise ProviderError("No VM is available now.", kind=FailureKind.NO_CAPACITY)
        self._add(vm)
        self.on_create(vm)
        vm.boot = self.spawn(self._boot(vm))
        if self._random.random() < self.faults.vanish:
            after_s = self._random.random() * self.faults.vanish_s
            self.spawn(self._end_after(vm, after_s, "reclaimed by the cloud"))
        if vm.spot and self.faults.spot_interruptions_per_h:
            after_s = self._random.expovariate(self.faults.spot_interruptions_per_h / 3600)
            self.spawn(self._end_after(vm, after_s, "the spot VM was preempted"))
        if self.faults.fails_after_charge and self._random.random() < self.faults.fails_after_charge:
            raise ProviderError("the request failed after the VM was created")
        return vm

    def _add(self, vm: FakeVM) -> None:
        """Add a VM, at the price of one of the offers."""
        if self._offers:
            billing, ratio = self._type_billing(vm), self._price_draws.choice(self._offers)
            vm.billing = replace(billing, rate_usd_per_h=billing.rate_usd_per_h * ratio)
        self.vms[vm.id] = vm

    async def _boot(self, vm: FakeVM) -> None:
        faults = self.faults
        factor = faults.slow_factor if self._random.random() < faults.slow else 1.0
        stuck_in = self._random.randrange(len(_BOOT)) if self._random.random() < faults.stuck else None
        for number, (phase, seconds) in enumerate(_BOOT):
            if phase is Phase.BOOTING:
                vm.started_at = self._clock.now()
            self._enter(vm, phase)
            if number == stuck_in:
                return
            await asyncio.sleep(factor * self._phase_s(phase, seconds))
        self._enter(vm, Phase.READY)
        self.on_ready(vm)

    def _phase_s(self, phase: Phase, mean_s: float) -> float:
        """Return the duration of a phase: for a pull, size over bandwidth; for others, about their mean."""
        seconds = mean_s * (0.5 + self._random.random())
        if phase is Phase.PULLING and self.faults.bytes_per_s is not None:
            return self.faults.image_bytes / self.faults.bytes_per_s
        return seconds + (self.faults.rocm_s if phase is Phase.BOOTING else 0.0)

    async def _end_after(self, vm: FakeVM, seconds: float, why: str) -> None:
        await asyncio.sleep(seconds)
        self.end(vm, why)

    @staticmethod
    def _enter(vm: FakeVM, phase: Phase) -> None:
        vm.phase = phase
        vm.changed.set()
        vm.changed = asyncio.Event()
