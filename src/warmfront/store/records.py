"""The rows of the store as values. Times are seconds since 1970, money is `Decimal` dollars."""

from __future__ import annotations

from dataclasses import field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from decimal import Decimal

    from warmfront.roles import Role
    from warmfront.submission import Submission
    from warmfront.usage_limits import DailySpending
    from warmfront.vm import VMInstance


@dataclass(frozen=True, kw_only=True)
class StoredEvent:
    """One event of a submission's event log."""

    submission_id: str
    id: int  #: from 1, increasing by one
    time: float
    fields: dict[str, Any]  #: `status` first
    is_verdict: bool = False  #: whether it is the verdict; only set on the event that `complete` returns

    @property
    def status(self) -> str:
        """The status that names the kind of event."""
        return str(self.fields["status"])


class AttemptOutcome(StrEnum):
    """The outcome of an attempt that ended without a verdict; otherwise the outcome is the verdict."""

    LOST = "LOST"  #: infrastructure failed; counted against the retries of its submission
    PREEMPTED = "PREEMPTED"  #: the cloud preempted the spot VM; not counted, and retried on demand
    NEEDS_GPU = "NEEDS_GPU"  #: a CPU node cannot judge the submission; not counted, and retried on a GPU
    INTERRUPTED = "INTERRUPTED"  #: the service was stopped in an orderly way; not counted


@dataclass(frozen=True, kw_only=True)
class AttemptRecord:
    """One execution of a submission on one VM."""

    id: str
    submission_id: str
    vm_id: str
    number: int  #: 1 for the first
    started_at: float
    last_seq: int = 0  #: the sequence number of the last stored event of the listener
    ended_at: float | None = None
    outcome: str = ""  #: a verdict or an `AttemptOutcome`; empty while it is live
    cold: bool = False  #: whether its VM was provisioned for it
    reason: str = ""  #: why it was lost
    slot: int = 0  #: the number of its slot on the VM, from 0


class RunningAttempt(NamedTuple):
    """A submission that is currently on a VM."""

    vm_id: str
    started_at: float  #: when its attempt began
    submission_id: str
    owner: str
    problem: str
    endpoint: str
    slot: int = 0  #: the number of its slot on the VM


class Arrival(NamedTuple):
    """The arrival of a submission that got a VM: its time, owner, GPU type and endpoint."""

    created_at: float
    owner: str
    gpu: str
    endpoint: str


class Meter(StrEnum):
    """The kind of a billed interval: what the VM was doing."""

    PROVISIONING = "PROVISIONING"
    WORK = "WORK"
    IDLE = "IDLE"


@dataclass(frozen=True, kw_only=True)
class LedgerEntry:
    """One billed interval of one VM, charged to a submission or to the VM pool.

    A submission is charged for its attempts, and for the boot that its quote included. The pool is charged
    for idle time, and for boots that no quote included.
    """

    vm_id: str
    meter: Meter
    started_at: float
    ended_at: float
    amount_usd: Decimal
    submission_id: str | None = None  #: None if charged to the VM pool
    owner: str | None = None


class IntakeMode(StrEnum):
    """How the intake treats submissions."""

    OPEN = "open"  #: they are accepted and run
    QUEUE = "queue"  #: they are accepted and wait; no attempt begins and no VM is provisioned
    REFUSE = "refuse"  #: new ones are refused; those that were accepted before are run


@dataclass(frozen=True, kw_only=True)
class ApiKey:
    """An API key without its secret."""

    id: str
    user: str
    role: Role
    created_at: float
    revoked_at: float | None = None
    team: str | None = None  #: the daily spending of a team's members is summed
    manages_team: bool = False  #: whether its user manages the team, and it has all permissions of its user
    daily_budget_usd: Decimal | None = None  #: its user's own daily budget, if they have one


@dataclass(frozen=True, kw_only=True)
class SubmissionPage:
    """One page of a list of submissions."""

    items: list[Submission] = field(default_factory=list)
    next_cursor: str | None = None  #: None on the last page


