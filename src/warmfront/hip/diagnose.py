"""Explain why a source did not compile, with positions in the author's own lines.

The input is the compiler's output and the author's text. Our headers, the trailer and rewritten launches are
never shown.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from warmfront.hip.builtins import GFX942, find_rejection, find_unknown_builtin
from warmfront.hip.compiler_messages import Message, Place, Severity, parse_messages
from warmfront.hip.gpu_only import find_gpu_only
from warmfront.hip.message_cleanup import clean_message, describe_launch_error
from warmfront.hip.rocm_versions import find_missing
from warmfront.hip.source.edits import LineIndex, TokenEditor, spell
from warmfront.hip.source.inline_assembly import ASSEMBLY, unknown_instruction
from warmfront.hip.source.lexer import LexError, Source, TokenKind, match_brackets, split_macro, tokenize
from warmfront.hip.source.source_map import SourceMap
from warmfront.hip.trailer import SOURCE_NAME, TRAILER_NAME
from warmfront.hip.unsupported_matrix_instructions import find_unknown_instruction
from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from warmfront.hip.source.edits import RewriteError
    from warmfront.hip.source.lexer import Token

#: The most errors to report; more do not help.
MAX_ERRORS = 20
_MAX_NOTES = 2


@dataclass(frozen=True)
class Diagnostic:
    """An error or a note at a position in the author's source; line 0 if it has no position."""

    line: int
    column: int
    severity: str  #: `error` or `note`
    message: str
    source_line: str


@dataclass(frozen=True)
class CompileFailure:
    """The reason why a source did not compile."""

    code: str  #: a stable code such as COMPILE_ERROR or NO_SOLUTION
    message: str  #: may have several lines
    diagnostics: tuple[Diagnostic, ...] = ()
    hint: str = ""


def classify(
    output: str,
    source: str,
    declaration: str,
    assembly: Sequence[int] = (),
    *,
    rewritten: bool = True,
    arch: str = GFX942,
) -> CompileFailure:
    """Return the failure that the compiler's `output` describes.

    Args:
        output: everything that the compiler printed.
        source: the author's text.
        declaration: the declaration of `solution` that the problem requires.
        assembly: the lines with asm statements.
        rewritten: whether the output of `rewrite` was compiled, instead of `source` itself.
        arch: the architecture of the GPU.
    """
    compilation = _FailedCompilation(
        source, declaration, tuple(assembly), SourceMap(source, rewritten=rewritten), arch
    )
    messages = [m for m in parse_messages(output) if m.severity is not Severity.WARNING]
    for explain in (
        compilation.unknown_instruction,
        compilation.gpu_only_name,
        compilation.rejected_argument,
        compilation.gpu_assembly,
        compilation.missing_construct,
        compilation.reserved_name,
        compilation.author_errors,
        compilation.unclosed_brace,
        compilation.missing_solution,
        compilation.missing_c_linkage,
        compilation.wrong_signature,
        compilation.linker_error,
    ):
        if failure := explain(messages):
            return failure
    return compilation.other_error(messages, output)


def main_defined(source: str, line: int, declaration: str) -> CompileFailure:
    """Return the failure of a source that defines `main` at `line`."""
    diagnostic = _at(source, line, 1, "main is defined here")
    return CompileFailure(
        "MAIN_DEFINED",
        f"Line {line} defines main. A submission is a function that is called, not a program.",
        (diagnostic,),
        hint=f"Keep the kernels, remove main, and define: {declaration}",
    )


def rewrite_failure(source: str, error: RewriteError) -> CompileFailure:
    """Return the failure for a source that cannot be translated, or is refused."""
    diagnostic = _at(source, error.line, error.column, error.message)
    return CompileFailure(error.code, render([diagnostic], source), (diagnostic,), hint=error.hint)


def render(diagnostics: Iterable[Diagnostic], source: str, file_name: str = SOURCE_NAME) -> str:
    """Return the diagnostics as a compiler prints them, with the author's line and a caret."""
    width = len(str(source.count("\n") + 1))
    return "\n".join(_render_one(diagnostic, file_name, width) for diagnostic in diagnostics)


