"""Rewrite HIP syntax as plain C++ for the CPU runtime: launches, and dynamic shared memory.

Every line keeps its number, so that compiler messages refer to the author's lines. Code that is not
understood is left to the compiler, or raises `RewriteError`.
"""

from __future__ import annotations

from dataclasses import field
from itertools import pairwise
from typing import TYPE_CHECKING

from warmfront.hip.builtins import GFX942, GFX950, PREFIX, headers_of, may_wait
from warmfront.hip.source.attributes import GNU_ATTRIBUTE, AttributeChecker
from warmfront.hip.source.edits import Edit, LineIndex, RewriteError, TokenEditor
from warmfront.hip.source.file_facts import file_facts, find_kernels
from warmfront.hip.source.inline_assembly import ASSEMBLY, matrix_builtins, translate_assembly
from warmfront.hip.source.inline_assembly import HEADER as ASSEMBLY_HEADER
from warmfront.hip.source.intrinsics import find_intrinsic, translate_intrinsic
from warmfront.hip.source.launch_rewrite import LAUNCHING_CALLS, drop_cast, translate_launch
from warmfront.hip.source.lexer import (
    Brackets,
    LexError,
    Source,
    Token,
    TokenKind,
    match_brackets,
    split_macro,
    tokenize,
)
from warmfront.hip.source.lockstep import find_assignments, translate_assignment
from warmfront.hip.source.shared_memory import decay, translate_shared
from warmfront.hip.source.thread_loops import plan_loops
from warmfront.hip.source.thread_loops_text import write_loops
from warmfront.hip.source.vector_expressions import VectorNames, has_vector_expression
from warmfront.hip.source.vector_types import VECTOR_ATTRIBUTES, translate_vector
from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from warmfront.hip.source.block_plan import Plan

__all__ = ["RewriteError", "Translation", "rewrite"]

#: Prefixes of names that can make threads of a block wait for each other.
_WAITING = (
    "__syncthreads",
    "__syncwarp",
    "__shfl",
    "__ballot",
    "__any",
    "__all",
    "__activemask",
    "__match_",
    "__reduce_",
    "cooperative_groups",
    "hipcub",
    "rocprim",
    "rocwmma",
)
_WAITING_LIBRARIES = frozenset({"cooperative_groups", "rocwmma", "hipcub", "rocprim"})
#: The tokens that need translation in the body of a macro.
_IN_MACROS = VECTOR_ATTRIBUTES | ASSEMBLY | GNU_ATTRIBUTE | {"<<<", "__shared__", "static_assert"}


@dataclass(frozen=True)
class Translation:
    """Plain C++ with the author's line numbers, and facts about the source."""

    text: str
    launches: int
    plain: bool  #: whether no operation makes a thread wait for another
    assembly: tuple[int, ...] = ()  #: the lines with an asm statement
    main_line: int | None = None  #: the line that defines `main`
    headers: tuple[str, ...] = ()  #: of the runtime, to be included before the text
    arch: str = GFX942  #: the GPU's architecture, which determines the meaning of some builtins
    edits: tuple[Edit, ...] = field(default=(), repr=False)  #: in source order

    @property
    def includes(self) -> str:
        """The directives that include `headers`."""
        target = ("hipcpu/gfx950.h",) if self.arch == GFX950 else ()
        return "".join(f"#include <{header}>\n" for header in (*target, *self.headers))


def rewrite(source: str, arch: str = GFX942) -> Translation:
    """Translate one file of HIP for a GPU with architecture `arch`.

    Raises:
        RewriteError: the file has a launch or a declaration that cannot be translated.
    """
    lines = LineIndex(source)
    try:
        tokens = tokenize(source)
    except LexError as error:
        raise RewriteError(*lines.position(error.offset), error.message) from error
    all_tokens = [*tokens.code, *(t for d in tokens.directives for t in d.tokens)]
    editors = list(_editors(tokens, lines))
    plain = not _may_wait(all_tokens) and not find_assignments(editors[0])
    launcher = "launch_plain" if plain else "launch"
    plans = _plan_loops(editors[0], tokens)
    two_forms = frozenset(plan.kernel.name for plan in plans)
    attributes = AttributeChecker(tokens.code, tokens.directives, lines)
    attributes.check_pragmas(tokens.directives)
    vectors = VectorNames(all_tokens)
    launches = sum(_translate(editor, launcher, two_forms, attributes, vectors) for editor in editors)
    for plan in plans:
        editors[0].replace(plan.kernel.body.end, f"}} {write_loops(editors[0], plan)}")
    edits = sorted(edit for editor in editors for edit in editor.edits)
    main = _find_main(editors[0])
    return Translation(
        text=_apply(source, edits),
        launches=launches,
        plain=plain,
        assembly=tuple(sorted(lines.position(t.start)[0] for t in all_tokens if t.text in ASSEMBLY)),
        main_line=lines.position(main.start)[0] if main else None,
        headers=tuple(_headers(all_tokens, arch)),
        arch=arch,
        edits=tuple(edits),
    )


