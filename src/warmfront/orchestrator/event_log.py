"""Pub/sub with replay: a subscriber gets a submission's stored events, then new ones, each exactly once.

The store publishes an event after its commit, never before. A subscriber that falls behind does not block the
others: it catches up from the store.
"""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import field
from typing import TYPE_CHECKING

from warmfront.errors import SubmissionNotFound
from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from warmfront.store.records import StoredEvent
    from warmfront.store.store import Store

#: Events buffered in memory for a slow subscriber, and events read from the store at a time.
BUFFERED = 256


class ChangeNotifier:
    """A counter of changes, for watchers that wait for the next change."""

    def __init__(self) -> None:
        self.count = 0
        self.closed = False  #: no changes will follow
        self._next: asyncio.Event | None = None  #: set at the next change; None without watchers

    def notify(self) -> None:
        """Count a change and wake the watchers."""
        self.count += 1
        self._wake()

    def close(self) -> None:
        """Wake every watcher for the last time."""
        self.closed = True
        self._wake()

    async def wait_beyond(self, count: int) -> None:
        """Wait until there have been more than `count` changes, or until the notifier is closed."""
        while self.count <= count and not self.closed:
            if self._next is None:
                self._next = asyncio.Event()
            await self._next.wait()

    def _wake(self) -> None:
        # Each asyncio.Event is set once and dropped, so that a watcher that waits again waits for the next
        # change.
        if self._next is not None:
            self._next.set()
            self._next = None


@dataclass(kw_only=True, eq=False)
class _Subscriber:
    """One stream that follows a submission."""

    events: deque[StoredEvent] = field(default_factory=lambda: deque(maxlen=BUFFERED))
    wake: asyncio.Event = field(default_factory=asyncio.Event)
    is_behind: bool = False  #: the store may have events that were not published here


class EventBus:
    """The pub/sub bus that passes committed events to the subscribers of their submission."""

    def __init__(self) -> None:
        self._subscribers: dict[str, set[_Subscriber]] = {}
        self.closed = False
        self.changes = ChangeNotifier()  #: notified of every write of the orchestrator

    def publish(self, event: StoredEvent) -> None:
        """Pass an event to the subscribers of its submission."""
        self.changes.notify()
        for subscriber in self._subscribers.get(event.submission_id, ()):
            subscriber.events.append(event)
            subscriber.wake.set()

    def notify(self) -> None:
        """Notify watchers of the whole service of a change."""
        self.changes.notify()

    def reread(self) -> None:
        """Make every subscriber read the store again, because another service may have stored events."""
        for subscriber in (one for subscribers in self._subscribers.values() for one in subscribers):
            subscriber.is_behind = True
            subscriber.wake.set()

    def close(self) -> None:
        """End every stream; clients reconnect to the next service and continue there."""
        self.closed = True
        self.changes.close()
        for subscriber in (one for subscribers in self._subscribers.values() for one in subscribers):
            subscriber.wake.set()

    def subscribe(self, submission_id: str) -> _Subscriber:
        """Start buffering the events of a submission."""
        subscriber = _Subscriber()
        self._subscribers.setdefault(submission_id, set()).add(subscriber)
        return subscriber

    def unsubscribe(self, submission_id: str, subscriber: _Subscriber) -> None:
        """Stop buffering."""
        subscribers = self._subscribers[submission_id]
        subscribers.discard(subscriber)
        if not subscribers:
            del self._subscribers[submission_id]


class EventLog:
    """The streams of events: replayed from the store, then live from the bus."""

    def __init__(self, store: Store, bus: EventBus) -> None:
        self._store = store
        self._bus = bus

    @property
    def changes(self) -> ChangeNotifier:
        """The notifier that is called after every write."""
        return self._bus.changes

    def close(self) -> None:
        """End every stream; clients reconnect to the next service and continue there."""
        self._bus.close()

    async def follow(self, submission_id: str, after: int = 0) -> AsyncIterator[StoredEvent]:
        """Yield the events after the id `after`, up to and including the verdict."""
        subscriber = self._bus.subscribe(submission_id)
        try:
            while not self._bus.closed:
                found = await self._store.read_events(submission_id, after, BUFFERED)
                if found is None:
                    raise SubmissionNotFound(submission_id)
                batch, verdict_id = found
                for event in batch:
                    yield event
                    after = event.id
                if verdict_id is not None and after >= verdict_id:
                    return
                if len(batch) < BUFFERED:
                    async for event in self._live(subscriber, after):
                        yield event
                        after = event.id
                        if event.is_verdict:
                            return
        finally:
            self._bus.unsubscribe(submission_id, subscriber)

    async def _live(self, subscriber: _Subscriber, after: int) -> AsyncIterator[StoredEvent]:
        """Yield the events that are published after the id `after`; return if the buffer has lost events."""
        while not self._bus.closed:
            await subscriber.wake.wait()
            subscriber.wake.clear()
            if subscriber.is_behind:
                subscriber.is_behind = False
                return
            while subscriber.events:
                event = subscriber.events.popleft()
                if event.id > after + 1:
                    return
                if event.id == after + 1:
                    yield event
                    after = event.id
