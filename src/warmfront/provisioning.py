"""The kinds of provisioning failures, which decide what happens next, and the state of a GPU type."""

from __future__ import annotations

from enum import StrEnum

from warmfront.value_class import dataclass


class FailureKind(StrEnum):
    """The reason why a VM could not be provisioned."""

    NO_CAPACITY = "NO_CAPACITY"  #: the cloud has no such VM available
    FLEET_FULL = "FLEET_FULL"  #: the fleet has its maximum number of VMs
    NO_QUOTA = "NO_QUOTA"  #: the cloud account has reached its quota
    NO_OFFERS = "NO_OFFERS"  #: no backend lists such a VM at any price
    UNREACHABLE = "UNREACHABLE"  #: the provider does not respond

    DENIED = "DENIED"  #: the cloud refuses the key or the action
    NO_CREDITS = "NO_CREDITS"  #: the cloud account has no credits left
    TOO_EXPENSIVE = "TOO_EXPENSIVE"  #: such a VM costs more than the hourly rate
    NO_FLEET = "NO_FLEET"  #: the fleet does not exist
    NO_BACKEND = "NO_BACKEND"  #: the project does not have the backend

    BAD_IMAGE = "BAD_IMAGE"  #: the image cannot be pulled, or its container cannot be created
    NO_SSH = "NO_SSH"  #: this machine cannot reach VMs through SSH
    WRONG_VM = "WRONG_VM"  #: the VM differs from its lease
    WORKER_FAILED = "WORKER_FAILED"  #: the worker ended before its listener responded

    UNHEALTHY = "UNHEALTHY"  #: the GPU of this VM does not work
    OTHER = "OTHER"

    @property
    def is_shortage(self) -> bool:
        """Whether the failure is temporary and costs nothing, so that submissions wait."""
        return self in _SHORTAGES

    @property
    def repeats(self) -> bool:
        """Whether the next VM, which would be billed as well, would fail for the same reason."""
        return self in _REPEATING


_SHORTAGES = frozenset(
    {
        FailureKind.NO_CAPACITY,
        FailureKind.FLEET_FULL,
        FailureKind.NO_QUOTA,
        FailureKind.NO_OFFERS,
        FailureKind.UNREACHABLE,
    }
)
_REPEATING = frozenset(
    {FailureKind.BAD_IMAGE, FailureKind.NO_SSH, FailureKind.WRONG_VM, FailureKind.WORKER_FAILED}
)


@dataclass(frozen=True, kw_only=True)
class ProvisioningProblem:
    """The reason why no VM of a GPU type is being provisioned. Times are seconds since 1970."""

    gpu: str
    is_open: bool  #: whether a circuit breaker is open, so that submissions fail; otherwise they wait
    kind: FailureKind
    reason: str
    hint: str  #: what the operator can do
    since: float
    retry_at: float  #: when a VM is requested again
    failures: int  #: VMs that failed since then
