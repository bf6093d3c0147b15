"""The provider interface: lease, describe and end VMs, each identified by an id that the caller chooses.

Every call is idempotent: it can be repeated after a crash or a timeout. A provider knows nothing about
submissions and makes no decisions.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from warmfront.money.billing import actual_billing
from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from warmfront.money.billing import Billing
    from warmfront.providers.ownership import ForeignVM
    from warmfront.vm import VMInstance


class Phase(StrEnum):
    """The phases of a VM's provisioning."""

    QUEUED = "queued"  #: the provider has accepted the request
    BOOTING = "booting"  #: the machine is booting
    PULLING = "pulling"  #: the machine is pulling its image
    STARTING = "starting"  #: the listener is starting
    READY = "ready"  #: the listener has an address
    ENDED = "ended"  #: the VM no longer exists and is no longer billed


@dataclass(frozen=True, kw_only=True)
class Lease:
    """A VM according to its provider. Times are the provider's own, in seconds since 1970."""

    vm_id: str
    phase: Phase
    #: GPU type of the VM, or `gpus.CPU_NODE`; None if the provider has no record of it.
    gpu: str | None = None
    gpu_count: int = 1  #: the number of GPUs
    started_at: float | None = None  #: start of the billed interval
    ended_at: float | None = None  #: end of the billed interval
    ended_after: float | None = None  #: set if the end is known only to be between this and `ended_at`
    #: For an ENDED lease: whether the cloud itself no longer has the machine, as far as the provider knows.
    end_confirmed: bool = True
    machine_id: str | None = None  #: the cloud's own id of the machine, for display
    address: str | None = None  #: base URL of the listener; set from READY on
    detail: str = ""  #: explanation for display, such as why the VM ended
    billing: Billing | None = None  #: the price of this VM; None if the provider has not reported it


class Provider(Protocol):
    """A source of VMs.

    The orchestrator chooses the id of a VM, provisions it, and later releases it::

        async for lease in provider.provision("vm_1a2b", "MI300X", token):
            print(lease.phase)  # queued, booting, pulling, starting, ready
        ...
        lease = await provider.release("vm_1a2b")
        billing = provider.billing("MI300X")
        print(billing.cost_usd(lease.ended_at - lease.started_at))

    Implementations: `providers/local/` and `providers/dstack/`; `warmfront.testing` has one in virtual time.
    """

    name: str
    #: The toolchain that the listeners of its VMs must report; None if the provider does not choose it.
    toolchain: str | None
    simulated: bool  #: whether its VMs have no GPU; results and costs are then marked as simulated
    #: The foreign VMs that the last call of `leases` found; shown to operators.
    foreign_vms: Sequence[ForeignVM]
    #: Whether VMs keep running when the service stops; otherwise an orderly stop of the service ends them.
    vms_outlive_service: bool
    #: The most VMs that it can have at a time, such as the nodes of a fleet; None if it has no limit.
    max_vms: int | None

    def gpu_counts(self, gpu: str) -> Sequence[int]:
        """Return how many GPUs of this type a VM can have, in ascending order, such as 1 and 8."""

    def billing(self, gpu: str, gpu_count: int = 1) -> Billing:
        """Return the billing model of a VM with this many GPUs of this type.

        If offers have different prices, this is the highest that is accepted. `Lease.billing` then has the
        price of each VM.

        Raises:
            BadSetting: There is no price for this GPU type.
        """

    def typical_boot_s(self, gpu: str) -> float:
        """Return the initial estimate of the provisioning time of a VM with this GPU type."""

    def slots(self, gpu: str, gpu_count: int = 1) -> int:
        """Return how many attempts such a VM is expected to judge at once, each on its own GPU.

        The listener reports the actual number when it is ready: a partitioned GPU has several slots.
        """

    async def check_ready(self, gpu: str) -> None:
        """Check whether a VM with this GPU type can be requested.

        The check is free, and avoids requesting a VM that could not be used.

        Raises:
            ProviderError: A VM would fail to provision; the error's `kind` is the reason.
        """

    def provision(self, vm_id: str, gpu: str, token: str, *, gpu_count: int = 1) -> AsyncIterator[Lease]:
        """Lease a VM, or resume waiting for the VM with this id, and yield a lease at each change.

        Args:
            vm_id: The caller's id for the VM. Repeating a call with the same id never creates a second VM.
            gpu: The GPU type, by its name in `warmfront.gpus`.
            token: The bearer token that the VM's listener must require.
            gpu_count: The number of GPUs.

        Yields:
            The lease after each change of phase; the last one is READY.

        Raises:
            ProviderError: The VM cannot be provisioned, or ended before it was ready. The error's `kind`
                determines whether to wait, to request another VM, or to wait for the operator.
        """

    async def release(self, vm_id: str) -> Lease:
        """End the VM and return when the provider has confirmed its end.

        Returns immediately if the VM has ended or never existed.

        Args:
            vm_id: The id with which the VM was provisioned.

        Returns:
            The ENDED lease with the billed interval.

        Raises:
            WarmfrontError: The provider could not be reached; the VM may still exist, so call again.
        """

    def end_command(self, machine_id: str | None) -> str:
        """Return how an operator can end a machine that the provider fails to end.

        This is a shell command, if there is one, or an instruction in words.
        """

    async def describe(self, vm_id: str) -> Lease | None:
        """Return the VM with this id, even if it has ended; None if the provider never had it.

        Raises:
            WarmfrontError: The provider could not be reached.
        """

    async def leases(self) -> list[Lease]:
        """Return all VMs of this service that have not ended, and no foreign VMs.

        Raises:
            WarmfrontError: The provider could not be reached.
        """

    async def close(self) -> None:
        """Close connections to the provider. VMs keep running."""


