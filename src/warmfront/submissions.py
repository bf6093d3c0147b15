"""What may be submitted, and what can become of it.

The closed lists live here: endpoints, verdicts, and which verdict ends which endpoint. Nothing in here
does any work.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from warmfront.errors import BadSourceFile

if TYPE_CHECKING:
    from pathlib import Path

    from warmfront.problems.spec import Dtype, Problem

#: A kernel is a page or two of text. More is a mistake, or an attack on the compiler.
MAX_SOURCE_BYTES = 256 * 1024


class Endpoint(StrEnum):
    """What to do with a submission. `benchmark` and `submit` always check first."""

    XRAY = "xray"
    CHECKER = "checker"
    BENCHMARK = "benchmark"
    SUBMIT = "submit"


class Verdict(StrEnum):
    """The one terminal event of a submission. Infrastructure's failures are told apart from the kernel's."""

    XRAY = "XRAY"  #: looked into, not run (`xray`)
    CHECKED = "CHECKED"  #: every case gave the right answer (`checker`)
    BENCHMARKED = "BENCHMARKED"  #: right, and timed (`benchmark`)
    ACCEPTED = "ACCEPTED"  #: right, timed, and it counts (`submit`)
    COMPILE_ERROR = "COMPILE_ERROR"  #: it does not compile, or has no usable `solution`
    WRONG_ANSWER = "WRONG_ANSWER"  #: an output is off, or an input was changed
    RUNTIME_ERROR = "RUNTIME_ERROR"  #: it faulted, ended early, or broke a rule while running
    TIME_LIMIT_EXCEEDED = "TIME_LIMIT_EXCEEDED"  #: it ran out of wall clock
    MEMORY_LIMIT_EXCEEDED = "MEMORY_LIMIT_EXCEEDED"  #: it asked for more memory than it may have
    CANCELLED = "CANCELLED"  #: its owner stopped it
    RATE_LIMIT_EXCEEDED = "RATE_LIMIT_EXCEEDED"  #: its owner has had enough for today
    BUDGET_EXCEEDED = "BUDGET_EXCEEDED"  #: the credits left do not cover the VM that it needs
    ERROR = "ERROR"  #: Warmfront or its machine failed; the kernel is not to blame

    @property
    def exit_code(self) -> int:
        """The command line's exit code: 0 accepted, 1 the kernel's fault, 3 infrastructure."""
        if self in SUCCESS.values():
            return 0
        return 1 if self in KERNELS_FAULT else 3


#: The verdict of a kernel that did everything right.
SUCCESS = {
    Endpoint.XRAY: Verdict.XRAY,
    Endpoint.CHECKER: Verdict.CHECKED,
    Endpoint.BENCHMARK: Verdict.BENCHMARKED,
    Endpoint.SUBMIT: Verdict.ACCEPTED,
}

#: Verdicts for which the kernel is to blame.
KERNELS_FAULT = {
    Verdict.COMPILE_ERROR,
    Verdict.WRONG_ANSWER,
    Verdict.RUNTIME_ERROR,
    Verdict.TIME_LIMIT_EXCEEDED,
    Verdict.MEMORY_LIMIT_EXCEEDED,
}


def is_terminal(status: str, endpoint: Endpoint) -> bool:
    """Whether an event of this status is the last one of a submission to this endpoint."""
    if status in set(SUCCESS.values()):
        return status == SUCCESS[endpoint]
    return status in Verdict.__members__


@dataclass(frozen=True, kw_only=True)
class Submission:
    """One kernel, for one problem, with one thing to do."""

    source: str  #: HIP source, as its author wrote it
    problem: Problem
    dtype: Dtype
    endpoint: Endpoint
    file_name: str = "solution.hip"  #: what its author calls it, for messages
    seed: int | None = None  #: None: a secret one, different every time


def read_source(path: Path) -> str:
    """The text of a source file, or `BadSourceFile` saying what is wrong with it."""
    if path.is_dir():
        raise BadSourceFile(f"{path} is a directory.", hint="Name one .hip file.")
    try:
        with path.open("rb") as file:
            data = file.read(MAX_SOURCE_BYTES + 1)  # a device or a pipe may have no end
    except FileNotFoundError:
        raise BadSourceFile(
            f"{path} does not exist.", hint="Check the path; `ls` shows what is there."
        ) from None
    except OSError as error:
        raise BadSourceFile(
            f"{path} cannot be read: {error.strerror}.", hint="Check its permissions."
        ) from None
    return decode_source(data, str(path))


def decode_source(data: bytes, name: str) -> str:
    """Source bytes as text, or `BadSourceFile` saying what is wrong with them."""
    if not data.strip():
        raise BadSourceFile(
            f"{name} is empty.", hint="`warmfront problems starter SLUG` prints code to begin with."
        )
    if len(data) > MAX_SOURCE_BYTES:
        raise BadSourceFile(
            f"{name} is too long: at most {MAX_SOURCE_BYTES:,} bytes are taken.",
            hint="A kernel is a page or two of text: leave data and generated tables out.",
        )
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BadSourceFile(
            f"{name} is not UTF-8: byte {error.start} is 0x{data[error.start]:02x}.",
            hint="Save it as UTF-8 text.",
        ) from None
    if "\0" in text:
        raise BadSourceFile(f"{name} contains a NUL byte.", hint="Name the source, not a compiled file.")
    return text.replace("\r\n", "\n").replace("\r", "\n")
