"""Endpoints and verdicts: the complete lists of possible requests and results."""

from __future__ import annotations

from enum import StrEnum


class Endpoint(StrEnum):
    """The endpoint of a submission. `benchmark` and `submit` always check first."""

    XRAY = "xray"
    CHECKER = "checker"
    BENCHMARK = "benchmark"
    SUBMIT = "submit"


class Verdict(StrEnum):
    """The one terminal event of a submission. Failures of the kernel and of infrastructure are distinct."""

    XRAY = "XRAY"  #: compiled and analyzed, but not run (`xray`)
    CHECKED = "CHECKED"  #: all outputs are correct (`checker`)
    BENCHMARKED = "BENCHMARKED"  #: correct and timed (`benchmark`)
    ACCEPTED = "ACCEPTED"  #: correct, timed and listed on the leaderboard (`submit`)
    COMPILE_ERROR = "COMPILE_ERROR"  #: the source does not compile or has no usable `solution`
    WRONG_ANSWER = "WRONG_ANSWER"  #: an output is wrong, or an input was changed
    RUNTIME_ERROR = "RUNTIME_ERROR"  #: the program crashed, ended early or broke a rule
    TIME_LIMIT_EXCEEDED = "TIME_LIMIT_EXCEEDED"  #: a time limit was reached
    MEMORY_LIMIT_EXCEEDED = "MEMORY_LIMIT_EXCEEDED"  #: the memory limit was exceeded
    CANCELLED = "CANCELLED"  #: the owner cancelled it
    RATE_LIMIT_EXCEEDED = "RATE_LIMIT_EXCEEDED"  #: the owner's quota is used up
    BUDGET_EXCEEDED = "BUDGET_EXCEEDED"  #: the remaining credits do not cover the VM that it needs
    ERROR = "ERROR"  #: Warmfront or its infrastructure failed, not the kernel

    @property
    def exit_code(self) -> int:
        """Exit code of the command line: 0 for success, 1 for a failing kernel, 3 for infrastructure."""
        if self in SUCCESS.values():
            return 0
        return 1 if self in KERNELS_FAULT else 3


#: The verdict of a kernel without failures, per endpoint.
SUCCESS = {
    Endpoint.XRAY: Verdict.XRAY,
    Endpoint.CHECKER: Verdict.CHECKED,
    Endpoint.BENCHMARK: Verdict.BENCHMARKED,
    Endpoint.SUBMIT: Verdict.ACCEPTED,
}

#: Verdicts that the kernel causes.
KERNELS_FAULT = {
    Verdict.COMPILE_ERROR,
    Verdict.WRONG_ANSWER,
    Verdict.RUNTIME_ERROR,
    Verdict.TIME_LIMIT_EXCEEDED,
    Verdict.MEMORY_LIMIT_EXCEEDED,
}


def is_terminal(status: str, endpoint: Endpoint) -> bool:
    """Return whether an event with this status is the last one of a submission to this endpoint."""
    if status in set(SUCCESS.values()):
        return status == SUCCESS[endpoint]
    return status in Verdict.__members__
