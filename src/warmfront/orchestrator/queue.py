"""Who is next: fair between owners, in order within each.

The owner with the fewest running goes first, then the one who was served longest ago, so that one user's
hundred do not delay another's one. Every operation is quick with a hundred thousand waiting.
"""

from __future__ import annotations

import heapq
import itertools
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(kw_only=True)
class _Line:
    """What one owner has waiting."""

    owner: str
    waiting: deque[str] = field(default_factory=deque)
    removed: set[str] = field(default_factory=set)
    running: int = 0
    served: int = 0  #: the turn at which the owner was last served

    def __len__(self) -> int:
        return len(self.waiting) - len(self.removed)


class FairQueue:
    """Ids that wait, by owner."""

    def __init__(self) -> None:
        self._lines: dict[str, _Line] = {}
        self._owner_of: dict[str, str] = {}
        # (running, served, owner). Stale entries are among them: one counts only if its line is so now.
        self._heap: list[tuple[int, int, str]] = []
        self._turn = 0

    def __len__(self) -> int:
        return len(self._owner_of)

    def __contains__(self, item: str) -> bool:
        return item in self._owner_of

    def push(self, owner: str, item: str, *, front: bool = False) -> None:
        """Let it wait; `front`: before everything else of its owner."""
        line = self._lines.setdefault(owner, _Line(owner=owner))
        if item in line.removed:
            line.removed.discard(item)
            line.waiting.remove(item)
        (line.waiting.appendleft if front else line.waiting.append)(item)
        self._owner_of[item] = owner
        if len(line) == 1:
            self._note(line)  # else it is noted already

    def pop(self) -> str | None:
        """The next; its owner has one more running until `done`."""
        line = self._next_line()
        if line is None:
            return None
        item = line.waiting.popleft()
        while item in line.removed:
            line.removed.discard(item)
            item = line.waiting.popleft()
        del self._owner_of[item]
        self._turn += 1
        line.running += 1
        line.served = self._turn
        self._note(line)
        return item

    def started(self, owner: str) -> None:
        """One of this owner's runs that did not come through `pop`."""
        line = self._lines.setdefault(owner, _Line(owner=owner))
        line.running += 1
        self._note(line)

    def done(self, owner: str) -> None:
        """One of this owner's runs no more."""
        line = self._lines[owner]
        line.running -= 1
        if not line.running and not len(line):
            # Nothing waits and nothing runs: to be forgotten is to be first when it comes again.
            del self._lines[owner]
            return
        self._note(line)

    def remove(self, item: str) -> bool:
        """Take it out; whether it was there."""
        owner = self._owner_of.pop(item, None)
        if owner is None:
            return False
        self._lines[owner].removed.add(item)
        return True

    def drain(self) -> list[str]:
        """Take out everything, in no particular order."""
        items = list(self._owner_of)
        for item in items:
            self.remove(item)
        return items

    def heads(self) -> Iterator[str]:
        """Those who wait, in about the order in which they are served."""
        lines = sorted(self._lines.values(), key=lambda line: (line.running, line.served))
        for rank in itertools.zip_longest(*(line.waiting for line in lines)):
            yield from (item for item in rank if item in self._owner_of)

    def position(self, owner: str, *, item: str | None = None) -> int:
        """About how many go before this item; before a new one of this owner if there is none."""
        line = self._lines.get(owner)
        ahead = 0 if line is None else len(line)
        if item is not None and line is not None and item in line.waiting:
            ahead = line.waiting.index(item)
        others = (len(other) for name, other in self._lines.items() if name != owner)
        return ahead + sum(min(waiting, ahead + 1) for waiting in others)

    def _next_line(self) -> _Line | None:
        while self._heap:
            running, served, owner = self._heap[0]
            line = self._lines.get(owner)
            if line is not None and len(line) and (line.running, line.served) == (running, served):
                return line
            heapq.heappop(self._heap)
        return None

    def _note(self, line: _Line) -> None:
        if len(line):
            heapq.heappush(self._heap, (line.running, line.served, line.owner))
