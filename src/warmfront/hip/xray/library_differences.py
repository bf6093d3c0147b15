"""Find code that the X-ray's C++ library accepts although ROCm's rejects it.

The X-ray does not use hipcc's C++ library, but one whose headers declare more names than the standard
requires. `standard_names.json` lists the names that `hip/hip_runtime.h` of the target version does not
declare, with the standard headers that do; `scripts/measure_standard_names.py` creates the list with the real
compiler. A use of such a name without one of its headers is an error, as it is with hipcc.

The search is conservative: if a source includes a header that was not measured, nothing is reported.
"""

from __future__ import annotations

import functools
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from warmfront.hip import rocm_versions
from warmfront.hip.source.lexer import LexError, TokenKind, tokenize
from warmfront.hip.trailer import SOURCE_NAME
from warmfront.hip.xray.host_code import host_functions
from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from warmfront.hip.compiler_messages import Place
    from warmfront.hip.diagnose import CompileFailure
    from warmfront.hip.source.lexer import Source, Token

_FILE = Path(__file__).parent / "standard_names.json"
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"\n]+)[>"]', re.MULTILINE)
_USES_NAMESPACE_STD = re.compile(r"\busing\s+namespace\s+std\b")
#: Words after which a name is used, not declared.
_BEFORE_USES = frozenset(
    {"and", "case", "co_return", "co_yield", "do", "else", "goto", "new", "not", "or", "return", "throw"}
)
#: Words of a declaration before its type.
_SPECIFIERS = frozenset({"const", "constexpr", "inline", "static", "thread_local", "volatile"})
_ALGORITHM_HEADERS = frozenset({"algorithm", "numeric"})
#: Algorithms that HIP also declares outside of the namespace.
_HIP_ALGORITHMS = frozenset({"max", "min"})
_STRINGS = frozenset({"string", "wstring", "u8string", "u16string", "u32string", "basic_string"})


class _Problem(NamedTuple):
    offset: int
    message: str


@dataclass(frozen=True)
class StandardNames:
    """The names that need a standard header, with the headers that declare them; the usual header is first.

    Functions end in `()`, and names of the namespace `std` begin with it.
    """

    headers: Mapping[str, Sequence[str]]
    host_headers: Mapping[str, Sequence[str]]  #: of functions that are declared for the device only
    measured: frozenset[str]  #: all headers that were measured


def explain_differences(source: str) -> CompileFailure | None:
    """Return the failure for code that hipcc would reject; None if there is none."""
    try:
        tokens = tokenize(source)
    except LexError:
        return None
    problems = sorted({*_missing_includes(source, tokens), *_local_strings(tokens.code)})
    return _failure(source, problems) if problems else None


def _failure(source: str, problems: Sequence[_Problem]) -> CompileFailure:
    # Imported here, because most sources have no such problem.
    from warmfront.hip.diagnose import MAX_ERRORS, CompileFailure, render  # noqa: PLC0415
    from warmfront.hip.xray.compile_failures import diagnostic_at  # noqa: PLC0415

    shown = [
        diagnostic_at(source, _place(source, problem.offset), problem.message, "error")
        for problem in problems[:MAX_ERRORS]
    ]
    lacks_include = "#include" in problems[0].message
    return CompileFailure(
        "UNDEFINED_NAME" if lacks_include else "COMPILE_ERROR",
        render(shown, source),
        tuple(shown),
        hint="Add the include: with ROCm, no header that this source includes declares it."
        if lacks_include
        else "",
    )


def _missing_includes(source: str, tokens: Source) -> Iterator[_Problem]:
    """Yield the first use of each name whose header is not included."""
    names = standard_names()
    included = set(_INCLUDE.findall(source))
    if not included <= names.measured:
        return
    reported: set[str] = set()
    for key, token in _uses(source, tokens):
        headers = names.headers.get(key)
        if headers and key not in reported and not included.intersection(headers):
            reported.add(key)
            yield _Problem(token.start, _describe(key, headers[0]))
    for key, token in _host_uses(tokens):
        headers = names.host_headers.get(key)
        if headers and key not in reported and not included.intersection(headers):
            reported.add(key)
            yield _Problem(token.start, f"{_describe(key, headers[0])}, in host code")


def _uses(source: str, tokens: Source) -> Iterator[tuple[str, Token]]:
    """Yield every use of a name that may be one of the standard library, as a key of the table."""
    own = _own_names(tokens)
    opened = _USES_NAMESPACE_STD.search(source) is not None
    texts = [tokens.code, *(d.tokens[1:] for d in tokens.directives if d.name == "define")]
    for text in texts:
        for index, token in enumerate(text):
            if token.kind is not TokenKind.NAME:
                continue
            before = text[index - 1].text if index else ""
            following = text[index + 1].text if index + 1 < len(text) else ""
            if before == "::":
                if index > 1 and text[index - 2].text == "std":
                    yield f"std::{token.text}", token
            elif before not in {".", "->"} and token.text not in own:
                yield (f"{token.text}()" if following == "(" else token.text), token
                yield token.text, token
                if opened and _may_be_standard(text, index):
                    yield f"std::{token.text}", token