@runtime_checkable
class SpotProvider(Protocol):
    """The additional methods of a provider with spot VMs, which the cloud may preempt."""

    def spot_billing(self, gpu: str, gpu_count: int = 1) -> Billing | None:
        """Return the billing model of a spot VM with this many GPUs of this type; None if there are none."""

    def provision_spot(self, vm_id: str, gpu: str, token: str, *, gpu_count: int = 1) -> AsyncIterator[Lease]:
        """Lease a spot VM, as `Provider.provision` leases an on-demand VM."""


@runtime_checkable
class CpuNodeProvider(Protocol):
    """The additional attribute of a provider with CPU nodes, whose GPU type is `gpus.CPU_NODE`."""

    #: The most CPU nodes that it can have at a time. They do not count against `max_vms`. 0 if it has none.
    max_cpu_nodes: int


def max_cpu_nodes(provider: Provider) -> int:
    """Return how many CPU nodes a provider can have at a time; 0 if it has none."""
    return provider.max_cpu_nodes if isinstance(provider, CpuNodeProvider) else 0


def spot_billing(provider: Provider, gpu: str, gpu_count: int = 1) -> Billing | None:
    """Return the billing model of a provider's spot VMs with this many GPUs; None if there are none."""
    return provider.spot_billing(gpu, gpu_count) if isinstance(provider, SpotProvider) else None


def billing_of(provider: Provider, vm: VMInstance) -> Billing:
    """Return the billing model of a VM: with its own price, or that of a spot VM or an on-demand VM."""
    spot = spot_billing(provider, vm.gpu, vm.gpu_count) if vm.spot else None
    return actual_billing(vm, spot or provider.billing(vm.gpu, vm.gpu_count))


def locate(vm: VMInstance, lease: Lease, *, started_at: float | None, address: str | None) -> VMInstance:
    """Return the VM with what its lease reports: start, address, the cloud's id, and price."""
    vm = vm.locate(started_at=started_at, address=address, machine_id=lease.machine_id)
    if lease.billing is None:
        return vm
    return vm.record_price(lease.billing.rate_usd_per_h, lease.billing.minimum_s)


def provision(provider: Provider, vm: VMInstance, token: str) -> AsyncIterator[Lease]:
    """Lease a spot VM or an on-demand VM, or resume waiting for it."""
    if vm.spot and isinstance(provider, SpotProvider):
        return provider.provision_spot(vm.id, vm.gpu, token, gpu_count=vm.gpu_count)
    return provider.provision(vm.id, vm.gpu, token, gpu_count=vm.gpu_count)
