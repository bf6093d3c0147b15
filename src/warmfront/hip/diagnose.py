"""Says in the author's own lines and words why a submission did not compile.

It knows the compiler's output and the author's text, and nothing of sandboxes or verdicts. What is ours
(headers, trailer, rewritten launches) is never shown.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from warmfront.hip.compiler_messages import Message, Place, Severity, parse_messages
from warmfront.hip.gpu_only import gpu_only
from warmfront.hip.message_cleanup import clean_message, describe_launch_error
from warmfront.hip.source.edits import LineIndex, spell
from warmfront.hip.source.lexer import LexError, Source, match_brackets, tokenize
from warmfront.hip.source.source_map import SourceMap
from warmfront.hip.trailer import SOURCE_NAME, TRAILER_NAME

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

#: More than this many errors help nobody.
MOST_ERRORS = 20
_MOST_NOTES = 2


@dataclass(frozen=True)
class Diagnostic:
    """One complaint at a place of the author's text; line 0 where it has none."""

    line: int
    column: int
    severity: str  #: `error` or `note`
    message: str
    source_line: str


@dataclass(frozen=True)
class CompileFailure:
    """Why it did not compile."""

    code: str  #: stable, such as COMPILE_ERROR or NO_SOLUTION
    message: str  #: to be read; may have several lines
    diagnostics: tuple[Diagnostic, ...] = ()
    hint: str = ""


def classify(
    output: str,
    source: str,
    declaration: str,
    assembly: Sequence[int] = (),
    *,
    rewritten: bool = True,
) -> CompileFailure:
    """What the compiler's `output` means.

    `declaration` is what the problem asks for, `assembly` the lines with asm statements. `rewritten` says
    that the compiler saw what `rewrite` made of `source`.
    """
    case = _Case(source, declaration, tuple(assembly), SourceMap(source, rewritten=rewritten))
    messages = [m for m in parse_messages(output) if m.severity is not Severity.WARNING]
    for explain in (
        case.runs_on_gpu_only,
        case.assembly_of_a_gpu,
        case.name_of_the_runtime,
        case.errors_of_the_author,
        case.brackets_left_open,
        case.solution_is_missing,
        case.solution_has_no_c_linkage,
        case.solution_has_another_signature,
        case.errors_of_the_linker,
    ):
        if failure := explain(messages):
            return failure
    return case.anything_else(messages, output)


def main_defined(source: str, line: int, declaration: str) -> CompileFailure:
    """A submission that defines `main` at `line`."""
    diagnostic = _at(source, line, 1, "main is defined here")
    return CompileFailure(
        "MAIN_DEFINED",
        f"Line {line} defines main. A submission is called, it does not run by itself.",
        (diagnostic,),
        hint=f"Keep the kernels, leave out main, and define: {declaration}",
    )


def render(diagnostics: Iterable[Diagnostic], source: str, file_name: str = SOURCE_NAME) -> str:
    """The diagnostics as a compiler would print them, with the author's line and a caret."""
    width = len(str(source.count("\n") + 1))
    return "\n".join(_render_one(diagnostic, file_name, width) for diagnostic in diagnostics)