def _render_one(diagnostic: Diagnostic, file_name: str, width: int) -> str:
    if diagnostic.line == 0:
        return f"{file_name}: {diagnostic.severity}: {diagnostic.message}"
    place = f"{file_name}:{diagnostic.line}:{diagnostic.column}"
    text = diagnostic.source_line
    # Tabs stay tabs, so that the caret is in the right column whatever the tab width.
    indent = "".join(c if c == "\t" else " " for c in text[: diagnostic.column - 1])
    return (
        f"{place}: {diagnostic.severity}: {diagnostic.message}\n"
        f" {diagnostic.line:>{width}} | {text}\n"
        f" {'':>{width}} | {indent}^"
    )


def _at(source: str, line: int, column: int, message: str, severity: str = "error") -> Diagnostic:
    lines = source.split("\n")
    text = lines[line - 1].rstrip("\r") if 0 < line <= len(lines) else ""
    return Diagnostic(line, min(column, len(text) + 1), severity, message, text)


_AUTHORS = (SOURCE_NAME, TRAILER_NAME)
#: g++ prints the use of a macro in a note; clang prints it first, and the definition in a note.
_EXPANDED = re.compile(r"in expansion of macro")
_HELPFUL = re.compile(r"declared here|defined here|previous|to match this|did you|candidate:")
_REJECTED_ASSEMBLY = re.compile(r"in 'asm'|inline asm|invalid instruction|constraint")
_REDEFINED = re.compile(
    r"(?:redefinition of|ambiguating new declaration of|conflicting declaration(?: of C function)?) "
    r"'(?P<what>[^']*)'"
    # Our function may be noexcept while the author's is not.
    r"|declaration of '(?P<other>[^']*)' has a different exception specifier"
)
_NO_SOLUTION = re.compile(r"'solution' was not declared|undeclared identifier 'solution'")
_SUGGESTED = re.compile(r"did you mean '(?P<name>\w+::solution)'")
_NOT_EXTERN_C = re.compile(
    r"conflicting declaration .*solution.* with 'C' linkage|different language linkage"
)
_OVERLOADED = re.compile(r"cannot resolve address of overloaded|overloaded function could not be resolved")
_WRONG_SIGNATURE = re.compile(r"WARMFRONT_SIGNATURE")
_DUPLICATE = re.compile(r"(?:multiple definition of|duplicate symbol:?) [`']?(?P<name>[^'\s]+)")
_UNDEFINED = re.compile(
    r"(?:undefined reference to [`']|undefined (?:hidden |protected )?symbol:? [`']?)(?P<name>[^'\n]+?)'?$"
)


