"""What a run of dstack's has come to: one table from its statuses and reasons to ours.

It is total over every value of dstack's enums, and reads structured fields only; what to do about an
outcome is the provider's to decide.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from warmfront.providers.dstack.resources import DstackFleet, DstackRun, FleetPlan


class RunOutcome(StrEnum):
    """Where a run is, or how it ended."""

    QUEUED = "queued"  #: dstack has it and looks for a VM, or waits to try again
    BOOTING = "booting"  #: its VM starts
    PULLING = "pulling"  #: the VM has it and loads the image
    RUNNING = "running"  #: its command runs
    STOPPING = "stopping"  #: its end was decided and is not through

    DONE = "done"  #: the command ended with 0
    EXITED = "exited"  #: the command ended with something else
    TIMED_OUT = "timed_out"  #: it ran past `max_duration`
    STOPPED = "stopped"  #: someone stopped or aborted it
    LOST = "lost"  #: the VM went away, or was taken away
    NO_CAPACITY = "no_capacity"  #: the cloud had no VM for it
    NO_OFFERS = "no_offers"  #: no cloud of the fleet sells such a VM at that price
    NO_FLEET = "no_fleet"  #: there is no such fleet
    FLEET_FULL = "fleet_full"  #: the fleet may have no further VM
    BAD_IMAGE = "bad_image"  #: the container could not be made: no such image, or no such volume
    BOOT_FAILED = "boot_failed"  #: the VM came, and dstack's agent on it did not
    BROKEN = "broken"  #: dstack itself failed

    @property
    def is_final(self) -> bool:
        """Whether nothing more will come of the run."""
        return self not in _UNDER_WAY

    @property
    def is_infrastructure(self) -> bool:
        """Whether what it was running may be tried again: it is not to blame."""
        return self.is_final and self not in {
            RunOutcome.DONE,
            RunOutcome.EXITED,
            RunOutcome.TIMED_OUT,
            RunOutcome.STOPPED,
        }


_UNDER_WAY = frozenset(
    {RunOutcome.QUEUED, RunOutcome.BOOTING, RunOutcome.PULLING, RunOutcome.RUNNING, RunOutcome.STOPPING}
)

#: Every RunStatus. None: the job, or its reason, knows more.
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

#: Every JobStatus, of a run that goes on. A job that has ended leaves a run that is about to.
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

#: Every JobTerminationReason, of a run that is over.
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

#: Every RunTerminationReason, for a run that is over and whose job has no reason.
RUN_REASONS: dict[str, RunOutcome] = {
    "all_jobs_done": RunOutcome.DONE,
    "job_failed": RunOutcome.EXITED,
    "retry_limit_exceeded": RunOutcome.NO_CAPACITY,
    "stopped_by_user": RunOutcome.STOPPED,
    "aborted_by_user": RunOutcome.STOPPED,
    "server_error": RunOutcome.BROKEN,
    "gateway_error": RunOutcome.BROKEN,
}

#: Every InstanceStatus → whether the cloud still bills the VM.
INSTANCE_STATUSES: dict[str, bool] = {
    "pending": False,
    "provisioning": True,
    "idle": True,
    "busy": True,
    "terminating": True,
    "terminated": False,
}

#: Every InstanceTerminationReason, in words for people.
INSTANCE_REASONS: dict[str, str] = {
    "terminated_by_user": "it was deleted",
    "idle_timeout": "it was idle for the fleet's idle_duration",
    "provisioning_timeout": "it did not come up in time",
    "error": "dstack could not set it up",
    "job_finished": "its run ended",
    "unreachable": "it could not be reached any more",
    "no_offers": "no cloud had such a VM",
    "master_failed": "the first VM of its cluster failed",
    "max_instances_limit": "the fleet may not have so many",
    "fleet_spec_mismatch": "the fleet was changed, and it does not fit any more",
    "no_balance": "the account has no money left",
}

#: Every InstanceAvailability of an offer → whether one can have it now.
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
    """What this has come to. `termination_reason` is the job's, or the run's where the job has none.

    A value that dstack does not have today counts as BROKEN: it is never taken for success.
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
    found = _by_reason(termination_reason, exit_status)
    if found is not RunOutcome.DONE:
        return found
    # A job that was through when its run was stopped; or a run that failed, and nothing says why.
    return RunOutcome.STOPPED if run_status == "terminated" else RunOutcome.BROKEN


def outcome_of(run: DstackRun) -> RunOutcome:
    """The same, of a run just read."""
    reason = run.job_termination_reason or run.termination_reason
    return outcome(run.status, run.job_status, reason, run.exit_status)


def why_no_capacity(fleet: DstackFleet | None, plan: FleetPlan | None = None) -> RunOutcome:
    """Why dstack found no VM: it gives the same reason for four causes, so look at the fleet itself.

    `plan` is dstack's plan for that fleet; without it, a price that nobody sells at is not told apart.
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
