"""Refuse source that distinguishes a check from a GPU, or that only serves to break out of a kernel file.

The names are recognized as tokens, so comments and strings may contain them. This gives an author a clear
message; the judge does not rely on it. `docs/refused-code.md` explains the list.
"""

from __future__ import annotations

import functools
import re
from bisect import bisect_right
from itertools import chain
from typing import TYPE_CHECKING

from warmfront.hip.source.edits import LineIndex, RewriteError
from warmfront.hip.source.lexer import Directive, LexError, Source, Token, TokenKind, split_macro, tokenize
from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

EVALUATOR_DETECTED = "EVALUATOR_DETECTED"
HOST_ESCAPE = "HOST_ESCAPE"


class SourceRefused(RewriteError):
    """The source contains a name that no submission may use."""


@dataclass(frozen=True, kw_only=True)
class _Family:
    """A family of names that are refused for the same reason."""

    code: str
    names: re.Pattern[str]  #: matches a whole name
    fragments: tuple[str, ...]  #: texts that such names begin with, to find them in pasted tokens
    reason: str
    hint: str


_SAME_CODE = (
    "A kernel must be the same code wherever it runs: remove the distinction. "
    "__HIP_DEVICE_COMPILE__ and the other macros of hipcc are defined in every build."
)
_HOST_CODE = "Remove it: a submission launches kernels and needs only the functions of HIP and of C++."


def _family(code: str, names: str, reason: str, hint: str) -> _Family:
    fragments = tuple(name.partition("\\")[0] for name in names.split())
    pattern = re.compile("|".join(names.split()))
    return _Family(code=code, names=pattern, fragments=fragments, reason=reason, hint=hint)


_FAMILIES = (
    _family(
        EVALUATOR_DETECTED,
        r"HIPCPU\w* hipcpu\w* HIPTARGET_\w* HIPSHARED_\w* XRAY_\w* WARMFRONT_\w* warmfront_\w*",
        "is a name of Warmfront's own headers, which a GPU does not have",
        _SAME_CODE,
    ),
    _family(
        EVALUATOR_DETECTED,
        r"__OPTIMIZE__ __OPTIMIZE_SIZE__ __NO_INLINE__ __SANITIZE_\w* __tsan_\w* __asan_\w* __ubsan_\w* "
        r"__sanitizer_\w*",
        "distinguishes the bug finder's build from the judge's",
        _SAME_CODE,
    ),
    _family(
        EVALUATOR_DETECTED,
        r"__clang__ __clang_\w* __llvm__ __VERSION__ __GNUC_MINOR__ __GNUC_PATCHLEVEL__ __AVX\w* __FMA__ "
        r"__has_builtin __has_feature __has_extension",
        "depends on the compiler, which differs between a check and a GPU",
        _SAME_CODE,
    ),
    _family(
        HOST_ESCAPE,
        r"mprotect pkey_mprotect pkey_set _wrpkru __builtin_ia32_wrpkru process_vm_readv process_vm_writev "
        r"ptrace",
        "changes or reads the memory of the process without HIP",
        _HOST_CODE,
    ),
    _family(
        HOST_ESCAPE,
        r"dlsym dlvsym dlopen dlmopen dladdr dladdr1 dlinfo dl_iterate_phdr _r_debug _DYNAMIC "
        r"_GLOBAL_OFFSET_TABLE_ __builtin_return_address __builtin_frame_address",
        "looks for code and data of the program that calls the submission",
        _HOST_CODE,
    ),
)  # fmt: skip

_DETECTS, _ESCAPES = (_FAMILIES[0], _FAMILIES[4])
_SECTIONS = re.compile(r"\.(?:(?:pre)?init(?:_array)?|fini(?:_array)?|ctors|dtors|got|plt|text)\b")
_OWN_HEADERS = re.compile(r"^\"(?:\.{0,2}/|\w+/)*(?:hipcpu|hipshared|hiptarget|xray)/")
_GPU_HEADERS = re.compile(r"^[<\"]?(?:hip/amd_detail|roc\w*|ck|ck_tile|xray)/")
_SPLICE = re.compile(r"\\[ \t]*\r?\n")
_WITH_STRINGS = frozenset({"section", "__section__", "asm", "__asm__", "__asm"})
_IN_CONTEXT = _WITH_STRINGS | {"syscall", "ifunc", "__ifunc__"}
_DEFINEDNESS = {"defined", "ifdef", "ifndef", "elifdef", "elifndef"}
_MAX_PASTED = 4096


