"""Turn the result of a compiler into a library for the guest, or into a COMPILE_ERROR."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from warmfront.errors import ToolchainFailed
from warmfront.hip.source.rewrite import RewriteError
from warmfront.hip.toolchain import LIBRARY_FILE
from warmfront.hip.trailer import SOURCE_NAME
from warmfront.judge.kernel_failure import KernelFailure
from warmfront.sandbox.base import BoxExit, ExitReason, OutputTooLarge, read_output
from warmfront.value_class import dataclass
from warmfront.verdicts import Verdict

if TYPE_CHECKING:
    from warmfront.hip.diagnose import CompileFailure
    from warmfront.hip.toolchain import Toolchain, TranslatedSource
    from warmfront.judge.compile_jobs import CompileJob
    from warmfront.judge_request import JudgeRequest
    from warmfront.sandbox.base import Box


#: The shell's exit codes for a program that cannot be executed or does not exist.
CANNOT_RUN = {126, 127}

#: Messages of the compiler about a part of it that exceeded a limit of the box.
_LIMIT_MESSAGE = re.compile(
    r"""
    ^\S+:\ (?:fatal|internal\ compiler)\ error:\ (?P<gcc>Killed|File\ size\ limit\ exceeded)
    \ signal\ terminated\ program\ \S+$
    | ^\S+:\ error:\ unable\ to\ execute\ command:\ (?P<clang>Killed|File\ size\ limit\ exceeded)$
    | :\ (?:fatal\ error:\ error\ writing\ to|Fatal\ error:\ can't\ write)\ .*(?P<disk>No\ space\ left)\ on.*$
    | ^\S+:\ final\ link\ failed:\ (?P<linker>No\ space\ left)\ on\ device\ncollect2:\ error:\ .*\n?\Z
    """,
    re.VERBOSE | re.MULTILINE,
)
#: What clang++ adds if its front end was ended by a signal.
_AFTER_A_SIGNAL = re.compile(r"^\S+: error: clang frontend command failed due to signal.*$", re.MULTILINE)
_ERROR = re.compile(r"error:", re.IGNORECASE)
#: Inside a box, only the kernel sends SIGKILL, when memory is exhausted; a sandbox may report that later.
_KILLED = "Killed"


@dataclass(frozen=True, kw_only=True)
class CompiledLibrary:
    """A submission compiled to a library that the guest can load."""

    library: bytes
    seconds: float
    output: str  #: everything the compiler printed, including warnings


def translate(request: JudgeRequest, toolchain: Toolchain) -> TranslatedSource:
    """Return the text for the compiler. Raises `KernelFailure` if the source cannot be translated."""
    try:
        return toolchain.translate(request)
    except RewriteError as error:
        from warmfront.hip.diagnose import rewrite_failure  # noqa: PLC0415 - only failures need it

        raise _compile_error(rewrite_failure(request.source, error), request) from None


def finish(
    job: CompileJob,
    request: JudgeRequest,
    toolchain: Toolchain,
    translated: TranslatedSource,
    *,
    limit_bytes: int,
) -> CompiledLibrary:
    """Wait for the compiler and return the library, or raise `KernelFailure` with its diagnostics."""
    box = job.box
    end = box.wait()
    seconds = time.perf_counter() - job.started_s
    output = end.output.decode(errors="replace")
    if end.reason is not ExitReason.EXITED:
        raise _limit_failure(end)
    library = _read_library(box, limit_bytes)
    if end.code == 0 and library:
        return CompiledLibrary(library=library, seconds=seconds, output=output)
    if end.code in CANNOT_RUN:
        raise ToolchainFailed(
            f"The compiler could not be started in the sandbox: {output.strip() or f'exit code {end.code}'}",
            hint="Check the compiler's installation on the machine that runs the judge.",
        )
    if limit := _reported_limit(output):
        if limit == _KILLED:
            raise _limit_failure(replace(end, reason=ExitReason.MEMORY))
        raise KernelFailure(
            Verdict.COMPILE_ERROR,
            "COMPILE_FILE_LIMIT",
            "The compiler exceeded the limit on file size (WARMFRONT_FILE_SIZE_LIMIT).",
            hint="Look for a large array with an initializer: fill it at run time.",
        )
    failure = toolchain.explain(output, request, translated)
    raise _compile_error(failure, request, compile_s=seconds)


def _reported_limit(output: str) -> str | None:
    """Return what ended the compiler, if it failed for that reason alone.

    A source can print any text, such as by `#pragma message`. But a source that fails to compile has an error
    of its own in addition to that text.
    """
    limits = [match[match.lastgroup or 0] for match in _LIMIT_MESSAGE.finditer(output)]
    rest = _AFTER_A_SIGNAL.sub("", _LIMIT_MESSAGE.sub("", output))
    return limits[0] if limits and not _ERROR.search(rest) else None


def _compile_error(failure: CompileFailure, request: JudgeRequest, **details: float) -> KernelFailure:
    """Return the failure, with our file name replaced by the author's in its message."""
    return KernelFailure(
        Verdict.COMPILE_ERROR,
        failure.code,
        failure.message.replace(f"{SOURCE_NAME}:", f"{request.file_name}:"),
        hint=failure.hint,
        diagnostics=[diagnostic_fields(diagnostic) for diagnostic in failure.diagnostics],
        **details,
    )


def _read_library(box: Box, limit_bytes: int) -> bytes:
    try:
        return read_output(box, LIBRARY_FILE, limit_bytes=limit_bytes)
    except OutputTooLarge:
        raise KernelFailure(
            Verdict.COMPILE_ERROR,
            "LIBRARY_TOO_LARGE",
            f"The compiled submission is larger than {limit_bytes / (1 << 20):g} MiB "
            "(WARMFRONT_LIBRARY_SIZE_LIMIT).",
            hint="Look for a large array with an initializer: fill it at run time.",
        ) from None


def diagnostic_fields(diagnostic: object) -> dict[str, object]:
    """Return a diagnostic as a dictionary for JSON."""
    return {
        name: getattr(diagnostic, name) for name in ("line", "column", "severity", "message", "source_line")
    }


def _limit_failure(end: BoxExit) -> KernelFailure:
    """Return the failure for a compiler that was ended by a limit or a signal."""
    code, what = {
        ExitReason.TIMED_OUT: ("COMPILE_TIME_LIMIT", "exceeded its time limit (WARMFRONT_COMPILE_TIMEOUT)"),
        ExitReason.MEMORY: (
            "COMPILE_MEMORY_LIMIT",
            "exceeded its memory limit (WARMFRONT_COMPILE_MEMORY_LIMIT)",
        ),
        ExitReason.OUTPUT: (
            "COMPILE_OUTPUT_LIMIT",
            "exceeded its output limit (WARMFRONT_OUTPUT_LIMIT)",
        ),
    }.get(end.reason, ("COMPILER_CRASHED", f"was killed by signal {end.signal}"))
    return KernelFailure(
        Verdict.COMPILE_ERROR,
        code,
        f"The compiler {what}.",
        hint="Look for templates or constant expressions that expand without limit.",
    )