@dataclass(frozen=True, kw_only=True)
class RecoveredState:
    """Everything that the orchestrator needs to continue after a restart."""

    live_vms: list[VMInstance]
    unfinished: list[Submission]
    attempts: dict[str, AttemptRecord]  #: the live attempt, by submission id
    lost_attempts: dict[str, int]  #: attempts lost to infrastructure, by submission id
    preempted: set[str]  #: submissions that lost a spot VM to preemption
    needs_gpu: set[str]  #: submissions that a CPU node could not judge
    spot_history: tuple[float, int]  #: total lifetime of spot VMs in seconds, and the number preempted
    settled_usd: Decimal  #: the cost of all VMs that have ended
    boot_times: list[tuple[str, float]]  #: GPU and seconds of the latest VMs, oldest first
    arrivals: list[Arrival]  #: oldest first
    breakers: dict[str, str]  #: records of circuit breakers, by GPU type
    intake: str | None = None  #: the state of the intake, as the orchestrator stored it


@dataclass(frozen=True, kw_only=True)
class Totals:
    """Counts since the database was created."""

    tasks_completed: int  #: submissions that got a verdict on a VM
    cold_starts: int  #: those of them whose VM was provisioned for them
    warm_reuses: int  #: those of them that found a ready VM; with `cold_starts`, all of them
    cold_attempts: int  #: attempts for which a VM was provisioned, including lost ones
    warm_attempts: int  #: attempts that found a ready VM, including lost ones
    by_verdict: dict[str, int]


@dataclass(frozen=True, kw_only=True)
class LatencyQuantiles:
    """Seconds from submission to verdict for the latest submissions judged on a VM.

    None if there are none.
    """

    count: int
    p50_s: float | None
    p90_s: float | None
    p99_s: float | None


@dataclass(frozen=True, kw_only=True)
class BestResult:
    """The best accepted time for a problem on a GPU: the one with the smallest upper end of its interval."""

    runtime_ms: float
    ci: tuple[float, float] | None  #: None if unknown
    noisy: bool


@dataclass(kw_only=True)
class ProblemStatistics:
    """The statistics of one problem: how often and how fast it was solved."""

    solutions: int = 0  #: accepted submissions of all users
    solved_by_user: bool = False  #: whether the given user has an accepted submission
    best: dict[tuple[str, bool], BestResult] = field(default_factory=dict)  #: by GPU and `simulated`


@dataclass(frozen=True, kw_only=True)
class CostReport:
    """Costs by VM, meter and day."""

    by_vm: list[tuple[VMInstance, dict[Meter, Decimal]]]
    by_meter: dict[Meter, Decimal]
    by_day: dict[str, Decimal]
    history_by_day: dict[str, Decimal]  #: like `by_day`, for the days that a forecast uses
    user_today: DailySpending  #: the caller's spending; the fields about the team are 0
    pool_usd: Decimal  #: charged to the VM pool, not to a submission
    cpu_nodes: tuple[float, Decimal]  #: for how many seconds CPU nodes were billed, and their cost


@dataclass(frozen=True, kw_only=True)
class OperationsReport:
    """The figures of the operations page, from one snapshot."""

    vms: list[VMInstance]
    running: list[RunningAttempt]
    entries: list[LedgerEntry]
    billed_usd: Decimal
    by_hour: dict[float, Decimal]
    by_day: dict[str, dict[Meter, Decimal]]
    by_owner: dict[str | None, Decimal]
    totals: Totals
    task_costs_usd: dict[bool, Decimal]  #: average, by whether the attempt was a cold start
    latencies: dict[str, LatencyQuantiles]  #: `all`, `cold` and `warm`


@dataclass(frozen=True, kw_only=True)
class ReplayReport:
    """The costs of a replay, and how long its submissions waited."""

    total_usd: Decimal
    waits_s: list[float]  #: seconds from arrival to the start of the attempt, in order of arrival
    vms: int
    lived_s: float
    worked_s: float
    by_day: dict[str, Decimal]
    entries: list[LedgerEntry]  #: entries in the requested interval
