"""A leased machine: what it is, which state it is in, and which way it may go.

Values only: the orchestrator decides, the store keeps, providers lease.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum


class VMState(StrEnum):
    """Where a VM is in its life. PROVISIONING → WARM → BUSY ⇄ IDLE → SHUTTING_DOWN → TERMINATED."""

    PROVISIONING = "PROVISIONING"  #: asked for, not answering yet
    WARM = "WARM"  #: ready and never used
    BUSY = "BUSY"  #: a submission runs on it
    IDLE = "IDLE"  #: was used, waits for the next
    SHUTTING_DOWN = "SHUTTING_DOWN"  #: its end was asked for and is not confirmed yet
    TERMINATED = "TERMINATED"  #: the provider confirmed its end
    FAILED = "FAILED"  #: it never came, or was lost; its end is confirmed too

    @property
    def is_over(self) -> bool:
        """Whether nothing more is spent on it."""
        return self in {VMState.TERMINATED, VMState.FAILED}

    @property
    def is_free(self) -> bool:
        """Whether it can take a submission now."""
        return self in {VMState.WARM, VMState.IDLE}


@dataclass(frozen=True, kw_only=True)
class VMInstance:
    """One VM as the store keeps it. Times are seconds since 1970, UTC."""

    id: str  #: ours, unique for ever; the provider knows the VM by it
    provider: str
    gpu: str
    state: VMState
    created_at: float  #: when we asked for it
    started_at: float | None = None  #: from when the provider bills it; None until it says
    ready_at: float | None = None  #: when its listener first answered
    deadline_at: float | None = None  #: when it is released if nothing more comes
    ended_at: float | None = None  #: the end that the provider confirmed
    address: str | None = None  #: base URL of its listener
    simulated: bool = False  #: it stands in for the GPU, and its dollars are no dollars
    escrow_usd: Decimal = Decimal(0)  #: the most that it may come to, over its whole life
    metered_until: float | None = None  #: the ledger has its intervals up to here
    boots_for: str | None = None  #: the submission that it was asked for
    tasks_done: int = 0
    reason: str = ""  #: why it is kept, is ending or ended

    def becomes(self, **changes: object) -> VMInstance:
        """The same VM with these changes, in a tenth of the time of `replace`: it changes with every task."""
        if not changes.keys() <= self.__dict__.keys():
            raise TypeError(f"a VM has no {', '.join(changes.keys() - self.__dict__.keys())}")
        other = object.__new__(VMInstance)
        other.__dict__.update(self.__dict__, **changes)
        return other
