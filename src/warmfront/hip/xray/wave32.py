"""Finds code that takes a wavefront of 64 lanes for one of 32, in the author's text.

Only what gives a wrong answer: groups of 32 that are meant and said (a width of 32, lanes counted modulo 32)
are fine on a GPU whose waves have 64 lanes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from warmfront.hip.source.edits import LineIndex
from warmfront.hip.source.lexer import Kind, LexError, match_brackets, tokenize

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from warmfront.hip.source.lexer import Token

_SHUFFLES = frozenset({"__shfl_down", "__shfl_up", "__shfl_xor"})
_VOTES = frozenset({"__ballot", "__activemask", "__ballot_sync"})
#: Tokens of a loop's body that has no braces.
_MOST_TOKENS = 200
_NARROW = frozenset({"unsigned", "int", "uint32_t", "int32_t", "uint"})


@dataclass(frozen=True)
class WaveSizeAssumption:
    """A place that reckons with 32 lanes."""

    line: int
    message: str
    advice: str


def find_assumptions(source: str) -> list[WaveSizeAssumption]:
    """Every such place, in the order of the text."""
    try:
        code = tokenize(source).code
    except LexError:
        return []
    found = [*_half_reductions(code), *_narrow_masks(code)]
    lines = LineIndex(source)
    return [
        WaveSizeAssumption(lines.position(start)[0], message, advice)
        for start, message, advice in sorted(found)
    ]


def _half_reductions(code: Sequence[Token]) -> Iterator[tuple[int, str, str]]:
    """Loops over distances 16, 8, 4, 2, 1 around a shuffle of the whole wave."""
    if _counts_in_32(code):
        return
    partner = match_brackets(code).partner
    for index, token in enumerate(code):
        if token.text != "for" or index + 1 not in partner:
            continue
        close = partner[index + 1]
        if not _goes_to_16([each.text for each in code[index + 2 : close]]):
            continue
        for shuffle in range(close + 1, _end_of_body(code, close + 1, partner)):
            if code[shuffle].text in _SHUFFLES and _arguments(code, shuffle + 1, partner) == 2:
                yield (
                    code[shuffle].start,
                    "The loop exchanges values over at most 16 lanes, so it joins 32 of a wave's 64 lanes.",
                    "Begin at warpSize / 2, which is 32 here, or give the shuffle a width of 32.",
                )


def _goes_to_16(head: Sequence[str]) -> bool:
    """Whether a loop's head counts 16 … 1 or 1 … 16."""
    text = "".join(head)
    halves = "=16;" in text and ("/=2" in text or ">>=1" in text)
    doubles = "=1;" in text and ("<32;" in text or "<=16;" in text) and ("*=2" in text or "<<=1" in text)
    return halves or doubles


def _counts_in_32(code: Sequence[Token]) -> bool:
    """Whether lanes or waves are counted in groups of 32 anywhere: then 32 is meant."""
    pairs = {(code[i].text, code[i + 1].text) for i in range(len(code) - 1)}
    shifts = any([each.text for each in code[i : i + 3]] == [">", ">", "5"] for i in range(len(code) - 2))
    return shifts or bool(
        pairs & {("%", "32"), ("/", "32"), ("&", "31"), (">>", "5"), ("&", "0x1f"), ("&", "0x1F")}
    )


def _narrow_masks(code: Sequence[Token]) -> Iterator[tuple[int, str, str]]:
    """A ballot of 64 lanes that is kept in 32 bits."""
    for index, token in enumerate(code):
        if token.text not in _VOTES or index < 2:
            continue
        before, further = code[index - 1].text, code[index - 2].text
        stored = before == "=" and index >= 3 and code[index - 3].text in _NARROW
        counted = before == "(" and further == "__popc"
        if stored or counted:
            yield (
                token.start,
                f"{token.text} gives a bit for each of 64 lanes, and 32 of them are dropped here.",
                "Keep it in an unsigned long long, and count its bits with __popcll.",
            )


def _arguments(code: Sequence[Token], bracket: int, partner: dict[int, int]) -> int:
    """How many arguments the call whose bracket this is has."""
    if bracket not in partner:
        return 0
    depth, count = 0, 1
    for token in code[bracket + 1 : partner[bracket]]:
        depth += (token.kind is Kind.PUNCTUATION) * (
            (token.text in {"(", "[", "{"}) - (token.text in {")", "]", "}"})
        )
        count += token.text == "," and depth == 0
    return count


def _end_of_body(code: Sequence[Token], start: int, partner: dict[int, int]) -> int:
    """The token after a loop's body."""
    if start < len(code) and code[start].text == "{" and start in partner:
        return partner[start]
    end = start
    while end < min(start + _MOST_TOKENS, len(code)) and code[end].text != ";":
        end += 1
    return end
