"""A kernel's assembly beside the source lines that it came from, in the order in which it runs.

Plain text and plain data; colours and columns of a terminal are for whoever shows it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from warmfront.hip.xray.assembly import Instruction


@dataclass(frozen=True, kw_only=True)
class ListingBlock:
    """Neighbouring instructions of one source line."""

    line: int | None  #: None where the compiler knows no line of the author's
    depth: int  #: how many loops they stand in
    label: str | None  #: what a branch to the first of them names
    instructions: tuple[str, ...]


def listing_blocks(instructions: Sequence[Instruction], labels: Mapping[str, int]) -> list[ListingBlock]:
    """The assembly, cut wherever the source line or the loop changes, and where a branch leads."""
    targets = {index: label for label, index in labels.items()}
    found: list[ListingBlock] = []
    begin = 0
    for end in range(1, len(instructions) + 1):
        first = instructions[begin]
        if end < len(instructions) and end not in targets:
            after = instructions[end]
            if (after.line, after.depth) == (first.line, first.depth):
                continue
        texts = tuple(each.text for each in instructions[begin:end])
        found.append(
            ListingBlock(line=first.line, depth=first.depth, label=targets.get(begin), instructions=texts)
        )
        begin = end
    return found


def side_by_side(found: Sequence[ListingBlock], source: str, width: int) -> Iterator[str]:
    """One row an instruction: its source line on the left where it begins, a bar for each loop around it."""
    lines = source.split("\n")
    number_width = len(str(len(lines)))
    text_width = max(min(max((len(line) for line in lines), default=0), width // 2 - number_width - 3), 20)
    left_width = number_width + 1 + text_width
    for piece in found:
        text = lines[piece.line - 1].replace("\t", "    ") if piece.line else ""
        number = str(piece.line) if piece.line else ""
        left = f"{number:>{number_width}} {text[:text_width]}"
        if piece.label:
            yield f"{'':{left_width}}  .L{piece.label}:"
        for instruction in piece.instructions:
            yield f"{left:{left_width}}  {'| ' * piece.depth}{instruction}"
            left = ""
