"""What a provider of VMs is: it leases, describes and ends them, each known by our id.

Every call may be made again after a crash or a time-out, with the same effect as once. A provider knows
nothing of submissions and decides nothing: it does what it is asked and says what is.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from warmfront.money.billing import Billing


class Phase(StrEnum):
    """How far a VM has come."""

    QUEUED = "queued"  #: the provider knows that we want it
    BOOTING = "booting"  #: the machine starts
    PULLING = "pulling"  #: it loads what it needs
    STARTING = "starting"  #: the listener starts
    READY = "ready"  #: the listener has an address
    ENDED = "ended"  #: it is gone, and nothing more is billed


@dataclass(frozen=True, kw_only=True)
class Lease:
    """A VM as its provider sees it. Times are the provider's own, in seconds since 1970."""

    vm_id: str
    phase: Phase
    started_at: float | None = None  #: from when it is billed
    ended_at: float | None = None  #: until when
    address: str | None = None  #: base URL of the listener, from READY on
    detail: str = ""  #: in words, such as why it ended


class Provider(Protocol):
    """A source of VMs."""

    name: str
    simulated: bool  #: its VMs stand in for the GPU; what they cost is shown as simulated
    billing: Billing
    typical_boot_s: float  #: until boots were seen, the best guess
    slots: int  #: attempts that a VM takes at once: 1, or 2 where the next compiles while one runs

    def provision(self, vm_id: str, gpu: str, token: str) -> AsyncIterator[Lease]:
        """Lease a VM, or go on with the one of this id; a lease at each change, READY last.

        `token` is the listener's. Raises `ProviderError` where it cannot be had or ended on the way.
        """

    async def release(self, vm_id: str) -> Lease:
        """End it, and return when the end is confirmed; what is gone already is confirmed at once."""

    async def describe(self, vm_id: str) -> Lease | None:
        """The VM of this id, also when it ended; None if the provider never had it."""

    async def leases(self) -> list[Lease]:
        """Every VM of ours that is not ENDED."""

    async def close(self) -> None:
        """Let go of connections. VMs live on."""
