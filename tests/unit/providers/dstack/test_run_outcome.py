"""The tables from dstack's statuses and reasons to our outcomes are complete and correct."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from dstack._internal.core.models.instances import (
    InstanceAvailability,
    InstanceStatus,
    InstanceTerminationReason,
)
from dstack._internal.core.models.runs import (
    JobStatus,
    JobTerminationReason,
    RunStatus,
    RunTerminationReason,
)

from tests.support.dstack_fleets import FLEET
from warmfront.providers.dstack import run_outcome
from warmfront.providers.dstack.resources import DstackFleet, FleetPlan
from warmfront.providers.dstack.run_outcome import RunOutcome, outcome, why_no_capacity


@pytest.mark.parametrize(
    ("enum", "table"),
    [
        (RunStatus, run_outcome.RUN_STATUSES),
        (JobStatus, run_outcome.JOB_STATUSES),
        (JobTerminationReason, run_outcome.JOB_REASONS),
        (RunTerminationReason, run_outcome.RUN_REASONS),
        (InstanceStatus, run_outcome.INSTANCE_STATUSES),
        (InstanceTerminationReason, run_outcome.INSTANCE_REASONS),
        (InstanceAvailability, run_outcome.AVAILABILITIES),
    ],
)
def test_tables_cover_dstacks_enums(enum: Any, table: dict[str, object]) -> None:
    """Every value of each enum is in its table, and no other."""
    assert {member.value for member in enum} == set(table)


def test_only_finished_runs_are_final() -> None:
    """The outcome is final exactly if dstack calls the run finished, whatever its job's status and reason."""
    reasons = [None, *(reason.value for reason in JobTerminationReason)]
    for run in RunStatus:
        for job in JobStatus:
            for reason in reasons:
                for exit_status in (None, 0, 3):
                    result = outcome(run.value, job.value, reason, exit_status)
                    assert result.is_final == run.is_finished(), (run, job, reason, exit_status)


def test_only_done_is_success() -> None:
    """No other run status results in success, whatever its job's status and reason."""
    reasons = [None, *(reason.value for reason in JobTerminationReason)]
    for run in set(RunStatus) - {RunStatus.DONE}:
        for job in JobStatus:
            for reason in reasons:
                assert outcome(run.value, job.value, reason, 0) is not RunOutcome.DONE


@pytest.mark.parametrize(
    ("run", "job", "reason", "exit_status", "expected"),
    [
        ("done", "done", "done_by_runner", 0, RunOutcome.DONE),
        ("failed", "failed", "container_exited_with_error", 3, RunOutcome.EXITED),
        ("failed", "terminated", "max_duration_exceeded", None, RunOutcome.TIMED_OUT),
        ("terminated", "terminated", "terminated_by_user", None, RunOutcome.STOPPED),
        ("terminated", "aborted", "aborted_by_user", None, RunOutcome.STOPPED),
        ("terminated", "done", "done_by_runner", 0, RunOutcome.STOPPED),
        ("failed", "failed", "failed_to_start_due_to_no_capacity", None, RunOutcome.NO_CAPACITY),
        ("failed", "failed", "instance_unreachable", None, RunOutcome.LOST),
        ("failed", "failed", "interrupted_by_no_capacity", None, RunOutcome.LOST),
        ("failed", "failed", "creating_container_error", None, RunOutcome.BAD_IMAGE),
        ("failed", "failed", None, None, RunOutcome.BROKEN),
        ("failed", "failed", "something_new", None, RunOutcome.BROKEN),
        ("something_new", "done", "done_by_runner", 0, RunOutcome.BROKEN),
        ("running", "pulling", None, None, RunOutcome.PULLING),
        ("provisioning", "provisioning", None, None, RunOutcome.BOOTING),
        ("running", "running", None, None, RunOutcome.RUNNING),
        ("running", "something_new", None, None, RunOutcome.BROKEN),
        ("pending", "failed", "failed_to_start_due_to_no_capacity", None, RunOutcome.QUEUED),
        ("terminating", "running", None, None, RunOutcome.STOPPING),
        ("submitted", None, None, None, RunOutcome.QUEUED),
    ],
)
def test_outcome_of_observed_runs(
    run: str, job: str | None, reason: str | None, exit_status: int | None, expected: RunOutcome
) -> None:
    """Combinations that were observed on a real server have the right outcome."""
    assert outcome(run, job, reason, exit_status) is expected


def test_only_infrastructure_failures_are_retried() -> None:
    """A lost VM is retried; an exit status, a timeout and a stop are not."""
    retried = {member for member in RunOutcome if member.is_infrastructure}
    assert {RunOutcome.LOST, RunOutcome.NO_CAPACITY, RunOutcome.FLEET_FULL, RunOutcome.BOOT_FAILED} <= retried
    assert not retried & {
        RunOutcome.DONE,
        RunOutcome.EXITED,
        RunOutcome.TIMED_OUT,
        RunOutcome.STOPPED,
        RunOutcome.RUNNING,
    }


def test_cause_of_no_capacity() -> None:
    """One reason in dstack has four causes; the fleet and its plan distinguish them."""
    no_offers = FleetPlan(offers=(), total_offers=0, max_price_usd_per_h=None, current=FLEET, model=None)
    assert why_no_capacity(None) is RunOutcome.NO_FLEET
    assert why_no_capacity(_fleet(status="terminating")) is RunOutcome.NO_FLEET
    assert why_no_capacity(_fleet(max_nodes=0)) is RunOutcome.FLEET_FULL
    assert why_no_capacity(FLEET, no_offers) is RunOutcome.NO_OFFERS
    assert why_no_capacity(FLEET) is RunOutcome.NO_CAPACITY


def _fleet(**changes: Any) -> DstackFleet:
    return replace(FLEET, **changes)
