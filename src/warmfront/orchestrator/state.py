"""What the orchestrator has in memory of each VM and each unfinished submission.

The store has it too, but for what is under way this very moment; after a crash it is made again from there.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from warmfront.store.records import AttemptRecord
    from warmfront.submission import Submission
    from warmfront.vm import VMInstance


@dataclass(kw_only=True, eq=False)
class Machine:
    """A VM that is not over."""

    vm: VMInstance
    slots: int
    running: dict[str, Track] = field(default_factory=dict)  #: by attempt
    #: Orders this VM's transitions in the store. Held while one is written, never while anyone else is asked.
    writing: asyncio.Lock = field(default_factory=asyncio.Lock)
    going: bool = False  #: it is being released, or about to be: it takes nothing more
    gone: asyncio.Event = field(default_factory=asyncio.Event)  #: its end is confirmed and stored

    @property
    def takes_more(self) -> bool:
        """Whether an attempt can be put on it now."""
        return not self.going and self.vm.ready_at is not None and len(self.running) < self.slots


@dataclass(kw_only=True, eq=False)
class Track:
    """A submission on its way to its verdict."""

    record: Submission
    attempt: AttemptRecord | None = None
    machine: Machine | None = None
    lost: int = 0  #: attempts that infrastructure lost
    cancel: bool = False  #: its owner wants it stopped
    over: asyncio.Event = field(default_factory=asyncio.Event)  #: it has its verdict

    @property
    def id(self) -> str:
        """The submission's."""
        return self.record.id

    @property
    def owner(self) -> str:
        """Whose it is."""
        return self.record.owner
