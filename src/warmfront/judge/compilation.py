"""What the judge makes of a compiler's work: a library for the worker, or why there is none."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from warmfront.errors import ToolchainFailed
from warmfront.hip.source.rewrite import RewriteError
from warmfront.hip.toolchain import LIBRARY_FILE
from warmfront.hip.trailer import SOURCE_NAME
from warmfront.judge.kernel_failure import KernelFailure
from warmfront.sandbox.base import BoxExit, ExitReason
from warmfront.verdicts import Verdict

if TYPE_CHECKING:
    from warmfront.hip.toolchain import Toolchain, Translated
    from warmfront.judge.compile_jobs import CompileJob
    from warmfront.judge_request import JudgeRequest


#: The shell's exit codes for a program that cannot be run, or is not there.
CANNOT_RUN = {126, 127}

#: What the compiler says when a file of its own gets too large for the box.
_TOO_LARGE = ("File size limit exceeded signal terminated program", "No space left on device")


@dataclass(frozen=True, kw_only=True)
class CompiledLibrary:
    """A submission as a library that the worker can load."""

    library: bytes
    seconds: float
    output: str  #: what the compiler said, warnings and all


def translate(submission: JudgeRequest, toolchain: Toolchain) -> Translated:
    """The text for the compiler, or a COMPILE_ERROR where not even that can be made."""
    try:
        return toolchain.translate(submission)
    except RewriteError as error:
        raise KernelFailure(
            Verdict.COMPILE_ERROR,
            "COMPILE_ERROR",
            f"{submission.file_name}:{error.line}:{error.column}: error: {error.message}",
            hint="Mend the line and run it again.",
            diagnostics=[
                {"line": error.line, "column": error.column, "severity": "error", "message": error.message}
            ],
        ) from None


def finish(
    build: CompileJob, submission: JudgeRequest, toolchain: Toolchain, translated: Translated
) -> CompiledLibrary:
    """Wait for the compiler and return the library, or raise `KernelFailure` with its diagnostics."""
    box = build.box
    end = box.wait()
    seconds = time.perf_counter() - build.began_s
    output = end.output.decode(errors="replace")
    if end.reason is not ExitReason.EXITED:
        raise _gave_up(end)
    library = (box.folder / LIBRARY_FILE).read_bytes()
    if end.code == 0 and library:
        return CompiledLibrary(library=library, seconds=seconds, output=output)
    if end.code in CANNOT_RUN:
        raise ToolchainFailed(
            f"The compiler could not be started in the sandbox: {output.strip() or f'exit code {end.code}'}",
            hint="`warmfront doctor` says what this machine has.",
        )
    if any(words in output for words in _TOO_LARGE):
        raise KernelFailure(
            Verdict.COMPILE_ERROR,
            "COMPILE_FILE_LIMIT",
            "The compiler wrote more than it may (WARMFRONT_FILE_SIZE_LIMIT).",
            hint="Look for a large array with an initialiser: fill it at run time.",
        )
    failure = toolchain.explain(output, submission, translated)
    raise KernelFailure(
        Verdict.COMPILE_ERROR,
        failure.code,
        # The author's name for the file, not ours.
        failure.message.replace(f"{SOURCE_NAME}:", f"{submission.file_name}:"),
        hint=failure.hint,
        diagnostics=[vars_of(diagnostic) for diagnostic in failure.diagnostics],
        compile_s=seconds,
    )


def vars_of(diagnostic: object) -> dict[str, object]:
    """A diagnostic as plain data."""
    return {
        name: getattr(diagnostic, name) for name in ("line", "column", "severity", "message", "source_line")
    }


def _gave_up(end: BoxExit) -> KernelFailure:
    """The compiler was stopped by a limit."""
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
    return KernelFailure(
        Verdict.COMPILE_ERROR,
        code,
        f"The compiler {what}.",
        hint="Look for templates or constant expressions that expand without end.",
    )
