"""The code of active submissions in memory. It is in the store too, and read from there after a restart."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from warmfront.store.store import Store
    from warmfront.submission import NewSubmission

#: Characters of code kept in memory.
_CAPACITY = 8 * 1024 * 1024


class SourceCache:
    """Code, and the problem's Python source where there is one, by submission."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._sources: dict[str, tuple[str, str | None]] = {}
        self._free = _CAPACITY

    def put(self, new: NewSubmission) -> None:
        """Keep the source of a submission, if there is space."""
        source = new.code, new.problem_def
        if _size(source) <= self._free:
            self._sources[new.id] = source
            self._free -= _size(source)

    async def get(self, submission_id: str) -> tuple[str, str | None]:
        """Return a source from memory or from the store."""
        source = self._sources.get(submission_id)
        return source if source is not None else await self._store.get_source(submission_id)

    def discard(self, submission_id: str) -> None:
        """Free the source of a submission that has its verdict."""
        source = self._sources.pop(submission_id, None)
        if source is not None:
            self._free += _size(source)


def _size(source: tuple[str, str | None]) -> int:
    code, problem_def = source
    return len(code) + len(problem_def or "")
