"""Verdicts of the control plane itself: X-ray compile errors, cancellations, lost infrastructure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warmfront.errors import NoVM
from warmfront.events import Failed
from warmfront.verdicts import Verdict

if TYPE_CHECKING:
    from warmfront.errors import WarmfrontError
    from warmfront.events import Xray


def compile_error(xray: Xray) -> Failed:
    """Return the verdict of a source that the X-ray's compiler rejects."""
    return Failed(
        verdict=Verdict.COMPILE_ERROR,
        code="COMPILE_ERROR",
        message=xray.message,
        hint="Fix the error and submit again; no VM was used and nothing was charged.",
    )


def cancelled() -> Failed:
    """Return the verdict of a submission that its owner cancelled."""
    return Failed(verdict=Verdict.CANCELLED, code="CANCELLED", message="The submission was cancelled.")


def vms_lost(count: int) -> Failed:
    """Return the verdict of a submission that has used up its retries."""
    return Failed(
        verdict=Verdict.ERROR,
        code="VM_LOST",
        message=f"{count} VMs were lost while they ran the submission.",
        hint="The infrastructure failed, unless the kernel itself crashes the VM. Submit again later.",
    )


def rejected(verdict: Verdict, error: WarmfrontError) -> Failed:
    """Return the verdict of a submission that cannot get a VM, for the reason of `error`."""
    return Failed(verdict=verdict, code=error.code, message=error.message, hint=error.hint or "")


def no_vm(failures: int, reason: str) -> NoVM:
    """Return the error after `failures` consecutive VMs failed to provision."""
    failed = "A VM" if failures == 1 else f"{failures} VMs in a row"
    return NoVM(
        f"{failed} failed to provision. Last error: {reason}",
        hint="Nothing was charged. Submit again later; the operator finds details in the list of VMs and in "
        "the service's log.",
    )


def none_available(waited_s: float, reason: str) -> NoVM:
    """Return the error of a submission that has waited too long for a VM to become available."""
    return NoVM(
        f"No VM became available within {waited_s / 60:.0f} minutes. Last reason: {reason}",
        hint="Nothing was charged. Submit again later.",
    )
