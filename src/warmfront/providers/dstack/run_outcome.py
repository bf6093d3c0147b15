"""The outcome of a dstack run: tables from dstack's statuses and termination reasons to `RunOutcome`.

The tables cover every value of dstack's enums and use structured fields only, never message texts. The
provider decides how to react to an outcome.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from warmfront.providers.dstack.resources import DstackFleet, DstackRun, FleetPlan


class RunOutcome(StrEnum):
    """The state of a run in progress, or how it ended."""

    QUEUED = "queued"  #: dstack is looking for a VM, or waiting for a retry
    BOOTING = "booting"  #: its VM is booting
    PULLING = "pulling"  #: the VM is pulling the image
    RUNNING = "running"  #: its command is running
    STOPPING = "stopping"  #: it is being terminated

    DONE = "done"  #: the command exited with 0
    EXITED = "exited"  #: the command exited with another status
    TIMED_OUT = "timed_out"  #: it exceeded `max_duration`
    STOPPED = "stopped"  #: a user stopped or aborted it
    LOST = "lost"  #: the VM became unreachable or was interrupted
    NO_CAPACITY = "no_capacity"  #: the cloud has no free VM of this type
    NO_OFFERS = "no_offers"  #: no backend of the fleet offers such a VM at this price
    NO_FLEET = "no_fleet"  #: the fleet does not exist
    FLEET_FULL = "fleet_full"  #: the fleet has its maximum number of VMs
    BAD_IMAGE = "bad_image"  #: the container could not be created: image or volume not found
    BOOT_FAILED = "boot_failed"  #: the VM booted, but dstack's agent on it did not start
    BROKEN = "broken"  #: dstack failed

    @property
    def is_final(self) -> bool:
        """Whether the run has ended."""
        return self not in _UNDER_WAY

    @property
    def is_infrastructure(self) -> bool:
        """Whether the infrastructure caused the end, so that the work can be retried."""
        return self.is_final and self not in {
            RunOutcome.DONE,
            RunOutcome.EXITED,
            RunOutcome.TIMED_OUT,
            RunOutcome.STOPPED,
        }


_UNDER_WAY = frozenset(
    {RunOutcome.QUEUED, RunOutcome.BOOTING, RunOutcome.PULLING, RunOutcome.RUNNING, RunOutcome.STOPPING}
)

#: Every RunStatus. With None, the job status or the termination reason decides.
RUN_STATUSES: dict[str, RunOutcome | None] = {
    "pending": RunOutcome.QUEUED,
    "submitted": RunOutcome.QUEUED,
    "provisioning": None,
    "running": None,
    "terminating": RunOutcome.STOPPING,
    "terminated": None,
    "failed": None,
    "done": RunOutcome.DONE,
}

#: Every JobStatus, for a run that has not ended. If the job has ended, the run is about to.
JOB_STATUSES: dict[str, RunOutcome] = {
    "submitted": RunOutcome.QUEUED,
    "provisioning": RunOutcome.BOOTING,
    "pulling": RunOutcome.PULLING,
    "running": RunOutcome.RUNNING,
    "terminating": RunOutcome.STOPPING,
    "terminated": RunOutcome.STOPPING,
    "aborted": RunOutcome.STOPPING,
    "failed": RunOutcome.STOPPING,
    "done": RunOutcome.STOPPING,
}

#: Every JobTerminationReason, for a run that has ended.
JOB_REASONS: dict[str, RunOutcome] = {
    "failed_to_start_due_to_no_capacity": RunOutcome.NO_CAPACITY,
    "interrupted_by_no_capacity": RunOutcome.LOST,
    "instance_unreachable": RunOutcome.LOST,
    "instance_access_revoked": RunOutcome.LOST,
    "waiting_instance_limit_exceeded": RunOutcome.BOOT_FAILED,
    "waiting_runner_limit_exceeded": RunOutcome.BOOT_FAILED,
    "terminated_by_user": RunOutcome.STOPPED,
    "volume_error": RunOutcome.BAD_IMAGE,
    "gateway_error": RunOutcome.BROKEN,
    "scaled_down": RunOutcome.STOPPED,
    "done_by_runner": RunOutcome.DONE,
    "aborted_by_user": RunOutcome.STOPPED,
    "terminated_by_server": RunOutcome.BROKEN,
    "inactivity_duration_exceeded": RunOutcome.STOPPED,
    "terminated_due_to_utilization_policy": RunOutcome.STOPPED,
    "container_exited_with_error": RunOutcome.EXITED,
    "ports_binding_failed": RunOutcome.BROKEN,
    "creating_container_error": RunOutcome.BAD_IMAGE,
    "executor_error": RunOutcome.BROKEN,
    "max_duration_exceeded": RunOutcome.TIMED_OUT,
    "log_quota_exceeded": RunOutcome.EXITED,
}

#: Every RunTerminationReason, for a run that has ended and whose job has no reason.
RUN_REASONS: dict[str, RunOutcome] = {
    "all_jobs_done": RunOutcome.DONE,
    "job_failed": RunOutcome.EXITED,
    "retry_limit_exceeded": RunOutcome.NO_CAPACITY,
    "stopped_by_user": RunOutcome.STOPPED,
    "aborted_by_user": RunOutcome.STOPPED,
    "server_error": RunOutcome.BROKEN,
    "gateway_error": RunOutcome.BROKEN,
}

#: Every InstanceStatus, and whether the cloud bills the VM in it.
INSTANCE_STATUSES: dict[str, bool] = {
    "pending": False,
    "provisioning": True,
    "idle": True,
    "busy": True,
    "terminating": True,
    "terminated": False,
}

#: Every InstanceTerminationReason, as text for display.
INSTANCE_REASONS: dict[str, str] = {
    "terminated_by_user": "it was deleted",
    "idle_timeout": "it was idle for the fleet's idle_duration",
    "provisioning_timeout": "it did not boot in time",
    "error": "dstack could not set it up",
    "job_finished": "its run ended",
    "unreachable": "it became unreachable",
    "no_offers": "no backend offers such a VM",
    "master_failed": "the first VM of its cluster failed",
    "max_instances_limit": "the fleet reached its maximum number of VMs",
    "fleet_spec_mismatch": "it no longer matches the changed fleet",
    "no_balance": "the account has no credits left",
}

#: Every InstanceAvailability, and whether such an offer can be provisioned now.
AVAILABILITIES: dict[str, bool] = {
    "unknown": True,
    "available": True,
    "not_available": False,
    "no_quota": False,
    "no_balance": False,
    "idle": True,
    "busy": False,
}


def outcome(
    run_status: str, job_status: str | None, termination_reason: str | None, exit_status: int | None
) -> RunOutcome:
    """Return the outcome for these values of dstack.

    `termination_reason` is the job's, or the run's if the job has none. An unknown value results in BROKEN,
    never in success.
    """
    if run_status not in RUN_STATUSES:
        return RunOutcome.BROKEN
    known = RUN_STATUSES[run_status]
    if known is RunOutcome.DONE and exit_status:
        return RunOutcome.EXITED
    if known is not None:
        return known
    if run_status in {"provisioning", "running"}:
        return JOB_STATUSES.get(job_status or "submitted", RunOutcome.BROKEN)
    by_reason = _by_reason(termination_reason, exit_status)
    if by_reason is not RunOutcome.DONE:
        return by_reason
    # The job had finished when its run was stopped; or the run failed without a reason.
    return RunOutcome.STOPPED if run_status == "terminated" else RunOutcome.BROKEN


def outcome_of(run: DstackRun) -> RunOutcome:
    """Return the outcome of a run."""
    reason = run.job_termination_reason or run.termination_reason
    return outcome(run.status, run.job_status, reason, run.exit_status)


def why_no_capacity(fleet: DstackFleet | None, plan: FleetPlan | None = None) -> RunOutcome:
    """Return the cause of a no-capacity failure from the fleet, because dstack reports four causes as one.

    `plan` is dstack's plan for the fleet; without it, NO_OFFERS cannot be distinguished from NO_CAPACITY.
    """
    if fleet is None or fleet.status != "active":
        return RunOutcome.NO_FLEET
    if fleet.is_full:
        return RunOutcome.FLEET_FULL
    if plan is not None and plan.total_offers == 0:
        return RunOutcome.NO_OFFERS
    return RunOutcome.NO_CAPACITY


def _by_reason(reason: str | None, exit_status: int | None) -> RunOutcome:
    if reason is None:
        return RunOutcome.EXITED if exit_status else RunOutcome.BROKEN
    return JOB_REASONS.get(reason) or RUN_REASONS.get(reason) or RunOutcome.BROKEN