def _may_be_standard(text: Sequence[Token], index: int) -> bool:
    """Return whether a name without `std::` is used as a type, as a stream, or as a call of an algorithm.

    Other calls may be to a function that HIP or the C library declares outside the namespace.
    """
    if index + 1 == len(text):
        return False
    name, following = text[index].text, text[index + 1]
    headers = standard_names().headers.get(f"std::{name}", ())
    if following.text == "(":
        return not _ALGORITHM_HEADERS.isdisjoint(headers) and name not in _HIP_ALGORITHMS
    if following.text in {"<<", ">>"}:
        return "iostream" in headers
    return following.text in {"<", "::"} or following.kind is TokenKind.NAME


def _host_uses(tokens: Source) -> Iterator[tuple[str, Token]]:
    """Yield the calls in host code of functions without a namespace."""
    own = _own_names(tokens)
    for function in host_functions(tokens.code):
        for index, token in enumerate(function):
            before = function[index - 1].text if index else ""
            following = function[index + 1].text if index + 1 < len(function) else ""
            if following == "(" and before not in {"::", ".", "->"} and token.text not in own:
                yield f"{token.text}()", token


def _own_names(tokens: Source) -> set[str]:
    """Return the names that the source may declare itself: after another name or `>`, or as a macro."""
    own = {
        d.tokens[0].text for d in tokens.directives if d.name in {"define", "ifndef", "undef"} and d.tokens
    }
    for before, token in zip(tokens.code, tokens.code[1:], strict=False):
        if token.kind is not TokenKind.NAME:
            continue
        if before.kind is TokenKind.NAME:
            declares = before.text not in _BEFORE_USES and before.text not in _SPECIFIERS
        else:
            declares = before.text == ">" and not token.text.isupper()  # `x > FLT_MAX` is a use
        if declares:
            own.add(token.text)
    return own


def _local_strings(code: Sequence[Token]) -> Iterator[_Problem]:
    """Yield the local `constexpr std::string` variables.

    A string of ROCm's library points into itself, and the address of a local variable is not constant.
    """
    texts = [token.text for token in code]
    if "constexpr" not in texts or not _STRINGS.intersection(texts):
        return
    inside = {index for body in _bodies(code) for index in range(*body)}
    for index, text in enumerate(texts):
        if text != "constexpr" or index not in inside:
            continue
        begin = _skip_back(texts, index)
        end = index + 1
        while end < len(texts) and texts[end] in _SPECIFIERS:
            end += 1
        if "static" in texts[begin:end]:
            continue
        declared = _declared_type(texts, end)
        if _STRINGS.intersection(declared):
            yield _Problem(
                code[index].start,
                "a local constexpr std::string is not constant with ROCm's C++ library; "
                "write static constexpr, or use std::string_view",
            )


def _skip_back(texts: Sequence[str], index: int) -> int:
    """Return the index of the first specifier of a declaration."""
    while index and texts[index - 1] in _SPECIFIERS:
        index -= 1
    return index


def _declared_type(texts: Sequence[str], start: int) -> Sequence[str]:
    """Return the words of the declared type: up to the initializer; for `auto`, the type that it calls."""
    end = start
    while end < len(texts) and texts[end] not in {"=", "{", "(", ";", "*", "&"}:
        end += 1
    if texts[start : start + 1] == ["auto"] and texts[end : end + 1] == ["="]:
        start = end + 1
        end = start
        while end < len(texts) and (texts[end] in {"std", "::"} or texts[end] in _STRINGS):
            end += 1
        return texts[start:end] if _ends_with_call(texts, end) else ()
    return () if texts[end : end + 1] in (["*"], ["&"]) else texts[start:end]


def _ends_with_call(texts: Sequence[str], index: int) -> bool:
    """Return whether the expression is one constructor call: its bracket closes before the semicolon."""
    if texts[index : index + 1] not in (["("], ["{"]):
        return False
    depth = 0
    for position in range(index, len(texts)):
        depth += (texts[position] in {"(", "{"}) - (texts[position] in {")", "}"})
        if depth == 0:
            return texts[position + 1 : position + 2] == [";"]
    return False


def _bodies(code: Sequence[Token]) -> Iterator[tuple[int, int]]:
    """Yield the ranges of tokens inside function bodies: braces after a closing parenthesis."""
    open_at: list[tuple[int, bool]] = []
    for index, token in enumerate(code):
        if token.text == "{":
            before = code[index - 1].text if index else ""
            open_at.append((index, before in {")", "const", "noexcept", "mutable"}))
        elif token.text == "}" and open_at:
            start, is_body = open_at.pop()
            if is_body:
                yield start, index


def _describe(key: str, header: str) -> str:
    return f"'{key.removesuffix('()')}' needs #include <{header}> with ROCm {rocm_versions.TARGET}"


def _place(source: str, offset: int) -> Place:
    """Return the place of an offset; the column counts bytes, as clang's does."""
    from warmfront.hip.compiler_messages import Place  # noqa: PLC0415 - as in `_failure`

    start = source.rfind("\n", 0, offset) + 1
    return Place(SOURCE_NAME, source.count("\n", 0, offset) + 1, len(source[start:offset].encode()) + 1)


@functools.cache
def standard_names() -> StandardNames:
    """Load the table."""
    table = json.loads(_FILE.read_text())
    return StandardNames(
        headers=_by_name(table["groups"]),
        host_headers=_by_name(table["host_groups"]),
        measured=frozenset(table["measured"]),
    )


def _by_name(groups: Sequence[Mapping[str, str]]) -> dict[str, Sequence[str]]:
    return {name: group["headers"].split() for group in groups for name in group["names"].split()}
