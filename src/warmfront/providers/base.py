"""The provider interface: lease, describe and end VMs, each identified by an id that the caller chooses.

Every call is idempotent: after a crash or a timeout it can be repeated with the same effect as once. A
provider knows nothing about submissions and makes no decisions of its own.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from warmfront.money.billing import Billing
    from warmfront.providers.ownership import ForeignVM
    from warmfront.vm import VMInstance


class Phase(StrEnum):
    """How far a VM's provisioning has got."""

    QUEUED = "queued"  #: the provider has accepted the request
    BOOTING = "booting"  #: the machine boots
    PULLING = "pulling"  #: the machine pulls its image
    STARTING = "starting"  #: the listener starts
    READY = "ready"  #: the listener has an address
    ENDED = "ended"  #: the VM no longer exists and is no longer billed


@dataclass(frozen=True, kw_only=True)
class Lease:
    """A VM according to its provider. Times are the provider's own, in seconds since 1970."""

    vm_id: str
    phase: Phase
    gpu: str | None = None  #: GPU type of the VM; None if the provider has no record of it
    gpu_count: int = 1  #: how many of them it has
    started_at: float | None = None  #: start of the billed interval
    ended_at: float | None = None  #: end of the billed interval
    ended_after: float | None = None  #: the end is known only to lie between this and `ended_at`
    #: Of an ENDED lease: whether the cloud itself no longer has the machine, as far as the provider can know.
    end_confirmed: bool = True
    machine_id: str | None = None  #: the cloud's own id of the machine, for people
    address: str | None = None  #: base URL of the listener; set from READY on
    detail: str = ""  #: explanation for people, such as why the VM ended


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
    #: The VMs of others that the last call of `leases` found; shown to operators.
    foreign_vms: Sequence[ForeignVM]
    #: Whether VMs keep running when the service stops; otherwise an orderly stop of the service ends them.
    vms_outlive_service: bool
    #: The most VMs that it can have at a time, such as the nodes of a fleet; None: no limit of its own.
    max_vms: int | None

    def gpu_counts(self, gpu: str) -> Sequence[int]:
        """Return how many GPUs of this type a VM can have, in ascending order, such as 1 and 8."""

    def billing(self, gpu: str, gpu_count: int = 1) -> Billing:
        """Return how a VM with this many GPUs of this type is billed.

        Raises:
            BadSetting: There is no price for this GPU type.
        """

    def typical_boot_s(self, gpu: str) -> float:
        """Return the expected provisioning time of a VM with this GPU type, until boots were measured."""

    def slots(self, gpu: str, gpu_count: int = 1) -> int:
        """Return how many attempts such a VM is expected to judge at once, each on a GPU of its own.

        Its listener reports the number when it is ready: a GPU that is partitioned has several slots.
        """

    async def check_ready(self, gpu: str) -> None:
        """Check what can be known before a VM with this GPU type is requested.

        It costs nothing, so that a VM that could not be used is not requested.

        Raises:
            ProviderError: A VM would not be provisioned; its `kind` says why.
        """

    def provision(self, vm_id: str, gpu: str, token: str, *, gpu_count: int = 1) -> AsyncIterator[Lease]:
        """Lease a VM, or resume waiting for the VM with this id, and yield a lease at each change.

        Args:
            vm_id: The caller's id for the VM. Repeating a call with the same id never creates a second VM.
            gpu: The GPU type, by its name in `warmfront.gpus`.
            token: The bearer token that the VM's listener must require.
            gpu_count: How many GPUs it has.

        Yields:
            The lease after each change of phase; the last one is READY.

        Raises:
            ProviderError: The VM cannot be provisioned, or ended before it was ready; its `kind` says
                whether to wait, to request another VM, or to wait for the operator.
        """

    async def release(self, vm_id: str) -> Lease:
        """End the VM and return when the provider has confirmed its end.

        Returns at once if the VM has ended or never existed.

        Args:
            vm_id: The id that the VM was provisioned with.

        Returns:
            The ENDED lease with the billed interval.

        Raises:
            WarmfrontError: The provider could not be reached; the VM may still exist, so call again.
        """

    def end_command(self, machine_id: str | None) -> str:
        """Return how an operator ends a machine that the provider fails to end, by its id in the cloud."""

    async def describe(self, vm_id: str) -> Lease | None:
        """Return the VM with this id, even if it has ended; None if the provider never had it.

        Raises:
            WarmfrontError: The provider could not be reached.
        """

    async def leases(self) -> list[Lease]:
        """Return all of our VMs that have not ended, and none of another service.

        Raises:
            WarmfrontError: The provider could not be reached.
        """

    async def close(self) -> None:
        """Close connections to the provider. VMs keep running."""


@runtime_checkable
class SpotProvider(Protocol):
    """What a provider has in addition if its VMs can be spot VMs, which the cloud may take back."""

    def spot_billing(self, gpu: str, gpu_count: int = 1) -> Billing | None:
        """Return how a spot VM with this many GPUs of this type is billed; None if there are none."""

    def provision_spot(self, vm_id: str, gpu: str, token: str, *, gpu_count: int = 1) -> AsyncIterator[Lease]:
        """Lease a spot VM, as `Provider.provision` leases one on demand."""


def spot_billing(provider: Provider, gpu: str, gpu_count: int = 1) -> Billing | None:
    """Return how a provider's spot VMs with this many GPUs are billed; None if there are none."""
    return provider.spot_billing(gpu, gpu_count) if isinstance(provider, SpotProvider) else None


def billing_of(provider: Provider, vm: VMInstance) -> Billing:
    """Return how a VM is billed: as a spot VM or as one on demand."""
    spot = spot_billing(provider, vm.gpu, vm.gpu_count) if vm.spot else None
    return spot or provider.billing(vm.gpu, vm.gpu_count)


def provision(provider: Provider, vm: VMInstance, token: str) -> AsyncIterator[Lease]:
    """Lease a VM, or resume waiting for it: a spot VM or one on demand."""
    if vm.spot and isinstance(provider, SpotProvider):
        return provider.provision_spot(vm.id, vm.gpu, token, gpu_count=vm.gpu_count)
    return provider.provision(vm.id, vm.gpu, token, gpu_count=vm.gpu_count)
