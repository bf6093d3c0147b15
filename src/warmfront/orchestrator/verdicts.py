"""Verdicts that no judge has given: those of admission, of cancelling, and of infrastructure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warmfront.errors import NoVM
from warmfront.events import Failed
from warmfront.verdicts import Verdict

if TYPE_CHECKING:
    from warmfront.errors import WarmfrontError
    from warmfront.events import Xray


def does_not_compile(seen: Xray) -> Failed:
    """The target's compiler refuses it."""
    return Failed(
        verdict=Verdict.COMPILE_ERROR,
        code="COMPILE_ERROR",
        message=seen.message,
        hint="Mend it and submit it again; no VM was used and nothing was spent.",
    )


def cancelled() -> Failed:
    """Its owner stopped it."""
    return Failed(verdict=Verdict.CANCELLED, code="CANCELLED", message="It was cancelled.")


def given_up(lost: int) -> Failed:
    """It was tried often enough."""
    return Failed(
        verdict=Verdict.ERROR,
        code="VM_LOST",
        message=f"{lost} VMs were lost while they worked on it.",
        hint="The kernel is not to blame, though it may be what ends them. Submit it again later.",
    )


def refused(verdict: Verdict, error: WarmfrontError) -> Failed:
    """There is no VM for it, for this reason."""
    return Failed(verdict=verdict, code=error.code, message=error.message, hint=error.hint or "")


def no_vm(tries: int, reason: str) -> NoVM:
    """The provider gives none."""
    return NoVM(
        f"No VM could be had, {tries} times in a row. The last time: {reason}",
        hint="Submit again later; the operator finds the details in the service's log.",
    )