@dataclass(frozen=True)
class _FailedCompilation:
    """One failed compilation. Each public method recognizes one reason, and returns None for all others."""

    source: str
    declaration: str
    assembly: tuple[int, ...]
    source_map: SourceMap
    arch: str

    def unknown_instruction(self, messages: Sequence[Message]) -> CompileFailure | None:
        """Recognize a builtin that the GPU does not have. A compiler for the GPU explains most of them."""
        for message in self.by_author(messages):
            unknown = find_unknown_instruction(message.text, self.arch)
            if unknown is None and self.source_map.rewritten:
                unknown = find_unknown_builtin(message.text, self.arch)
            if unknown:
                diagnostic = self.diagnostic(message, unknown.message)
                return CompileFailure(
                    "UNKNOWN_INSTRUCTION", render([diagnostic], self.source), (diagnostic,), hint=unknown.hint
                )
        return None

    def gpu_only_name(self, messages: Sequence[Message]) -> CompileFailure | None:
        """Recognize a name that exists only on a GPU, if this is not a GPU compiler."""
        if not self.source_map.rewritten:
            return None
        for message in self.by_author(messages):
            if name := find_gpu_only(message.text):
                diagnostic = self.diagnostic(message, name.message)
                where = f" (line {diagnostic.line})" if diagnostic.line else ""
                return CompileFailure("GPU_ONLY", name.message + where, (diagnostic,), hint=name.hint)
        return None

    def rejected_argument(self, messages: Sequence[Message]) -> CompileFailure | None:
        """Recognize a constant argument that a builtin of the GPU does not accept."""
        for message in self.by_author(messages):
            texts = (message.text, *(note.text for note in message.notes))
            if rejection := next(filter(None, map(find_rejection, texts)), None):
                diagnostic = self.diagnostic(message, rejection[0])
                text = render([diagnostic], self.source)
                return CompileFailure("COMPILE_ERROR", text, (diagnostic,), hint=rejection[1])
        return None

    def missing_construct(self, messages: Sequence[Message]) -> CompileFailure | None:
        """Recognize a name that HIP does not have, or that only a newer ROCm has."""
        for message in self.by_author(messages)[:1]:
            if missing := find_missing(message.text):
                diagnostic = self.diagnostic(message, missing.message)
                return CompileFailure(
                    missing.code, render([diagnostic], self.source), (diagnostic,), hint=missing.hint
                )
        return None

    def gpu_assembly(self, messages: Sequence[Message]) -> CompileFailure | None:
        """Recognize an asm statement that this machine's assembler rejects."""
        if not self.assembly or not self.source_map.rewritten:
            return None
        for message in messages:
            if message.severity is Severity.ASSEMBLER or _REJECTED_ASSEMBLY.search(message.text):
                line = self.assembly_line(message)
                text = f"inline assembly runs on a GPU only: {self.unknown_assembly(line)}"
                return CompileFailure(
                    "GPU_ONLY",
                    f"{text} (line {line})",
                    (_at(self.source, line, 1, f"{text}: {clean_message(message.text)}"),),
                    hint="Write it in C++, or use the rocm toolchain.",
                )
        return None

    def unknown_assembly(self, line: int) -> str:
        """Return the part of the assembly at a line that the CPU runtime does not support."""
        tokens, lines = _tokens(self.source), LineIndex(self.source)
        bodies = [tokens.code, *(split_macro(d.tokens)[1] for d in tokens.directives if d.name == "define")]
        for body in bodies:
            editor = TokenEditor(body, match_brackets(body), lines)
            for index, token in enumerate(body):
                is_here = token.text in ASSEMBLY and lines.position(token.start)[0] == line
                if is_here and (part := unknown_instruction(editor, index)):
                    return f"the CPU runtime does not support {part}"
        return "this machine does not have its instructions"

    def assembly_line(self, message: Message) -> int:
        """Return the line of the asm statement that a message is about; by default, the first one."""
        reported = message.place.line if message.place and message.place.file == SOURCE_NAME else 0
        before = [line for line in self.assembly if line <= reported]
        return before[-1] if before else self.assembly[0]

    def reserved_name(self, messages: Sequence[Message]) -> CompileFailure | None:
        """Recognize the definition of a function that the headers already define."""
        for message in self.by_author(messages):
            redefined = _REDEFINED.search(message.text)
            elsewhere = any(note.place.file not in _AUTHORS for note in message.notes)
            if redefined and elsewhere:
                name = _name_of(redefined["what"] or redefined["other"])
                diagnostic = self.diagnostic(message, f"'{name}' is a name of the HIP runtime")
                return _reserved(name, (diagnostic,))
        return None

    def author_errors(self, messages: Sequence[Message]) -> CompileFailure | None:
        """Return the errors in the author's own text."""
        errors: dict[tuple[int, str], Diagnostic] = {}
        notes: dict[Diagnostic, list[Diagnostic]] = {}
        for message in self.by_author(messages):
            if message.severity is not Severity.ERROR:
                continue
            diagnostic = self.diagnostic(message)
            if (diagnostic.line, diagnostic.message) not in errors:
                errors[diagnostic.line, diagnostic.message] = diagnostic
                text = diagnostic.message
                notes[diagnostic] = [n for n in self.notes(message) if n.message.split(": ")[-1] not in text]
        if not errors:
            return None
        first_errors = list(errors.values())[:MAX_ERRORS]
        return self.compile_error([d for error in first_errors for d in (error, *notes[error])])

    def unclosed_brace(self, messages: Sequence[Message]) -> CompileFailure | None:
        """Recognize a brace that is never closed; the compiler reports it after the end of the source."""
        brace = _find_unclosed_brace(self.source)
        if brace is None or not any(m.place and m.place.file == TRAILER_NAME for m in messages):
            return None
        line, column = LineIndex(self.source).position(brace)
        last = len(self.source.rstrip().split("\n"))
        return self.compile_error(
            [
                _at(self.source, last, len(self.source), "the file ends before a '{' is closed"),
                _at(self.source, line, column, "this '{' is not closed", "note"),
            ]
        )

    def missing_solution(self, messages: Sequence[Message]) -> CompileFailure | None:
        """Recognize a source without `solution` at global scope."""
        missing = _first(messages, _NO_SOLUTION)
        if missing is None:
            return None
        if line := self.source_map.main_line:
            return main_defined(self.source, line, self.declaration)
        message = "There is no function solution at global scope."
        if elsewhere := _SUGGESTED.search(missing.text):
            message = f"solution is not at global scope: there is only {elsewhere['name']}."
        message += f"\n  expected: {self.declaration}"
        return CompileFailure("NO_SOLUTION", message, hint="Define the expected function.")

    def missing_c_linkage(self, messages: Sequence[Message]) -> CompileFailure | None:
        """Recognize `solution` without extern "C"."""
        if not _first(messages, _NOT_EXTERN_C):
            return None
        diagnostics = self.own_solution('add extern "C"')
        return CompileFailure(
            "NOT_EXTERN_C",
            'solution is declared without extern "C", so it cannot be looked up by its name.'
            f"\n  expected: {self.declaration}",
            diagnostics,
            hint='Add extern "C" before the declaration.',
        )

    def wrong_signature(self, messages: Sequence[Message]) -> CompileFailure | None:
        """Recognize `solution` with other parameters or another return type."""
        overloaded = _first(messages, _OVERLOADED)
        if not overloaded and not _first(messages, _WRONG_SIGNATURE):
            return None
        diagnostics = self.own_solution("this signature differs")
        message = "solution does not have the signature that the problem requires."
        if overloaded:
            message = "solution must be a single function, not a template or an overload set."
        message += f"\n  expected: {self.declaration}"
        if own := _own_declaration(self.source):
            message += f"\n  found:    {own[1]}"
        return CompileFailure(
            "WRONG_SIGNATURE",
            message,
            diagnostics,
            hint="Types, order and number of the parameters must match.",
        )

    def linker_error(self, messages: Sequence[Message]) -> CompileFailure | None:
        """Recognize names that are defined twice, or not at all."""
        for message in messages:
            if message.severity is not Severity.LINKER:
                continue
            if duplicate := _DUPLICATE.search(message.text):
                name = _name_of(duplicate["name"])
                if name == "main":
                    return main_defined(self.source, self.source_map.main_line or 0, self.declaration)
                return _reserved(name, self.mentions(name))
            if undefined := _UNDEFINED.search(message.text):
                return self.undefined(undefined["name"])
        return None

    def undefined(self, name: str) -> CompileFailure:
        """Return the failure for a name that is used but not defined."""
        bare_name = _name_of(name)
        gpu_only = self.source_map.rewritten and find_gpu_only(f"'{bare_name}' was not declared")
        if gpu_only:
            return CompileFailure("GPU_ONLY", gpu_only.message, self.mentions(bare_name), hint=gpu_only.hint)
        return CompileFailure(
            "UNDEFINED_NAME",
            f"'{name}' is declared and used, but not defined.",
            self.mentions(bare_name),
            hint="Define it in the same file: no other file is linked.",
        )

    def other_error(self, messages: Sequence[Message], output: str) -> CompileFailure:
        """Return the compiler's first message, without the paths of this machine."""
        text = next((m.text for m in messages), "") or next(
            (line for line in output.splitlines() if "error" in line.lower()), "the compiler gave no reason"
        )
        last = len(self.source.rstrip().split("\n"))
        return self.compile_error([_at(self.source, last, 1, clean_message(text))])

    # Positions

    def by_author(self, messages: Iterable[Message]) -> list[Message]:
        """Return the messages that belong to a line of the author's source."""
        return [m for m in messages if self.place(m) is not None]

    def place(self, message: Message) -> Place | None:
        """Return the position in the author's source that a message belongs to; None if there is none."""
        for note in message.notes:  # where a macro is used, not where it is defined
            if _EXPANDED.match(note.text) and note.place.file == SOURCE_NAME:
                return note.place
            if note.place.file == SOURCE_NAME:
                break
        if message.place is None or message.place.file == TRAILER_NAME:
            return None
        requested = (note.place for note in message.notes if "requested here" in note.text)
        for place in (message.place, *message.path, *requested):
            if place.file == SOURCE_NAME:
                return place
        return None

    def diagnostic(self, message: Message, text: str | None = None) -> Diagnostic:
        """Return a message as a diagnostic in the author's source."""
        place = self.place(message) or Place(SOURCE_NAME, 0)
        position = self.source_map.find(place)
        reported = position
        if message.place and message.place.file == SOURCE_NAME:
            reported = self.source_map.find(message.place)
        if text is None:
            text = describe_launch_error(message) if reported.in_launch else clean_message(message.text)
        return _at(self.source, position.line, position.column, text)

    def notes(self, message: Message) -> list[Diagnostic]:
        """Return the compiler's notes about lines of the author's source."""
        diagnostics = []
        for note in message.notes:
            if note.place.file == SOURCE_NAME and _HELPFUL.search(note.text):
                position = self.source_map.find(note.place)
                diagnostics.append(
                    _at(self.source, position.line, position.column, clean_message(note.text), "note")
                )
        return diagnostics[:_MAX_NOTES]

    def compile_error(self, diagnostics: Sequence[Diagnostic]) -> CompileFailure:
        """Return the failure for errors in the author's source."""
        return CompileFailure(
            "COMPILE_ERROR",
            render(diagnostics, self.source),
            tuple(diagnostics),
            hint="Fix the error and submit again.",
        )

    def own_solution(self, text: str) -> tuple[Diagnostic, ...]:
        """Return a diagnostic at the author's `solution`; empty if it is not found."""
        own = _own_declaration(self.source)
        return (_at(self.source, *LineIndex(self.source).position(own[0]), text),) if own else ()

    def mentions(self, name: str) -> tuple[Diagnostic, ...]:
        """Return a diagnostic at the first use of `name`, or its declaration; empty if it does not occur."""
        code = _tokens(self.source).code
        uses = [index for index, token in enumerate(code) if token.text == name]
        if not uses:
            return ()
        calls = [index for index in uses if not _is_declared(code, index)]
        start = code[(calls or uses)[0]].start
        return (_at(self.source, *LineIndex(self.source).position(start), f"'{name}' is used here"),)