def _render_one(diagnostic: Diagnostic, file_name: str, width: int) -> str:
    if diagnostic.line == 0:
        return f"{file_name}: {diagnostic.severity}: {diagnostic.message}"
    place = f"{file_name}:{diagnostic.line}:{diagnostic.column}"
    text = diagnostic.source_line
    # Tabs stay tabs, so that the caret stands where the author's editor puts the column.
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
_EXPANDED = re.compile(r"in expansion of macro|expanded from macro")
_HELPFUL = re.compile(r"declared here|defined here|previous|to match this|did you|candidate:")
_REFUSED_ASSEMBLY = re.compile(r"in 'asm'|inline asm|invalid instruction|constraint")
_REDEFINED = re.compile(
    r"(?:redefinition of|ambiguating new declaration of|conflicting declaration(?: of C function)?) "
    r"'(?P<what>[^']*)'"
    # One of ours may be noexcept, and the author's is not.
    r"|declaration of '(?P<other>[^']*)' has a different exception specifier"
)
_NO_SOLUTION = re.compile(r"'solution' was not declared|undeclared identifier 'solution'")
_MEANT = re.compile(r"did you mean '(?P<name>\w+::solution)'")
_NOT_EXTERN_C = re.compile(
    r"conflicting declaration .*solution.* with 'C' linkage|different language linkage"
)
_OVERLOADED = re.compile(r"cannot resolve address of overloaded|overloaded function could not be resolved")
_WRONG_SIGNATURE = re.compile(r"WARMFRONT_SIGNATURE")
_TWICE = re.compile(r"(?:multiple definition of|duplicate symbol:?) [`']?(?P<name>[^'\s]+)")
_NOWHERE = re.compile(r"(?:undefined reference to [`']|undefined symbol:? [`']?)(?P<name>[^'\n]+?)'?$")


