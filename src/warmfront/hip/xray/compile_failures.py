"""Explain errors of the X-ray's compiler in terms of the author's source.

`hip.diagnose` does the same for the compilers of the CPU runtime. Positions in our own headers are never
shown.
"""

from __future__ import annotations

import re
import signal
from typing import TYPE_CHECKING

from warmfront.hip.compiler_messages import Message, Place, Severity, parse_messages
from warmfront.hip.diagnose import MAX_ERRORS, CompileFailure, Diagnostic, render
from warmfront.hip.message_cleanup import clean_message
from warmfront.hip.rocm_versions import find_missing
from warmfront.hip.trailer import SOURCE_NAME
from warmfront.hip.unsupported_matrix_instructions import find_unknown_instruction
from warmfront.hip.xray.demangler import demangle
from warmfront.hip.xray.device_compiler import find_global_wave_size
from warmfront.sandbox.base import ExitReason

if TYPE_CHECKING:
    from collections.abc import Iterator

    from warmfront.sandbox.base import BoxExit

_LDS = re.compile(r"local memory \((\d+)\) exceeds limit \((\d+)\) in (?:function )?'(.*)'")
_STACK = re.compile(r"stack frame size \((\d+)\) exceeds limit \((\d+)\) in function '(.*)'")
#: The backend prints the place after the word "error", unlike the front end.
_BACKEND = re.compile(r"^error: (?P<place>[^\s:]+:\d+:\d+): (?P<text>.*)$", re.MULTILINE)
_WITHOUT_PLACE = re.compile(r"^(?:fatal )?error: (.*)$", re.MULTILINE)
_ASSERTION = re.compile(r"static assertion failed(?: due to requirement '.*?')?: ")
_NO_HEADER = re.compile(r"'([^']+)' file not found")
_HELPFUL_NOTE = re.compile(r"declared here|defined here|previous|to match this|did you|candidate function")
_LEADING_NOTE = re.compile(r"requested here|expanded from|called by")
_HOST_FUNCTION = re.compile(r"reference to __host__ function '(.*?)' in ")
_DEVICE_FUNCTION = re.compile(
    r"reference to __device__ (?:function|variable) '(.*?)' in __host__ (?:__device__ )?function"
)
_WARP_SIZE_TYPE = re.compile(r"from 'const struct \(unnamed at [^)]*/xray/core\.h:")
_WARP_SIZE = re.compile(r"\bwarpSize\b")
_CHAINED_COMPARISON = re.compile(r"warning: (chained comparison|comparison in fold expression)")
_NO_HOST_CODE = "cannot compile this builtin function yet"
_INLINE_ASSEMBLY = "<inline asm>"  #: the file that the assembler names
_ASSEMBLY = re.compile(r"\b(?:asm|__asm|__asm__)\b")
_INTERNAL_SUGGESTION = re.compile(r"; did you mean '(?:dim3|xray|hipshared|hiptarget)[^']*'\?")
_MOST_NOTES = 2


def explain(output: str, source: str, arch: str) -> CompileFailure:
    """Return the failure that the compiler's output describes, in the author's lines."""
    output = _BACKEND.sub(r"\g<place>: error: \g<text>", output)
    errors = [m for m in parse_messages(output) if m.severity is not Severity.WARNING]
    diagnostics: dict[tuple[int, str], list[Diagnostic]] = {}
    for message in errors:
        place = _author_place(message) or Place(SOURCE_NAME, _likely_line(message, source))
        described = (
            _describe_warp_size(message.text, place, source)
            or _describe_assembly(message)
            or _describe(message.text, arch)
        )
        error = diagnostic_at(source, place, described, "error")
        diagnostics.setdefault((error.line, error.message), [error, *_notes(message, source)])
    shown = [entry for group in list(diagnostics.values())[:MAX_ERRORS] for entry in group]
    if not shown:
        error_line = _WITHOUT_PLACE.search(output)
        reason = clean_message(error_line[1]) if error_line else "it printed no reason"
        return CompileFailure(
            "COMPILE_ERROR", f"The compiler for {arch} failed: {reason}.", hint="Try to compile it with ROCm."
        )
    return CompileFailure(
        _code(errors, arch),
        render(shown, source),
        tuple(shown),
        hint=_hint(errors, arch) or "Fix the error and try again.",
    )


def explain_default_errors(output: str, source: str, arch: str) -> CompileFailure | None:
    """Return the failure for warnings in the output that are errors by default; None if there are none.

    They share a group with other warnings, so no compiler option can turn only these into errors.
    """
    promoted, count = _CHAINED_COMPARISON.subn(r"error: \1", output)
    return explain(promoted, source, arch) if count else None


def limit_exceeded(end: BoxExit) -> CompileFailure:
    """Return the failure for a compiler that was stopped by a limit or crashed."""
    if end.signal == signal.SIGXFSZ:
        return assembly_too_large()
    code, what = {
        ExitReason.TIMED_OUT: ("COMPILE_TIME_LIMIT", "exceeded its time limit (WARMFRONT_COMPILE_TIMEOUT)"),
        ExitReason.MEMORY: (
            "COMPILE_MEMORY_LIMIT",
            "exceeded its memory limit (WARMFRONT_COMPILE_MEMORY_LIMIT)",
        ),
        ExitReason.OUTPUT: (
            "COMPILE_OUTPUT_LIMIT",
            "printed more than its output limit (WARMFRONT_OUTPUT_LIMIT)",
        ),
    }.get(end.reason, ("COMPILER_CRASHED", f"was terminated by signal {end.signal}"))
    return CompileFailure(
        code,
        f"The compiler {what}.",
        hint="Look for templates or constant expressions that expand without limit.",
    )