@dataclass(frozen=True)
class _Refusal:
    offset: int
    name: str
    family: _Family
    pasted: bool = False

    @property
    def message(self) -> str:
        how = " (formed by ##)" if self.pasted else ""
        return f"'{self.name}'{how} {self.family.reason}"


def refuse(source: str) -> None:
    """Raise `SourceRefused` for the first name that no submission may use.

    A source that ends inside a comment or a string is left to the compiler, which reports it.
    """
    spliced, original = _join_lines(source)
    try:
        tokens = tokenize(spliced)
    except LexError:
        return
    refusals = sorted(_find(tokens), key=lambda refusal: refusal.offset)
    if refusals:
        first = refusals[0]
        line, column = LineIndex(source).position(original(first.offset))
        raise SourceRefused(line, column, first.message, code=first.family.code, hint=first.family.hint)


class _Offsets:
    """A map from offsets in the text without continuation lines to the original text."""

    def __init__(self, joints: Sequence[tuple[int, int]]) -> None:
        self._starts = [start for start, _ in joints]
        self._removed = [removed for _, removed in joints]

    def __call__(self, offset: int) -> int:
        index = bisect_right(self._starts, offset)
        return offset + (self._removed[index - 1] if index else 0)


def _join_lines(source: str) -> tuple[str, _Offsets]:
    """Remove the ends of continued lines, which may be inside a name, and digraphs, as a compiler does."""
    joints: list[tuple[int, int]] = []
    removed = 0
    for match in _SPLICE.finditer(source):
        removed += len(match.group())
        joints.append((match.end() - removed, removed))
    spliced = _SPLICE.sub("", source) if joints else source
    return spliced.replace("%:%:", "##  ").replace("%:", "# "), _Offsets(joints)


def _find(source: Source) -> Iterator[_Refusal]:
    for tokens in (source.code, *(directive.tokens for directive in source.directives)):
        yield from _find_names(tokens)
    for directive in source.directives:
        yield from _find_in_directive(directive)
    yield from _find_pasted(source)


def _find_names(tokens: Sequence[Token]) -> Iterator[_Refusal]:
    for index, token in enumerate(tokens):
        if token.kind is not TokenKind.NAME:
            continue
        if family := _family_of(token.text):
            yield _Refusal(token.start, token.text, family)
        elif token.text in _IN_CONTEXT:
            yield from _find_in_context(tokens, index)


def _find_in_context(tokens: Sequence[Token], index: int) -> Iterator[_Refusal]:
    """Find uses of names that are refused only in some places."""
    token = tokens[index]
    before = tokens[index - 1].text if index else ""
    after = tokens[index + 1].text if index + 1 < len(tokens) else ""
    if token.text in _WITH_STRINGS:
        yield from _find_in_strings(tokens, index)
    elif before not in {".", "->"} if token.text == "syscall" else after == "(":
        yield _Refusal(token.start, token.text, _ESCAPES)


def _find_in_strings(tokens: Sequence[Token], index: int) -> Iterator[_Refusal]:
    """Find sections that the loader uses, and assembler names of refused functions."""
    for token in tokens[index + 1 : index + 12]:
        if token.text in {")", ";"}:
            return
        if token.kind is TokenKind.STRING:
            content = token.text.strip('"')
            if _SECTIONS.search(content) or _family_of(content) is not None:
                yield _Refusal(token.start, content, _ESCAPES)


@functools.lru_cache(maxsize=4096)
def _family_of(name: str) -> _Family | None:
    return next((family for family in _FAMILIES if family.names.fullmatch(name)), None)


