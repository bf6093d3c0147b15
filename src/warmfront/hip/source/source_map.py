"""Map positions in the compiled text to positions in the author's source.

Lines are the same in both. Columns differ where the rewriter changed a line, and compilers count bytes.
"""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property
from typing import TYPE_CHECKING

from warmfront.hip.source.edits import LineIndex
from warmfront.hip.source.rewrite import RewriteError, Translation, rewrite
from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from warmfront.hip.compiler_messages import Place


@dataclass(frozen=True)
class SourcePosition:
    """A position in the author's source; line and column begin at 1."""

    line: int
    column: int
    in_launch: bool = False  #: whether the position is in text that replaced a launch


class SourceMap:
    """A map of positions for one source; `rewritten` says whether its translation was compiled."""

    def __init__(self, source: str, *, rewritten: bool) -> None:
        self._source = source
        self.rewritten = rewritten

    @property
    def main_line(self) -> int | None:
        """The line that defines `main`; None if there is none."""
        return self._translation.main_line

    def find(self, place: Place) -> SourcePosition:
        """Return the author's position for a position in the compiled text."""
        compiled = self._translation.text if self.rewritten else self._source
        lines = compiled.split("\n")
        if not 0 < place.line <= len(lines):
            return SourcePosition(place.line, max(place.column, 1))
        text = lines[place.line - 1]
        column = len(text.encode()[: max(place.column - 1, 0)].decode(errors="ignore")) + 1
        if not self.rewritten:
            return SourcePosition(place.line, column)
        return self._undo(LineIndex(compiled).offset(place.line, column))

    def _undo(self, offset: int) -> SourcePosition:
        """Return the author's position for an offset in the translation."""
        index = bisect_right(self._edit_starts, offset) - 1
        if index < 0:
            return SourcePosition(*self._lines.position(offset))
        edit = self._translation.edits[index]
        beyond = offset - self._edit_starts[index] - len(edit.text)
        if beyond < 0:
            return SourcePosition(*self._lines.position(edit.anchor), in_launch="hipcpu" in edit.text)
        return SourcePosition(*self._lines.position(edit.end + beyond))

    @cached_property
    def _translation(self) -> Translation:
        try:
            return rewrite(self._source)
        except RewriteError:  # it was compiled unchanged
            return Translation(text=self._source, launches=0, plain=False)

    @cached_property
    def _lines(self) -> LineIndex:
        return LineIndex(self._source)

    @cached_property
    def _edit_starts(self) -> list[int]:
        """The offsets in the translation at which the new text of each edit begins."""
        starts = []
        growth = 0
        for edit in self._translation.edits:
            starts.append(edit.start + growth)
            growth += len(edit.text) - (edit.end - edit.start)
        return starts
