"""Looks into what was submitted, some at a time and fair between owners, before any VM is thought of.

What the target's compiler refuses ends here, with nothing spent. It knows nothing of VMs.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from warmfront.events import Xray
from warmfront.orchestrator.queue import FairQueue
from warmfront.orchestrator.verdicts import cancelled, does_not_compile
from warmfront.store import log as stored
from warmfront.submission import Submission
from warmfront.verdicts import Endpoint

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from warmfront.clock import Clock
    from warmfront.events import Failed
    from warmfront.orchestrator.journal import Journal
    from warmfront.orchestrator.sources import Sources
    from warmfront.orchestrator.state import Track

log = logging.getLogger(__name__)

#: The X-ray of a submission's source.
Examine = Callable[[Submission, str], Awaitable[Xray]]

#: X-rays at once: each keeps a core busy.
AT_ONCE = 2


@dataclass(kw_only=True)
class Admissions:
    """Those who wait for their X-ray."""

    examine: Examine
    journal: Journal
    sources: Sources
    clock: Clock
    finish: Callable[[Track, Failed | Xray], Awaitable[None]]  #: it has its verdict already
    admitted: Callable[[Track], None]  #: it may have a VM
    changed: Callable[[], None]
    waiting: FairQueue = field(default_factory=FairQueue)
    _tracks: dict[str, Track] = field(default_factory=dict)
    _under_way: int = 0

    def add(self, track: Track) -> None:
        """Let it wait for its turn."""
        self._tracks[track.id] = track
        self.waiting.push(track.owner, track.id)
        self.changed()

    def remove(self, submission_id: str) -> bool:
        """Take it out; whether it was still waiting."""
        return self.waiting.remove(submission_id) and self._tracks.pop(submission_id, None) is not None

    def due(self) -> list[Coroutine[object, object, None]]:
        """What can be begun now."""
        work = []
        while self._under_way < AT_ONCE and (submission_id := self.waiting.pop()):
            self._under_way += 1
            work.append(self._admit(self._tracks.pop(submission_id)))
        return work

    async def _admit(self, track: Track) -> None:
        """X-ray it, and send it on or back."""
        try:
            code, problem_def = await self.sources.of(track.id)
            seen = await self._look_into(track.record, code)
        finally:
            self._under_way -= 1
            self.waiting.done(track.owner)
            self.changed()
        if track.record.endpoint == Endpoint.XRAY:
            await self.finish(track, seen)
            return
        # A problem that came along is unknown here: its judge has the last word on what compiles.
        if seen.compiles is False and problem_def is None:
            await self.journal.tell(track.id, seen)
            await self.finish(track, does_not_compile(seen))
            return
        event = await self.journal.write(stored.admit, track.id, seen.fields(), self.clock.now())
        self.journal.publish(event)
        if track.cancel:
            await self.finish(track, cancelled())
            return
        self.admitted(track)

    async def _look_into(self, record: Submission, code: str) -> Xray:
        try:
            return await self.examine(record, code)
        except Exception as error:  # an X-ray that breaks must not cost anyone the verdict
            log.exception("the X-ray of submission %s failed", record.id)
            return Xray(
                arch="",
                gpu=record.gpu,
                compiler="",
                compiles=None,
                kernels=[],
                findings=[],
                notes=[f"The X-ray failed: {error}"],
            )
