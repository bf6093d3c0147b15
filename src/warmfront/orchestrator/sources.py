"""The code of those who are on their way, at hand for whoever needs it next.

It is in the store too, and is read from there where it does not fit in here or came before a restart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from warmfront.store import submissions

if TYPE_CHECKING:
    from warmfront.orchestrator.journal import Journal
    from warmfront.submission import NewSubmission

#: As much code as is kept in memory, in characters.
_MOST = 8 * 1024 * 1024


class Sources:
    """Code, and the problem's Python source where there is one, by submission."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._kept: dict[str, tuple[str, str | None]] = {}
        self._room = _MOST

    def keep(self, new: NewSubmission) -> None:
        """Have it at hand, if there is room."""
        source = new.code, new.problem_def
        if _size(source) <= self._room:
            self._kept[new.id] = source
            self._room -= _size(source)

    async def of(self, submission_id: str) -> tuple[str, str | None]:
        """From here or from the store."""
        kept = self._kept.get(submission_id)
        return kept if kept is not None else await self._journal.read(submissions.source, submission_id)

    def forget(self, submission_id: str) -> None:
        """It has its verdict."""
        source = self._kept.pop(submission_id, None)
        if source is not None:
            self._room += _size(source)


def _size(source: tuple[str, str | None]) -> int:
    code, problem_def = source
    return len(code) + len(problem_def or "")