def _is_declared(code: Sequence[Token], index: int) -> bool:
    """Return whether the name at `index` follows a type, as in `float f(int);`, instead of being used."""
    before = code[index - 1] if index else None
    if before is None or before.text in {"return", "case", "else", "do", "throw"}:
        return False
    return before.kind is TokenKind.NAME or (
        before.text in {"*", "&", ">"} and _begins_statement(code, index)
    )


def _begins_statement(code: Sequence[Token], index: int) -> bool:
    """Return whether only names, `*`, `&` and template arguments precede the token in its statement."""
    for token in reversed(code[:index]):
        if token.text in {";", "{", "}"}:
            return True
        if token.kind is not TokenKind.NAME and token.text not in {"*", "&", "<", ">", "::", ","}:
            return False
    return True


def _first(messages: Iterable[Message], pattern: re.Pattern[str]) -> Message | None:
    return next((m for m in messages if pattern.search(m.text)), None)


def _name_of(text: str) -> str:
    """Return the bare name in `float a::f(int)` or `f(int)`."""
    before = text.partition("(")[0].split()
    return before[-1].rpartition("::")[2].lstrip("*&") if before else text


def _reserved(name: str, diagnostics: tuple[Diagnostic, ...]) -> CompileFailure:
    return CompileFailure(
        "RESERVED_NAME",
        f"'{name}' is defined by the runtime and cannot be defined again.",
        diagnostics,
        hint="Give your function another name, or put it in a namespace.",
    )


def _tokens(source: str) -> Source:
    try:
        return tokenize(source)
    except LexError:
        return Source([], [])


def _find_unclosed_brace(source: str) -> int | None:
    """Return the offset of the last `{` that is never closed; None if there is none."""
    tokens = _tokens(source)
    partner = match_brackets(tokens.code, tokens.directives).partner
    unclosed = [t.start for i, t in enumerate(tokens.code) if t.text == "{" and i not in partner]
    return unclosed[-1] if unclosed else None


def _own_declaration(source: str) -> tuple[int, str] | None:
    """Return the offset and the text of the author's declaration of `solution`; None if there is none."""
    code = _tokens(source).code
    partner = match_brackets(code).partner
    for index, token in enumerate(code):
        if token.text == "solution" and index + 1 in partner and code[index + 1].text == "(":
            start = index
            while start > 0 and code[start - 1].text not in {";", "{", "}", ")"}:
                start -= 1
            return token.start, spell(code[start : partner[index + 1] + 1])
    return None
