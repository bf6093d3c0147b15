"""Refuse second forms that would hide a missing barrier.

Thread by thread, a thread runs from one barrier to the next before another thread starts. In a second form,
regions are also separated where a loop begins, ends or repeats. If two regions without a barrier between them
use the same shared memory, and one writes to it, the kernel most likely has a race, whose effect should stay
visible.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from warmfront.hip.source.block_plan import Barrier, Control, Region, Strided
from warmfront.hip.source.declarations import ASSIGNMENTS
from warmfront.hip.source.kernel_statements import Unsupported

if TYPE_CHECKING:
    from collections.abc import Iterable

    from warmfront.hip.source.block_plan import Node
    from warmfront.hip.source.edits import TokenEditor


class SharedAccesses:
    """The accesses of each region to variables in shared memory."""

    def __init__(self, editor: TokenEditor, names: frozenset[str]) -> None:
        self._editor = editor
        self._names = names
        self._known: dict[Region, tuple[set[str], set[str]]] = {}

    def check(self, nodes: list[Node]) -> None:
        """Raise `Unsupported` if two regions without a barrier between them conflict."""
        if self._names:
            self._follow(nodes, set())

    def _follow(self, nodes: Iterable[Node], before: set[Region]) -> set[Region]:
        """Return the regions after the last barrier in the nodes, given those before the nodes."""
        recent = set(before)
        for node in nodes:
            if isinstance(node, Barrier):
                recent = set()
            elif isinstance(node, Region | Strided):
                region = node.region if isinstance(node, Strided) else node
                self._compare(region, recent)
                recent.add(region)
            elif isinstance(node, Control):
                after = self._follow(node.body, recent)
                if node.repeats:
                    self._follow(node.body, after)
                recent |= after | self._follow(node.otherwise or (), recent)
        return recent

    def _compare(self, region: Region, others: set[Region]) -> None:
        used, written = self._accesses(region)
        for other in others - {region}:
            used_before, written_before = self._accesses(other)
            if used & written_before or written & used_before:
                raise Unsupported

    def _accesses(self, region: Region) -> tuple[set[str], set[str]]:
        if region not in self._known:
            places = [
                index
                for item in region.items
                for index in item.tokens
                if self._editor.text(index) in self._names and self._editor.text(index - 1) not in {".", "->"}
            ]
            used = {self._editor.text(index) for index in places}
            written = {self._editor.text(index) for index in places if may_write(self._editor, index)}
            self._known[region] = used, written
        return self._known[region]


def may_write(editor: TokenEditor, index: int) -> bool:
    """Return whether the variable in shared memory at `index` may be written to there."""
    before, after = editor.text(index - 1), index + 1
    if before in {"&", "++", "--"} or (
        before in {"(", ",", "="} and editor.text(after) in {")", ",", ";", "+"}
    ):
        return True  # an address, or a pointer that may be written through
    while editor.text(after) in {"[", "."}:
        after = (editor.partner(after) or after) + 1 if editor.text(after) == "[" else after + 2
    text = editor.text(after)
    return text in ASSIGNMENTS or text in {"++", "--"} or (text == ">" and editor.text(after + 1) == ">=")