def assembly_too_large() -> CompileFailure:
    """Return the failure for assembly that exceeds the size limit."""
    return CompileFailure(
        "COMPILE_OUTPUT_LIMIT",
        "The assembly of the kernels exceeds the size limit.",
        hint="Look for loops with too large an unroll factor.",
    )


def _author_place(message: Message) -> Place | None:
    """Return the author's place for a message: its own, or the call that leads into one of our headers."""
    noted_places = (note.place for note in message.notes if _LEADING_NOTE.search(note.text))
    for place in (message.place, *message.path, *noted_places):
        if place is not None and place.file.endswith(SOURCE_NAME) and place.line > 0:
            return place
    return None


def _notes(message: Message, source: str) -> Iterator[Diagnostic]:
    shown = 0
    for note in message.notes:
        if shown < _MOST_NOTES and note.place.file.endswith(SOURCE_NAME) and _HELPFUL_NOTE.search(note.text):
            shown += 1
            yield diagnostic_at(source, note.place, clean_message(note.text), "note")


def diagnostic_at(source: str, place: Place, message: str, severity: str) -> Diagnostic:
    """Return the diagnostic for a place of the author's source."""
    lines = source.split("\n")
    text = lines[place.line - 1] if 0 < place.line <= len(lines) else ""
    # Clang counts columns in bytes.
    column = len(text.encode()[: max(place.column - 1, 0)].decode(errors="ignore")) + 1
    return Diagnostic(place.line, min(column, len(text) + 1), severity, message, text)


def _describe_warp_size(text: str, place: Place, source: str) -> str:
    """Return the message for `warpSize` where only the host or the compiler could read it.

    Clang's message names the type of `warpSize` and its conversion to int, neither of which HIP documents.
    """
    device = _DEVICE_FUNCTION.search(text)
    line = source.split("\n")[place.line - 1 : place.line]
    if not line or not _WARP_SIZE.search(line[0]):
        return ""
    is_operator = text == _NO_HOST_CODE or (device and device[1] == "operator int")
    if is_operator or _WARP_SIZE_TYPE.search(text):
        return "warpSize is a value of the device, which is not known here; write a constant such as 64"
    return ""


def _describe_assembly(message: Message) -> str:
    """Return the message for inline assembly that the assembler refuses; its notes are about that text."""
    places = (message.place, *(note.place for note in message.notes))
    if not any(place and place.file == _INLINE_ASSEMBLY for place in places):
        return ""
    return f"the assembler rejects this: {clean_message(message.text)}"


def _describe(text: str, arch: str) -> str:
    if lds := _LDS.search(text):
        needed, limit, kernel = int(lds[1]), int(lds[2]), lds[3].partition("(")[0]
        return (
            f"a block of kernel '{kernel}' needs {needed:,} bytes of LDS (__shared__); "
            f"a compute unit of {arch} has {limit:,}"
        )
    if stack := _STACK.search(text):
        return (
            f"a thread of '{demangle(stack[3])}' needs {int(stack[1]):,} bytes of private memory; "
            f"the limit is {int(stack[2]):,}"
        )
    if unknown := find_unknown_instruction(text, arch):
        return unknown.message
    if missing := find_missing(text):
        return missing.message
    if header := _NO_HEADER.search(text):
        return f"the X-ray has no header '{header[1]}': it has HIP and C++ only, no ROCm libraries"
    return _describe_wrong_side(text) or clean_message(_INTERNAL_SUGGESTION.sub("", _ASSERTION.sub("", text)))


def _describe_wrong_side(text: str) -> str:
    """Return the message for device code that uses host-only names, or the reverse."""
    if host := _HOST_FUNCTION.search(text):
        return f"this calls '{host[1]}', which runs on the host only; a kernel cannot call it"
    if device := _DEVICE_FUNCTION.search(text):
        return f"this uses '{device[1]}', which exists on the device only; host code cannot use it"
    return ""


def _code(errors: list[Message], arch: str) -> str:
    if any(_NO_HEADER.search(error.text) for error in errors):
        return "NO_HEADER"
    if any(_LDS.search(error.text) for error in errors):
        return "LDS_OVER_LIMIT"
    if errors and find_unknown_instruction(errors[0].text, arch):
        return "UNKNOWN_INSTRUCTION"
    missing = find_missing(errors[0].text) if errors else None
    return missing.code if missing else "COMPILE_ERROR"


def _hint(errors: list[Message], arch: str) -> str:
    if unknown := find_unknown_instruction(errors[0].text, arch):
        return unknown.hint
    if missing := find_missing(errors[0].text):
        return missing.hint
    return {
        "NO_HEADER": "It may compile with ROCm. To X-ray the kernels, use a file without this header.",
        "LDS_OVER_LIMIT": "Use smaller tiles, a narrower type, or reuse one array.",
    }.get(_code(errors, arch), "")


def _likely_line(message: Message, source: str) -> int:
    """Return the line for a message without a place: assembly outside functions, or else the last line."""
    if message.text == _NO_HOST_CODE and (offset := find_global_wave_size(source)) is not None:
        return source.count("\n", 0, offset) + 1
    assembly = _ASSEMBLY.search(source)
    if assembly and message.place and message.place.file == _INLINE_ASSEMBLY:
        return source.count("\n", 0, assembly.start()) + 1
    return source.rstrip().count("\n") + 1
