"""What becomes of submissions: they wait, are given back by a VM that was lost, and get their one verdict.

It says neither who is next nor on which VM; what an attempt comes to while it lasts is not its business.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from warmfront.orchestrator.verdicts import cancelled, given_up, refused
from warmfront.store import attempts, ledger
from warmfront.store import log as stored

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from sqlalchemy import Connection

    from warmfront.clock import Clock
    from warmfront.errors import WarmfrontError
    from warmfront.events import Failed, Xray
    from warmfront.orchestrator.journal import Journal
    from warmfront.orchestrator.queue import FairQueue
    from warmfront.orchestrator.sources import Sources
    from warmfront.orchestrator.state import Track
    from warmfront.store.records import AttemptRecord, StoredEvent
    from warmfront.verdicts import Verdict

log = logging.getLogger(__name__)

#: An attempt lost to infrastructure is made again this often.
RETRIES = 2


@dataclass(kw_only=True)
class Outcomes:
    """Those who have no verdict yet."""

    queue: FairQueue
    journal: Journal
    sources: Sources
    clock: Clock
    spawn: Callable[[Coroutine[object, object, None]], object]
    changed: Callable[[], None]
    tracks: dict[str, Track] = field(default_factory=dict)  #: by submission

    def enqueue(self, track: Track) -> None:
        """It may have a VM."""
        self.queue.push(track.owner, track.id)
        self.changed()

    async def finish(self, track: Track, event: Failed | Xray) -> None:
        """A verdict without a VM."""
        verdict = await self.journal.write(_store_verdict, track.id, event.fields(), self.clock.now())
        self.journal.publish(verdict, last=True)
        self._forget(track)

    def finished(self, track: Track, status: str) -> None:
        """Its attempt ended with a verdict, which is stored."""
        log.info("submission %s: %s", track.id, status or "was over already")
        self.queue.done(track.owner)
        self._forget(track)
        self.changed()

    def requeue(self, track: Track) -> None:
        """Its attempt was lost to infrastructure: again, or no more."""
        self.queue.done(track.owner)
        track.attempt = track.machine = None
        track.lost += 1
        if track.cancel:
            self.spawn(self.finish(track, cancelled()))
        elif track.lost > RETRIES:
            self.spawn(self.finish(track, given_up(track.lost)))
        else:
            self.queue.push(track.owner, track.id, front=True)
        self.changed()

    async def lose_orphan(self, track: Track, attempt: AttemptRecord) -> None:
        """An attempt that was on a VM which is over, by what the store has at a start."""
        await self.journal.write(attempts.lose, attempt.id, self.clock.now(), "its VM is over")
        self.queue.started(track.owner)
        self.requeue(track)

    def requeue_all(self, tracks: list[Track]) -> None:
        """All that a VM had on it."""
        for track in tracks:
            self.requeue(track)

    def refuse_all(self, verdict: Verdict, error: WarmfrontError) -> None:
        """Tell everyone who waits that there will be no VM."""
        for submission_id in self.queue.drain():
            self.spawn(self.finish(self.tracks[submission_id], refused(verdict, error)))

    def _forget(self, track: Track) -> None:
        self.tracks.pop(track.id, None)
        self.sources.forget(track.id)
        track.over.set()


def _store_verdict(
    c: Connection, submission_id: str, fields: dict[str, Any], now: float
) -> StoredEvent | None:
    """With what lost attempts came to, if there were any."""
    cost = ledger.of_submission(c, submission_id)
    fields = {**fields, "cost_usd": float(round(cost, 6))}
    return stored.finish(c, submission_id, fields, now, cost_usd=cost)
