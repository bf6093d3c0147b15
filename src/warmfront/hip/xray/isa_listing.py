"""Listing of a kernel's assembly next to its source lines, in the order of the code.

The listing is plain data; the code that displays it adds colors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from warmfront.hip.xray.assembly import Instruction


@dataclass(frozen=True, kw_only=True)
class ListingBlock:
    """Consecutive instructions of one source line."""

    line: int | None  #: None where the compiler gives no line of the author's source
    depth: int  #: number of enclosing loops
    label: str | None  #: branch target at the first instruction
    instructions: tuple[str, ...]


def listing_blocks(instructions: Sequence[Instruction], labels: Mapping[str, int]) -> list[ListingBlock]:
    """Split the assembly where the source line or the loop depth changes, and at branch targets."""
    targets = {index: label for label, index in labels.items()}
    blocks: list[ListingBlock] = []
    begin = 0
    for end in range(1, len(instructions) + 1):
        first = instructions[begin]
        if end < len(instructions) and end not in targets:
            after = instructions[end]
            if (after.line, after.depth) == (first.line, first.depth):
                continue
        texts = tuple(instruction.text for instruction in instructions[begin:end])
        blocks.append(
            ListingBlock(line=first.line, depth=first.depth, label=targets.get(begin), instructions=texts)
        )
        begin = end
    return blocks


def side_by_side(blocks: Sequence[ListingBlock], source: str, width: int) -> Iterator[str]:
    """Yield one row per instruction: the source line at the left where it begins, and one bar per loop."""
    lines = source.split("\n")
    number_width = len(str(len(lines)))
    text_width = max(min(max((len(line) for line in lines), default=0), width // 2 - number_width - 3), 20)
    left_width = number_width + 1 + text_width
    for block in blocks:
        text = lines[block.line - 1].replace("\t", "    ") if block.line else ""
        number = str(block.line) if block.line else ""
        left = f"{number:>{number_width}} {text[:text_width]}"
        if block.label:
            yield f"{'':{left_width}}  .L{block.label}:"
        for instruction in block.instructions:
            yield f"{left:{left_width}}  {'| ' * block.depth}{instruction}"
            left = ""
