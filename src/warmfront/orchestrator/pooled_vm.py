"""A VM of the pool with the attempts on it, and a VM that failed to provision: data without decisions."""

from __future__ import annotations

import asyncio
from dataclasses import field
from typing import TYPE_CHECKING

from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from warmfront.orchestrator.submission_lifecycle import ActiveSubmission
    from warmfront.providers.base import Phase
    from warmfront.provisioning import FailureKind
    from warmfront.vm import VMInstance


@dataclass(kw_only=True, eq=False)
class PooledVM:
    """A VM that has not ended, and the attempts that run on it."""

    vm: VMInstance
    running: dict[str, ActiveSubmission] = field(default_factory=dict)  #: by attempt id
    #: When each attempt began, by attempt id; an assigned attempt has not begun until it is stored.
    begun: dict[str, float] = field(default_factory=dict)
    failed_slots: frozenset[int] = frozenset()  #: as last reported by its listener
    #: Orders this VM's transitions in the store. Held during a write, never during a network request.
    writing: asyncio.Lock = field(default_factory=asyncio.Lock)
    releasing: bool = False  #: it is being ended and takes no more attempts
    interrupted: bool = False  #: an operator ends it, so its attempts do not count as lost
    draining: bool = False  #: it takes no more attempts while a larger VM would be better; see the autoscaler
    boot: asyncio.Task[None] | None = None  #: the task that provisions it; None if it was added ready
    phase: Phase | None = None  #: the phase of its boot that was last reported
    not_asked_until: float = 0.0  #: when its provider was last unavailable
    unwanted_since: float | None = None  #: the time since which no submission has waited for its boot
    overdue: bool = False  #: it has not ended within the stop lag, and no longer counts against the limit
    answered_at: float | None = None  #: when its listener last answered a heartbeat
    ended: asyncio.Event = field(default_factory=asyncio.Event)  #: set when its end is confirmed and stored

    @property
    def accepts_attempts(self) -> bool:
        """Whether another attempt can be assigned to this VM."""
        used = len(self.running) + len(self.failed_slots)
        ready = self.vm.ready_at is not None and not self.draining and not self.is_leaving
        return ready and used < self.vm.slots

    @property
    def is_leaving(self) -> bool:
        """Whether the VM is being ended, or will be when its attempts have ended."""
        return self.releasing or self.vm.draining

    @property
    def is_free(self) -> bool:
        """Whether the VM is ready, runs nothing and is not being released."""
        return not self.running and self.accepts_attempts

    def free_slot(self) -> int:
        """Return the number of the first slot that can take an attempt; `accepts_attempts` must be true."""
        used = {active.attempt.slot for active in self.running.values() if active.attempt is not None}
        return next(slot for slot in range(self.vm.slots) if slot not in used | self.failed_slots)

    def remove(self, attempt_id: str) -> None:
        """Remove an attempt that ended or was withdrawn, which frees its slot."""
        self.running.pop(attempt_id, None)
        self.begun.pop(attempt_id, None)

    def remove_all(self) -> None:
        """Remove every attempt."""
        self.running.clear()
        self.begun.clear()


@dataclass(frozen=True, kw_only=True)
class BootFailure:
    """A VM that failed to provision."""

    gpu: str
    kind: FailureKind
    reason: str
    hint: str  #: what the operator can do
    requested_at: float
    gpu_count: int = 1  #: how many GPUs were requested
    spot: bool = False  #: whether a spot VM was requested
