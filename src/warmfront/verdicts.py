"""Endpoints and verdicts: the closed lists of what can be requested and how a submission can end."""

from __future__ import annotations

from enum import StrEnum


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