@dataclass(frozen=True)
class _Case:
    """One failed compilation; each method knows one way to fail, and gives None where it is another."""

    source: str
    declaration: str
    assembly: tuple[int, ...]
    source_map: SourceMap

    def runs_on_gpu_only(self, messages: Sequence[Message]) -> CompileFailure | None:
        """Something that exists, but not without a GPU."""
        for message in self.by_author(messages):
            if found := gpu_only(message.text):
                diagnostic = self.diagnostic(message, found.message)
                where = f" (line {diagnostic.line})" if diagnostic.line else ""
                return CompileFailure("GPU_ONLY", found.message + where, (diagnostic,), hint=found.hint)
        return None

    def assembly_of_a_gpu(self, messages: Sequence[Message]) -> CompileFailure | None:
        """An asm statement that this machine's assembler does not understand."""
        if not self.assembly:
            return None
        for message in messages:
            if message.severity is Severity.ASSEMBLER or _REFUSED_ASSEMBLY.search(message.text):
                text = "inline assembly runs on a GPU only: this machine does not know its instructions"
                line = self.assembly_line(message)
                return CompileFailure(
                    "GPU_ONLY",
                    f"{text} (line {line})",
                    (_at(self.source, line, 1, f"{text}: {clean_message(message.text)}"),),
                    hint="Write it in C++, or run it with --toolchain rocm.",
                )
        return None

    def assembly_line(self, message: Message) -> int:
        """The line of the asm statement that a message is about: as it says, or else the first."""
        said = message.place.line if message.place and message.place.file == SOURCE_NAME else 0
        before = [line for line in self.assembly if line <= said]
        return before[-1] if before else self.assembly[0]

    def name_of_the_runtime(self, messages: Sequence[Message]) -> CompileFailure | None:
        """A function that the headers define already."""
        for message in self.by_author(messages):
            taken = _REDEFINED.search(message.text)
            elsewhere = any(note.place.file not in _AUTHORS for note in message.notes)
            if taken and elsewhere:
                name = _name_of(taken["what"] or taken["other"])
                diagnostic = self.diagnostic(message, f"'{name}' belongs to HIP's runtime")
                return _reserved(name, (diagnostic,))
        return None

    def errors_of_the_author(self, messages: Sequence[Message]) -> CompileFailure | None:
        """Errors in the author's own text."""
        found: dict[tuple[int, str], Diagnostic] = {}
        notes: dict[Diagnostic, list[Diagnostic]] = {}
        for message in self.by_author(messages):
            if message.severity is not Severity.ERROR:
                continue
            diagnostic = self.diagnostic(message)
            if (diagnostic.line, diagnostic.message) not in found:
                found[diagnostic.line, diagnostic.message] = diagnostic
                said = diagnostic.message
                notes[diagnostic] = [n for n in self.notes(message) if n.message.split(": ")[-1] not in said]
        if not found:
            return None
        errors = list(found.values())[:MOST_ERRORS]
        return self.compile_error([d for error in errors for d in (error, *notes[error])])

    def brackets_left_open(self, messages: Sequence[Message]) -> CompileFailure | None:
        """A brace that the author never closed, so that the error is after the end."""
        opened = _never_closed(self.source)
        if opened is None or not any(m.place and m.place.file == TRAILER_NAME for m in messages):
            return None
        line, column = LineIndex(self.source).position(opened)
        last = len(self.source.rstrip().split("\n"))
        return self.compile_error(
            [
                _at(self.source, last, len(self.source), "the file ends, and a '{' is still open"),
                _at(self.source, line, column, "it is this one", "note"),
            ]
        )

    def solution_is_missing(self, messages: Sequence[Message]) -> CompileFailure | None:
        """No `solution` at global scope."""
        missing = _first(messages, _NO_SOLUTION)
        if missing is None:
            return None
        if line := self.source_map.main_line:
            return main_defined(self.source, line, self.declaration)
        message = "There is no function solution at global scope."
        if elsewhere := _MEANT.search(missing.text):
            message = f"solution is not at global scope: there is only {elsewhere['name']}."
        message += f"\n  expected: {self.declaration}"
        return CompileFailure("NO_SOLUTION", message, hint="Define the function that is expected.")

    def solution_has_no_c_linkage(self, messages: Sequence[Message]) -> CompileFailure | None:
        """`solution` without extern "C"."""
        if not _first(messages, _NOT_EXTERN_C):
            return None
        diagnostics = self.own_solution('add extern "C"')
        return CompileFailure(
            "NOT_EXTERN_C",
            'solution is declared without extern "C", so it cannot be found by its name.'
            f"\n  expected: {self.declaration}",
            diagnostics,
            hint='Add extern "C" in front of it.',
        )

    def solution_has_another_signature(self, messages: Sequence[Message]) -> CompileFailure | None:
        """`solution` takes or returns something else."""
        overloaded = _first(messages, _OVERLOADED)
        if not overloaded and not _first(messages, _WRONG_SIGNATURE):
            return None
        diagnostics = self.own_solution("this is another signature")
        message = "solution does not have the signature of this problem."
        if overloaded:
            message = "solution must be one plain function: it is a template, or there are several."
        message += f"\n  expected: {self.declaration}"
        if own := _own_declaration(self.source):
            message += f"\n  found:    {own[1]}"
        return CompileFailure(
            "WRONG_SIGNATURE", message, diagnostics, hint="Types, order and count must be as expected."
        )

    def errors_of_the_linker(self, messages: Sequence[Message]) -> CompileFailure | None:
        """Names that are defined twice, or not at all."""
        for message in messages:
            if message.severity is not Severity.LINKER:
                continue
            if twice := _TWICE.search(message.text):
                name = _name_of(twice["name"])
                if name == "main":
                    return main_defined(self.source, self.source_map.main_line or 0, self.declaration)
                return _reserved(name, self.mentions(name))
            if nowhere := _NOWHERE.search(message.text):
                return self.undefined(nowhere["name"])
        return None

    def undefined(self, name: str) -> CompileFailure:
        """A name that is used and nowhere defined."""
        if found := gpu_only(f"'{_name_of(name)}' was not declared"):
            return CompileFailure("GPU_ONLY", found.message, self.mentions(_name_of(name)), hint=found.hint)
        return CompileFailure(
            "UNDEFINED_NAME",
            f"'{name}' is declared and used, but nowhere defined.",
            self.mentions(_name_of(name)),
            hint="Define it in the same file: nothing else is linked.",
        )

    def anything_else(self, messages: Sequence[Message], output: str) -> CompileFailure:
        """Whatever else a compiler says, without the paths of this machine."""
        text = next((m.text for m in messages), "") or next(
            (line for line in output.splitlines() if "error" in line.lower()), "the compiler gave no reason"
        )
        last = len(self.source.rstrip().split("\n"))
        return self.compile_error([_at(self.source, last, 1, clean_message(text))])

    # Places

    def by_author(self, messages: Iterable[Message]) -> list[Message]:
        """The messages that lead to a line of the author's."""
        return [m for m in messages if self.place(m) is not None]

    def place(self, message: Message) -> Place | None:
        """The author's place that a message belongs to."""
        for note in message.notes:  # where a macro is used, rather than where it is defined
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
        """A message at its place, in the author's words."""
        place = self.place(message) or Place(SOURCE_NAME, 0)
        spot = self.source_map.find(place)
        raised = (
            self.source_map.find(message.place)
            if message.place and message.place.file == SOURCE_NAME
            else spot
        )
        if text is None:
            text = describe_launch_error(message) if raised.in_launch else clean_message(message.text)
        return _at(self.source, spot.line, spot.column, text)

    def notes(self, message: Message) -> list[Diagnostic]:
        """What the compiler added about lines of the author's."""
        found = []
        for note in message.notes:
            if note.place.file == SOURCE_NAME and _HELPFUL.search(note.text):
                spot = self.source_map.find(note.place)
                found.append(_at(self.source, spot.line, spot.column, clean_message(note.text), "note"))
        return found[:_MOST_NOTES]

    def compile_error(self, diagnostics: Sequence[Diagnostic]) -> CompileFailure:
        """Errors with their lines."""
        return CompileFailure(
            "COMPILE_ERROR",
            render(diagnostics, self.source),
            tuple(diagnostics),
            hint="Mend the line and run it again.",
        )

    def own_solution(self, text: str) -> tuple[Diagnostic, ...]:
        """A diagnostic at the author's own `solution`, if it can be found."""
        own = _own_declaration(self.source)
        return (_at(self.source, *LineIndex(self.source).position(own[0]), text),) if own else ()

    def mentions(self, name: str) -> tuple[Diagnostic, ...]:
        """Where the author names something first."""
        found = re.search(rf"\b{re.escape(name)}\b", self.source)
        if not found:
            return ()
        return (_at(self.source, *LineIndex(self.source).position(found.start()), f"'{name}' is named here"),)


