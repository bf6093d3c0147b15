"""Says in the author's own lines why the target's compiler refused a file.

The CPU build has its own words for its own compiler; here speaks clang for a GPU, whose word is final on what
a GPU takes. Our headers are never shown.
"""

from __future__ import annotations

import re
import signal
from typing import TYPE_CHECKING

from warmfront.hip.compiler_messages import Message, Place, Severity, parse_messages
from warmfront.hip.diagnose import MOST_ERRORS, CompileFailure, Diagnostic, render
from warmfront.hip.message_cleanup import clean_message
from warmfront.hip.trailer import SOURCE_NAME
from warmfront.hip.xray.demangler import demangle
from warmfront.sandbox.base import ExitReason

if TYPE_CHECKING:
    from collections.abc import Iterator

    from warmfront.sandbox.base import BoxExit

_LDS = re.compile(r"local memory \((\d+)\) exceeds limit \((\d+)\) in (?:function )?'(.*)'")
_STACK = re.compile(r"stack frame size \((\d+)\) exceeds limit \((\d+)\) in function '(.*)'")
#: The part of the compiler that knows the target puts the place behind the word.
_BACKEND = re.compile(r"^error: (?P<place>[^\s:]+:\d+:\d+): (?P<text>.*)$", re.MULTILINE)
_NOWHERE = re.compile(r"^(?:fatal )?error: (.*)$", re.MULTILINE)
_ASSERTION = re.compile(r"static assertion failed(?: due to requirement '.*?')?: ")
_NO_HEADER = re.compile(r"'([^']+)' file not found")
_HELPFUL = re.compile(r"declared here|defined here|previous|to match this|did you|candidate function")
_LED_HERE = re.compile(r"requested here|expanded from|called by")
_ON_THE_HOST = re.compile(r"reference to __host__ function '(.*?)' in ")
_OURS = re.compile(r"; did you mean '(?:dim3|xray|hipcpu)[^']*'\?")
_MOST_NOTES = 2


def explain(output: str, source: str, arch: str) -> CompileFailure:
    """What the compiler's output means to the author."""
    output = _BACKEND.sub(r"\g<place>: error: \g<text>", output)
    errors = [m for m in parse_messages(output) if m.severity is not Severity.WARNING]
    diagnostics: dict[tuple[int, str], list[Diagnostic]] = {}
    for message in errors:
        place = _author_place(message) or Place(SOURCE_NAME, _last_line(source))
        error = _diagnostic(source, place, _words(message.text, arch), "error")
        diagnostics.setdefault((error.line, error.message), [error, *_notes(message, source)])
    shown = [each for group in list(diagnostics.values())[:MOST_ERRORS] for each in group]
    if not shown:
        said = _NOWHERE.search(output)
        reason = clean_message(said[1]) if said else "it gave no reason"
        return CompileFailure(
            "COMPILE_ERROR", f"The compiler for {arch} gave up: {reason}.", hint="Try it with ROCm."
        )
    return CompileFailure(
        _code(errors),
        render(shown, source),
        tuple(shown),
        hint=_hint(errors) or "Mend the line and try again.",
    )


def gave_up(end: BoxExit) -> CompileFailure:
    """The compiler was stopped by a limit."""
    if end.signal == signal.SIGXFSZ:
        return too_long()
    code, what = {
        ExitReason.TIMED_OUT: ("COMPILE_TIME_LIMIT", "took longer than it may (WARMFRONT_COMPILE_TIMEOUT)"),
        ExitReason.MEMORY: (
            "COMPILE_MEMORY_LIMIT",
            "took more memory than it may (WARMFRONT_COMPILE_MEMORY_LIMIT)",
        ),
        ExitReason.OUTPUT: (
            "COMPILE_OUTPUT_LIMIT",
            "said more than anyone can read (WARMFRONT_OUTPUT_LIMIT)",
        ),
    }.get(end.reason, ("COMPILER_CRASHED", f"was ended by signal {end.signal}"))
    return CompileFailure(
        code,
        f"The compiler {what}.",
        hint="Look for templates or constant expressions that expand without end.",
    )


def too_long() -> CompileFailure:
    """The assembly is beyond reading."""
    return CompileFailure(
        "COMPILE_OUTPUT_LIMIT",
        "The kernels became more assembly than anyone can read.",
        hint="Look for loops that are unrolled too far.",
    )


def _author_place(message: Message) -> Place | None:
    """The author's place that a message belongs to: its own, or the call that led to one of our headers."""
    noted = (note.place for note in message.notes if _LED_HERE.search(note.text))
    for place in (message.place, *message.path, *noted):
        if place is not None and place.file.endswith(SOURCE_NAME) and place.line > 0:
            return place
    return None


def _notes(message: Message, source: str) -> Iterator[Diagnostic]:
    shown = 0
    for note in message.notes:
        if shown < _MOST_NOTES and note.place.file.endswith(SOURCE_NAME) and _HELPFUL.search(note.text):
            shown += 1
            yield _diagnostic(source, note.place, clean_message(note.text), "note")


def _diagnostic(source: str, place: Place, message: str, severity: str) -> Diagnostic:
    lines = source.split("\n")
    text = lines[place.line - 1] if 0 < place.line <= len(lines) else ""
    # Clang counts bytes.
    column = len(text.encode()[: max(place.column - 1, 0)].decode(errors="ignore")) + 1
    return Diagnostic(place.line, min(column, len(text) + 1), severity, message, text)


def _words(text: str, arch: str) -> str:
    if lds := _LDS.search(text):
        wanted, limit, kernel = int(lds[1]), int(lds[2]), lds[3].partition("(")[0]
        return (
            f"a block of kernel '{kernel}' wants {wanted:,} bytes of LDS (__shared__); "
            f"a compute unit of {arch} has {limit:,}"
        )
    if stack := _STACK.search(text):
        return (
            f"a thread of '{demangle(stack[3])}' wants {int(stack[1]):,} bytes of its own memory; "
            f"it may have {int(stack[2]):,}"
        )
    if header := _NO_HEADER.search(text):
        return f"the X-ray has no header '{header[1]}': it knows HIP itself and C++, none of ROCm's libraries"
    if host := _ON_THE_HOST.search(text):
        return f"this leads to '{host[1]}', which runs on the host only: a kernel cannot call it"
    return clean_message(_OURS.sub("", _ASSERTION.sub("", text)))


def _code(errors: list[Message]) -> str:
    if any(_NO_HEADER.search(each.text) for each in errors):
        return "NO_HEADER"
    return "LDS_OVER_LIMIT" if any(_LDS.search(each.text) for each in errors) else "COMPILE_ERROR"


def _hint(errors: list[Message]) -> str:
    return {
        "NO_HEADER": "It may compile with ROCm: put the kernels in a file of their own to look at them.",
        "LDS_OVER_LIMIT": "Work on smaller tiles, keep them in a narrower type, or use one array twice.",
    }.get(_code(errors), "")


def _last_line(source: str) -> int:
    return source.rstrip().count("\n") + 1
