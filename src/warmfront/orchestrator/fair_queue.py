"""A queue that is fair between owners and first-in, first-out within each.

The owner with the fewest running items is next, then the one served longest ago, so that a hundred items of
one user do not delay the single item of another. A heap with lazy deletion keeps every operation fast with a
hundred thousand items.
"""

from __future__ import annotations

import heapq
import itertools
from collections import deque
from dataclasses import field
from typing import TYPE_CHECKING

from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(kw_only=True)
class _OwnerQueue:
    """The items of one owner."""

    owner: str
    waiting: deque[str] = field(default_factory=deque)
    removed: set[str] = field(default_factory=set)  #: items still in `waiting` that must be skipped
    running: int = 0
    served: int = 0  #: the number of the turn in which the owner was last served

    def __len__(self) -> int:
        return len(self.waiting) - len(self.removed)


class FairQueue:
    """A fair queue of items, which are strings, by the names of their owners.

    Args:
        max_running_per_owner: the most running items per owner; None for no limit.
    """

    def __init__(self, *, max_running_per_owner: int | None = None) -> None:
        self._max_running = float("inf") if max_running_per_owner is None else max_running_per_owner
        self._owner_of: dict[str, str] = {}
        self._queues: dict[str, _OwnerQueue] = {}
        # Entries are (running, served, owner). An entry is stale unless its owner's queue still has these
        # values.
        self._heap: list[tuple[int, int, str]] = []
        self._turn = 0

    def __len__(self) -> int:
        return len(self._owner_of)

    def __contains__(self, item: str) -> bool:
        return item in self._owner_of

    def push(self, owner: str, item: str, *, front: bool = False) -> None:
        """Add an item; `front` puts it before the other items of its owner."""
        queue = self._of_owner(owner)
        if item in queue.removed:
            queue.removed.discard(item)
            queue.waiting.remove(item)
        (queue.waiting.appendleft if front else queue.waiting.append)(item)
        self._owner_of[item] = owner
        if len(queue) == 1:  # otherwise the heap already has an entry
            self._note(queue)

    def pop(self) -> str | None:
        """Remove and return the next item; it counts as running until `done`."""
        queue = self._next_queue()
        if queue is None:
            return None
        item = queue.waiting.popleft()
        while item in queue.removed:
            queue.removed.discard(item)
            item = queue.waiting.popleft()
        del self._owner_of[item]
        self._serve(queue)
        return item

    def take(self, item: str) -> None:
        """Remove a waiting item out of turn; it counts as running until `done`."""
        queue = self._queues[self._owner_of[item]]
        self.remove(item)
        self._serve(queue)

    def _serve(self, queue: _OwnerQueue) -> None:
        self._turn += 1
        queue.running += 1
        queue.served = self._turn
        self._note(queue)

    def started(self, owner: str) -> None:
        """Count an item as running although it was not taken with `pop`."""
        queue = self._of_owner(owner)
        queue.running += 1
        self._note(queue)

    def done(self, owner: str) -> None:
        """Count one running item as finished."""
        queue = self._queues[owner]
        queue.running -= 1
        if not queue.running and not len(queue):
            del self._queues[owner]  # an owner without items is served first when the next one arrives
            return
        self._note(queue)

    def remove(self, item: str) -> bool:
        """Remove an item; return whether it was waiting."""
        owner = self._owner_of.pop(item, None)
        if owner is None:
            return False
        self._queues[owner].removed.add(item)
        return True

    def drain(self) -> list[str]:
        """Remove and return all items, in no particular order."""
        items = list(self._owner_of)
        for item in items:
            self.remove(item)
        return items

    def heads(self) -> Iterator[str]:
        """Yield the items in approximately the order in which they will be served."""
        queues = sorted(self._queues.values(), key=lambda queue: (queue.running, queue.served))
        for rank in itertools.zip_longest(*(queue.waiting for queue in queues)):
            yield from (item for item in rank if item in self._owner_of)

    def position(self, owner: str, *, item: str | None = None) -> int:
        """Estimate how many items are served before this one, or before a new item of this owner."""
        queue = self._queues.get(owner)
        ahead = 0 if queue is None else len(queue)
        if item is not None and queue is not None and item in queue.waiting:
            ahead = queue.waiting.index(item)
        others = (len(other) for name, other in self._queues.items() if name != owner)
        return ahead + sum(min(waiting, ahead + 1) for waiting in others)

    def _of_owner(self, owner: str) -> _OwnerQueue:
        queue = self._queues.get(owner)
        if queue is None:
            queue = self._queues[owner] = _OwnerQueue(owner=owner)
        return queue

    def _next_queue(self) -> _OwnerQueue | None:
        while self._heap:
            running, served, owner = self._heap[0]
            queue = self._queues.get(owner)
            if queue is not None and queue.running == running and queue.served == served and len(queue):
                # The first owner has the fewest running items: if it has reached the limit, so have all
                # others.
                return queue if running < self._max_running else None
            heapq.heappop(self._heap)
        return None

    def _note(self, queue: _OwnerQueue) -> None:
        if len(queue):
            heapq.heappush(self._heap, (queue.running, queue.served, queue.owner))