def _first(messages: Iterable[Message], pattern: re.Pattern[str]) -> Message | None:
    return next((m for m in messages if pattern.search(m.text)), None)


def _name_of(text: str) -> str:
    """The bare name in `float a::f(int)` or `f(int)`."""
    before = text.partition("(")[0].split()
    return before[-1].rpartition("::")[2].lstrip("*&") if before else text


def _reserved(name: str, diagnostics: tuple[Diagnostic, ...]) -> CompileFailure:
    return CompileFailure(
        "RESERVED_NAME",
        f"'{name}' belongs to the runtime and cannot be defined again.",
        diagnostics,
        hint="Give your function another name, or put it in a namespace.",
    )


def _tokens(source: str) -> Source:
    try:
        return tokenize(source)
    except LexError:
        return Source([], [])


def _never_closed(source: str) -> int | None:
    """Where the last `{` stands that is never closed."""
    tokens = _tokens(source)
    partner = match_brackets(tokens.code, tokens.directives).partner
    opened = [t.start for i, t in enumerate(tokens.code) if t.text == "{" and i not in partner]
    return opened[-1] if opened else None


def _own_declaration(source: str) -> tuple[int, str] | None:
    """Where the author declares `solution`, and how."""
    code = _tokens(source).code
    partner = match_brackets(code).partner
    for index, token in enumerate(code):
        if token.text == "solution" and index + 1 in partner and code[index + 1].text == "(":
            start = index
            while start > 0 and code[start - 1].text not in {";", "{", "}", ")"}:
                start -= 1
            return token.start, spell(code[start : partner[index + 1] + 1])
    return None
