"""What operators' actions on submissions and the intake save or cost, for the confirmation."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from typing import TYPE_CHECKING

from warmfront.audit_chain import AuditAction
from warmfront.errors import Conflict
from warmfront.store.records import IntakeMode
from warmfront.value_class import dataclass
from warmfront.verdicts import Endpoint

if TYPE_CHECKING:
    from warmfront.clock import Clock
    from warmfront.orchestrator.budget import Budget
    from warmfront.orchestrator.submission_lifecycle import ActiveSubmission, SubmissionLifecycle
    from warmfront.orchestrator.vm_pool import VMPool
    from warmfront.orchestrator.xray_queue import XrayQueue

_NOTHING = Decimal(0)


@dataclass(frozen=True, kw_only=True)
class ActionEffect:
    """The effect of an operator's action, for the confirmation."""

    action: AuditAction
    text: str  #: in one or two sentences, with the amounts
    saves_usd: Decimal = _NOTHING
    costs_usd: Decimal = _NOTHING


class ActionEffects:
    """The effects of cancelling a submission, and of pausing and resuming the intake."""

    def __init__(
        self,
        *,
        pool: VMPool,
        budget: Budget,
        submissions: SubmissionLifecycle,
        xrays: XrayQueue,
        clock: Clock,
    ) -> None:
        self._pool = pool
        self._budget = budget
        self._submissions = submissions
        self._xrays = xrays
        self._clock = clock

    def cancel(self, submission_id: str) -> ActionEffect:
        """Return what cancelling a submission saves.

        Raises:
            Conflict: it already has its verdict.
        """
        active = self._submissions.get(submission_id)
        if active is None:
            raise already_completed(submission_id)
        if active.attempt is None or active.vm is None:
            saves_usd = self._work_usd(active.gpu)
            text = (
                f"It has not begun, and nothing is charged. Saves about ${saves_usd:.4f}, its expected cost."
            )
            return ActionEffect(action=AuditAction.SUBMISSION_CANCEL, text=text, saves_usd=saves_usd)
        return self._cancel_running(active)

    def _cancel_running(self, active: ActiveSubmission) -> ActionEffect:
        assert active.vm is not None  # noqa: S101 - checked by the caller
        assert active.attempt is not None  # noqa: S101 - the same
        vm, now = active.vm, self._clock.now()
        ran_s = max(0.0, now - vm.begun.get(active.attempt.id, now))
        left_s = self._pool.estimates(vm.vm.gpu).task.seconds - ran_s
        rate_usd_per_s = self._budget.billing_of(vm.vm).rate_usd_per_h / 3600
        saves_usd = round(Decimal(max(0.0, left_s)) * rate_usd_per_s, 6)
        saved = (
            f"Saves about ${saves_usd:.4f}, the expected cost of the rest."
            if left_s > 0
            else f"It takes longer than expected, and costs ${rate_usd_per_s * 60:.4f} per minute."
        )
        text = (
            f"It has run for {ran_s:.0f} s on VM {vm.vm.id}, which its author is charged for. "
            f"{saved} The VM is kept for other submissions."
        )
        return ActionEffect(action=AuditAction.SUBMISSION_CANCEL, text=text, saves_usd=saves_usd)

    def pause(self, mode: IntakeMode) -> ActionEffect:
        """Return what pausing the intake saves."""
        count, work_usd, _ = self._queued()
        if mode is IntakeMode.REFUSE:
            text = "New submissions are refused, and cost nothing."
            if count:
                text += f" {_submissions(count)} still run, for about ${work_usd:.4f}."
            return ActionEffect(action=AuditAction.INTAKE_PAUSE, text=text)
        text = "No submission is queued now; new ones wait."
        if count:
            text = (
                f"{_submissions(count)} and all new ones wait. Saves about ${work_usd:.4f} until you resume."
            )
        text += self._live_text()
        return ActionEffect(action=AuditAction.INTAKE_PAUSE, text=text, saves_usd=work_usd)

    def resume(self) -> ActionEffect:
        """Return what resuming the intake costs."""
        count, work_usd, boot_usd = self._queued()
        costs_usd = work_usd + boot_usd
        text = "New submissions are accepted and run. None is queued, so this costs nothing now."
        if count:
            booting = f", ${boot_usd:.4f} of it for the boot of a VM" if boot_usd else ""
            text = f"{_submissions(count)} run now, which costs about ${costs_usd:.4f}{booting}."
        return ActionEffect(action=AuditAction.INTAKE_RESUME, text=text, costs_usd=costs_usd)

    def _queued(self) -> tuple[int, Decimal, Decimal]:
        """Return how many submissions wait, and the expected costs of their work and of the VMs for them."""
        gpus = Counter(submission.gpu for submission in self._submissions.queued())
        gpus.update(each.gpu for each in self._xrays.waiting() if each.endpoint is not Endpoint.XRAY)
        work_usd = sum((count * self._work_usd(gpu) for gpu, count in gpus.items()), start=_NOTHING)
        boot_usd = _NOTHING
        for gpu in gpus:
            if not any(pooled.accepts_attempts for pooled in self._pool.with_gpu(gpu)):
                boot_usd += self._budget.boot_usd(gpu, 1, self._pool.estimates(gpu).boot.seconds)
        return gpus.total(), round(work_usd, 6), round(boot_usd, 6)

    def _work_usd(self, gpu: str) -> Decimal:
        """Return what one submission is expected to cost on a warm VM."""
        work_s = Decimal(self._pool.estimates(gpu).task.seconds)
        return round(work_s * self._budget.billing(gpu, 1).rate_usd_per_h / 3600, 6)

    def _live_text(self) -> str:
        vms = self._pool.instances()
        if not vms:
            return ""
        rate_usd_per_h = sum((self._budget.billing_of(vm).rate_usd_per_h for vm in vms), start=_NOTHING)
        live = "The live VM costs" if len(vms) == 1 else f"The {len(vms)} live VMs cost"
        return f" {live} ${rate_usd_per_h:.2f} per hour until released by the keep-warm policy or by you."


def already_completed(submission_id: str, verdict: str | None = None) -> Conflict:
    """Return the error for an action on a submission that has its verdict."""
    suffix = f": {verdict}" if verdict else ""
    return Conflict(
        f"Submission {submission_id} is already completed{suffix}.", hint="There is nothing to cancel."
    )


def _submissions(count: int) -> str:
    return "1 queued submission" if count == 1 else f"{count} queued submissions"
