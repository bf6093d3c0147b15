"""Find code in the author's source that assumes waves of 32 lanes, although the GPU has 64.

Only code that gives wrong results is reported: explicit groups of 32 (a width of 32, lanes counted modulo 32)
are correct with waves of 64 lanes too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from warmfront.hip.source.edits import LineIndex
from warmfront.hip.source.lexer import LexError, TokenKind, match_brackets, tokenize
from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from warmfront.hip.source.lexer import Token

_SHUFFLES = frozenset({"__shfl_down", "__shfl_up", "__shfl_xor"})
_VOTES = frozenset({"__ballot", "__activemask", "__ballot_sync"})
#: Limit for the length of a loop body without braces.
_MOST_TOKENS = 200
_NARROW = frozenset({"unsigned", "int", "uint32_t", "int32_t", "uint"})


@dataclass(frozen=True)
class WaveSizeAssumption:
    """A place in the source that assumes waves of 32 lanes."""

    line: int
    message: str
    advice: str


def find_assumptions(source: str) -> list[WaveSizeAssumption]:
    """Return every such place, in source order."""
    try:
        code = tokenize(source).code
    except LexError:
        return []
    places = [*_half_reductions(code), *_narrow_masks(code)]
    lines = LineIndex(source)
    return [
        WaveSizeAssumption(lines.position(start)[0], message, advice)
        for start, message, advice in sorted(places)
    ]


def _half_reductions(code: Sequence[Token]) -> Iterator[tuple[int, str, str]]:
    """Yield shuffles of the whole wave in loops over the distances 16, 8, 4, 2, 1."""
    if _counts_in_32(code):
        return
    partner = match_brackets(code).partner
    for index, token in enumerate(code):
        if token.text != "for" or index + 1 not in partner:
            continue
        close = partner[index + 1]
        if not _reaches_16([item.text for item in code[index + 2 : close]]):
            continue
        for shuffle in range(close + 1, _end_of_body(code, close + 1, partner)):
            if code[shuffle].text in _SHUFFLES and _argument_count(code, shuffle + 1, partner) == 2:
                yield (
                    code[shuffle].start,
                    "The loop shuffles over at most 16 lanes, so it combines only 32 of a wave's 64 lanes.",
                    "Start at warpSize / 2, which is 32 here, or give the shuffle a width of 32.",
                )


def _reaches_16(head: Sequence[str]) -> bool:
    """Return whether the head of a loop counts 16 … 1 or 1 … 16."""
    text = "".join(head)
    halves = "=16;" in text and ("/=2" in text or ">>=1" in text)
    doubles = "=1;" in text and ("<32;" in text or "<=16;" in text) and ("*=2" in text or "<<=1" in text)
    return halves or doubles


def _counts_in_32(code: Sequence[Token]) -> bool:
    """Return whether the source counts lanes or waves in groups of 32, so that 32 is intended."""
    pairs = {(code[i].text, code[i + 1].text) for i in range(len(code) - 1)}
    shifts = any([token.text for token in code[i : i + 3]] == [">", ">", "5"] for i in range(len(code) - 2))
    return shifts or bool(
        pairs & {("%", "32"), ("/", "32"), ("&", "31"), (">>", "5"), ("&", "0x1f"), ("&", "0x1F")}
    )


def _narrow_masks(code: Sequence[Token]) -> Iterator[tuple[int, str, str]]:
    """Yield ballots of 64 lanes that are stored in 32 bits."""
    for index, token in enumerate(code):
        if token.text not in _VOTES or index < 2:
            continue
        before, second_before = code[index - 1].text, code[index - 2].text
        stored = before == "=" and index >= 3 and code[index - 3].text in _NARROW
        counted = before == "(" and second_before == "__popc"
        if stored or counted:
            yield (
                token.start,
                f"{token.text} returns one bit for each of 64 lanes, and 32 of them are lost here.",
                "Store it in an unsigned long long, and count its bits with __popcll.",
            )


def _argument_count(code: Sequence[Token], bracket: int, partner: dict[int, int]) -> int:
    """Return the number of arguments of the call with this opening parenthesis."""
    if bracket not in partner:
        return 0
    depth, count = 0, 1
    for token in code[bracket + 1 : partner[bracket]]:
        depth += (token.kind is TokenKind.PUNCTUATION) * (
            (token.text in {"(", "[", "{"}) - (token.text in {")", "]", "}"})
        )
        count += token.text == "," and depth == 0
    return count


def _end_of_body(code: Sequence[Token], start: int, partner: dict[int, int]) -> int:
    """Return the index after the loop body that begins at `start`."""
    if start < len(code) and code[start].text == "{" and start in partner:
        return partner[start]
    end = start
    while end < min(start + _MOST_TOKENS, len(code)) and code[end].text != ";":
        end += 1
    return end
