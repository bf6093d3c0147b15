"""Find declarations and launches of kernels in a source, with constant launch configurations.

A configuration that is not constant is unknown; nothing is guessed. The search takes linear time.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from warmfront.hip.source.edits import LineIndex
from warmfront.hip.source.lexer import LexError, TokenKind, match_brackets, tokenize
from warmfront.hip.xray.source_constants import MOST_TOKENS, SourceConstants, split
from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from warmfront.hip.source.lexer import Token

#: More launches than any source written by hand has.
_MOST_LAUNCHES = 1000
_ATTRIBUTES = frozenset({"__launch_bounds__", "__attribute__", "alignas", "__align__"})


@dataclass(frozen=True, kw_only=True)
class KernelLaunch:
    """One launch. Values that are not constant are None."""

    kernel: str  #: without namespaces and template arguments
    line: int
    grid: tuple[int, int, int] | None
    block: tuple[int, int, int] | None
    lds_bytes: int | None  #: dynamic LDS; 0 where the launch gives none


def find_launches(source: str) -> list[KernelLaunch]:
    """Return every `kernel<<<grid, block, …>>>` of a source."""
    try:
        tokens = tokenize(source)
    except LexError:
        return []
    code = tokens.code
    constants = SourceConstants(tokens)
    lines = LineIndex(source)
    positions = (index for index, token in enumerate(code) if token.text == "<<<")
    launches = []
    for index in islice(positions, _MOST_LAUNCHES):
        arguments = split(_between(code, index))
        launches.append(
            KernelLaunch(
                kernel=_launched_name(code, index),
                line=lines.position(code[index].start)[0],
                grid=constants.extent(arguments[0]) if arguments else None,
                block=constants.extent(arguments[1]) if len(arguments) > 1 else None,
                lds_bytes=constants.number(arguments[2]) if len(arguments) > 2 else 0,
            )
        )
    return launches


def block_of(launches: Sequence[KernelLaunch], kernel: str) -> tuple[int, int, int] | None:
    """Return the block size of a kernel if all its launches use the same known one."""
    blocks = {launch.block for launch in launches if launch.kernel == kernel}
    return blocks.pop() if len(blocks) == 1 else None


def is_one_block(launches: Sequence[KernelLaunch], kernel: str) -> bool:
    """Return whether a kernel is launched, and always with a single block."""
    return {launch.grid for launch in launches if launch.kernel == kernel} == {(1, 1, 1)}


def dynamic_lds_of(launches: Sequence[KernelLaunch], kernel: str) -> Mapping[int, int]:
    """Return the dynamic LDS bytes of a kernel's launches, by line, where known and not 0."""
    return {
        launch.line: launch.lds_bytes for launch in launches if launch.kernel == kernel and launch.lds_bytes
    }


def kernel_lines(source: str) -> dict[str, int]:
    """Return the line of each kernel's first declaration, by name."""
    try:
        code = tokenize(source).code
    except LexError:
        return {}
    partner = match_brackets(code).partner
    lines = LineIndex(source)
    declared: dict[str, int] = {}
    for index, token in enumerate(code):
        name = _declared_name(code, index + 1, partner) if token.text == "__global__" else None
        if name is not None:
            declared.setdefault(name.text, lines.position(name.start)[0])
    return declared


def _declared_name(code: Sequence[Token], index: int, partner: Mapping[int, int]) -> Token | None:
    """Return the name of the function whose declaration continues at `index`, skipping attributes."""
    for _ in range(MOST_TOKENS):
        if index + 1 >= len(code) or code[index].text in {";", "{", "}"}:
            return None
        is_attribute = code[index].text in _ATTRIBUTES
        if code[index + 1].text == "(" and not is_attribute:
            return code[index] if code[index].kind is TokenKind.NAME else None
        index = partner.get(index + 1, index) + 1 if is_attribute else index + 1
    return None


def _launched_name(code: Sequence[Token], launch: int) -> str:
    """Return the name before `<<<` and its template arguments."""
    depth = 0
    for index in range(launch - 1, max(launch - MOST_TOKENS, -1), -1):
        text = code[index].text
        depth += text.count(">") - text.count("<") if text in {"<", ">", ">>"} else 0
        if depth == 0 and code[index].kind is TokenKind.NAME:
            return text
    return ""


def _between(code: Sequence[Token], launch: int) -> Sequence[Token]:
    """Return the tokens between `<<<` and `>>>`."""
    depth = 0
    for end in range(launch + 1, min(launch + MOST_TOKENS, len(code))):
        text = code[end].text
        if depth == 0 and [token.text for token in code[end : end + 3]] == [">", ">", ">"]:
            return code[launch + 1 : end]
        depth += (text in {"(", "[", "{"}) - (text in {")", "]", "}"})
    return ()