def _headers(tokens: Sequence[Token], arch: str) -> list[str]:
    """Return the headers of the runtime that define the builtins and the assembly of a source."""
    strings = [token.text for token in tokens if token.kind is TokenKind.STRING]
    names = (*(token.text for token in tokens), *(name for text in strings for name in matrix_builtins(text)))
    labels = map(find_intrinsic, strings)
    headers = {*headers_of(names, arch), *(label[1] for label in labels if label)}
    return sorted(headers | {ASSEMBLY_HEADER for token in tokens if token.text in ASSEMBLY})


def _plan_loops(code: TokenEditor, tokens: Source) -> list[Plan]:
    """Return the second forms of the kernels that are launched and recognized."""
    names = {token.text for token in tokens.code}
    # The methods of groups wait, and have names that others have too; assembly can be any operation.
    if "<<<" not in names or names & (ASSEMBLY | _WAITING_LIBRARIES):
        return []
    kernels = find_kernels(code, tokens.directives)
    facts = file_facts(code, tokens.directives, kernels, (*_WAITING, PREFIX))
    return [plan for kernel in kernels if (plan := plan_loops(code, kernel, facts))]


def _may_wait(tokens: Sequence[Token]) -> bool:
    """Return whether a barrier or a wave operation is named, or could be formed by a macro's `##`."""
    names = [token.text for token in tokens if token.kind is TokenKind.NAME]
    if not ASSEMBLY.isdisjoint(names):
        return True
    return any(n.startswith(_WAITING) or (n.startswith(PREFIX) and may_wait(n)) for n in names) or any(
        token.text == "##" and following.text != "__VA_ARGS__" for token, following in pairwise(tokens)
    )


def _apply(source: str, edits: Iterable[Edit]) -> str:
    pieces: list[str] = []
    position = 0
    for edit in edits:
        pieces += (source[position : edit.start], edit.text)
        position = edit.end
    pieces.append(source[position:])
    return "".join(pieces)


def _editors(tokens: Source, lines: LineIndex) -> Iterator[TokenEditor]:
    """Yield an editor for the code, then one for the body of each macro that needs translation."""
    yield TokenEditor(tokens.code, match_brackets(tokens.code, tokens.directives), lines)
    for directive in tokens.directives:
        if directive.name == "define" and _needs_translation(directive.tokens):
            parameters, body = split_macro(directive.tokens)
            brackets = match_brackets(body)
            # It is unknown where a macro is used. Shared memory is declared in kernels, so assume a
            # function.
            inside = Brackets(brackets.partner, [True] * len(body))
            yield TokenEditor(body, inside, lines, parameters)


def _needs_translation(tokens: Sequence[Token]) -> bool:
    return (
        any(token.text in _IN_MACROS for token in tokens)
        or any(token.text == following.text == "[" for token, following in pairwise(tokens))
        or has_vector_expression(tokens)
    )


def _translate(
    editor: TokenEditor,
    launcher: str,
    two_forms: frozenset[str],
    attributes: AttributeChecker,
    vectors: VectorNames,
) -> int:
    """Translate all tokens of an editor in source order; return the number of launches."""
    launches = 0
    lockstep = find_assignments(editor)
    index = 0
    while index < len(editor.tokens):
        text = editor.text(index)
        if text == "<<<" and editor.text(index - 1) != "operator":
            translate_launch(editor, index, launcher, two_forms)
            launches += 1
        elif text in LAUNCHING_CALLS or text == "static_assert":
            (_defer_assertion if text == "static_assert" else drop_cast)(editor, index)
        elif text in GNU_ATTRIBUTE or (text == "[" and editor.text(index + 1) == "["):
            attributes.translate(editor, index)
        elif text in {"extern", "__shared__"}:
            index = translate_shared(editor, index)
        elif text in VECTOR_ATTRIBUTES:
            index, name = translate_vector(editor, index)
            vectors.add_type(name)
        elif text in ASSEMBLY:
            _ = translate_intrinsic(editor, index) or translate_assembly(editor, index)
        elif index in lockstep:
            translate_assignment(editor, lockstep[index])
        elif text in editor.file_arrays:
            decay(editor, index)
        else:
            vectors.translate(editor, index)
        index += 1
    return launches


def _defer_assertion(editor: TokenEditor, index: int) -> None:
    """Rewrite `static_assert(false)` so that g++ before version 13 evaluates it only for an instance.

    Clang accepts it in a branch of a template that is never used. A lambda depends on the template.
    """
    if editor.text(index + 2) in {"0", "false"} and editor.text(index + 3) in {",", ")"}:
        editor.replace(index + 2, "[] { return false; }()")


def _find_main(code: TokenEditor) -> Token | None:
    """Return the token `main` of `int main(...) {`; None if there is none."""
    for index, token in enumerate(code.tokens):
        if token.text != "main" or code.brackets.in_function[index] or code.text(index + 1) != "(":
            continue
        close = code.brackets.partner.get(index + 1, index)
        if code.text(close + 1) in {"{", "try", "noexcept"} and code.kind(index - 1) is TokenKind.NAME:
            return token
    return None