def _find_in_directive(directive: Directive) -> Iterator[_Refusal]:
    tokens = directive.tokens
    for index, token in enumerate(tokens):
        if token.kind is TokenKind.STRING and _OWN_HEADERS.match(token.text):
            yield _Refusal(token.start, token.text, _DETECTS)
        elif token.text in {"__has_include", "__has_include_next"}:
            argument = "".join(other.text for other in tokens[index + 2 : index + 16])
            if _GPU_HEADERS.match(argument):
                yield _Refusal(token.start, token.text, _FAMILIES[2])
        elif token.text == "__GNUC__" and not _is_definedness_test(directive, index):
            yield _Refusal(token.start, token.text, _FAMILIES[2])


def _is_definedness_test(directive: Directive, index: int) -> bool:
    """Return whether `#if` only tests if the name at `index` is defined, which it is for every compiler."""
    if directive.name in _DEFINEDNESS:
        return True
    before = [token.text for token in directive.tokens[max(0, index - 2) : index]]
    return before[-1:] == ["defined"] or before == ["defined", "("]


def _find_pasted(source: Source) -> Iterator[_Refusal]:
    """Find names that `##` forms from tokens of a macro's body and arguments of the file's macros."""
    macros = [d for d in source.directives if d.name == "define" and d.tokens]
    pasting = [d for d in macros if any(t.text == "##" for t in d.tokens)]
    if not pasting:
        return
    arguments = list(dict.fromkeys(_possible_arguments(source, macros)))
    for directive in pasting:
        parameters, body = split_macro(directive.tokens)
        for first, operands in _pastes(body):
            parts = [arguments if name in {*parameters, "__VA_ARGS__"} else [name] for name in operands]
            if found := _forms_refused(parts):
                yield _Refusal(first.start, found[0], found[1], pasted=True)


def _possible_arguments(source: Source, macros: Sequence[Directive]) -> Iterator[str]:
    """Yield the tokens that can be an argument of a macro: alone between `(`, `,` and `)` of its use."""
    names = {directive.tokens[0].text for directive in macros}
    for tokens in (source.code, *(directive.tokens for directive in source.directives)):
        is_use: list[bool] = []  # for each open parenthesis: whether the name of a macro is before it
        for index in range(1, len(tokens) - 1):
            text = tokens[index].text
            if text == "(":
                is_use.append(tokens[index - 1].text in names)
            elif text == ")":
                is_use = is_use[:-1]
            elif is_use[-1:] == [True] and _is_alone(tokens, index):
                yield text
    for directive in macros:  # an argument may be a macro whose body is one name
        _, body = split_macro(directive.tokens)
        if len(body) == 1:
            yield body[0].text


def _is_alone(tokens: Sequence[Token], index: int) -> bool:
    return tokens[index - 1].text in {"(", ","} and tokens[index + 1].text in {")", ","}


def _pastes(body: Sequence[Token]) -> Iterator[tuple[Token, list[str]]]:
    """Yield each chain `a ## b ## c` of a macro's body: its first token and the texts of its operands."""
    index = 0
    while index + 2 < len(body):
        if body[index + 1].text != "##":
            index += 1
            continue
        first, operands = body[index], [body[index].text]
        while index + 2 < len(body) and body[index + 1].text == "##":
            operands.append(body[index + 2].text)
            index += 2
        yield first, operands


def _forms_refused(parts: Sequence[Iterable[str]]) -> tuple[str, _Family] | None:
    """Return the first refused name among the concatenations of one text per part."""
    beginnings = [""]
    for options in parts:
        joined = [beginning + option for beginning in beginnings for option in ("", *options)]
        for name in joined:
            if family := _family_of(name):
                return name, family
        beginnings = [name for name in dict.fromkeys(joined) if _may_become_refused(name)][:_MAX_PASTED]
    return None


_FRAGMENTS = tuple(chain.from_iterable(family.fragments for family in _FAMILIES))


def _may_become_refused(beginning: str) -> bool:
    return any(fragment.startswith(beginning) for fragment in _FRAGMENTS)
