"""A submission: what was requested, and the states that it passes through.

Values only: the orchestrator decides, the store keeps.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from decimal import Decimal


class SubmissionState(StrEnum):
    """Where a submission is. ADMITTING → QUEUED → ASSIGNED → RUNNING → DONE."""

    ADMITTING = "ADMITTING"  #: stored, not X-rayed yet
    QUEUED = "QUEUED"  #: waits for a VM
    ASSIGNED = "ASSIGNED"  #: has an attempt on a VM that said nothing yet
    RUNNING = "RUNNING"  #: its attempt has begun
    DONE = "DONE"  #: has its verdict


@dataclass(frozen=True, kw_only=True)
class Submission:
    """One submission, without its code."""

    id: str
    owner: str  #: the user, by name
    problem: str
    gpu: str
    dtype: str
    language: str
    endpoint: str  #: xray, checker, benchmark or submit
    file_name: str
    code_sha256: str
    state: SubmissionState
    created_at: float
    finished_at: float | None = None
    verdict: str | None = None
    vm_id: str | None = None  #: of the last attempt
    attempt_id: str | None = None  #: the lease: only this attempt may write
    attempts: int = 0
    cancel_requested: bool = False
    simulated: bool = False
    cost_usd: Decimal | None = None
    avg_runtime_ms: float | None = None
    avg_gflops: float | None = None
    last_event_id: int = 0


@dataclass(frozen=True, kw_only=True)
class NewSubmission:
    """What the API hands over. The id is ours."""

    id: str
    owner: str
    problem: str
    gpu: str
    dtype: str
    language: str
    endpoint: str
    file_name: str
    code: str
    created_at: float
    idempotency_key: str | None = None
    problem_def: str | None = None
