"""A submission and its state machine. The only module that names the target state of a transition.

::

                 admit             begin_attempt             report
    ADMITTING ──────────▶ QUEUED ───────────────▶ ASSIGNED ─────────▶ RUNNING ⟲ report
        │                  │  ▲                      │                   │
        │                  │  └──── lose_attempt ────┴───────────────────┤
        └───── complete ───┴─────────── complete ────┴───── complete ────┴──▶ DONE

The store executes the transitions as guarded updates built from the table below, so that a stale caller
changes nothing. The methods of `Submission` are the same transitions on a value; property tests drive
both with random sequences and compare them.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from enum import StrEnum

from warmfront.state_machine import IllegalTransitionError, Transition
from warmfront.value_class import dataclass


class SubmissionState(StrEnum):
    """The progress of a submission toward its verdict."""

    ADMITTING = "ADMITTING"  #: stored, waiting for its X-ray
    QUEUED = "QUEUED"  #: waiting for a VM
    ASSIGNED = "ASSIGNED"  #: has an attempt on a VM that has not reported anything yet
    RUNNING = "RUNNING"  #: its attempt has reported at least one event
    DONE = "DONE"  #: has its verdict


_S = SubmissionState

CREATE = Transition[SubmissionState]("create", frozenset(), _S.ADMITTING)
ADMIT = Transition("admit", frozenset({_S.ADMITTING}), _S.QUEUED)
BEGIN_ATTEMPT = Transition("begin_attempt", frozenset({_S.QUEUED}), _S.ASSIGNED)
REPORT = Transition("report", frozenset({_S.ASSIGNED, _S.RUNNING}), _S.RUNNING)
LOSE_ATTEMPT = Transition("lose_attempt", frozenset({_S.ASSIGNED, _S.RUNNING}), _S.QUEUED)
COMPLETE = Transition("complete", frozenset({_S.ADMITTING, _S.QUEUED, _S.ASSIGNED, _S.RUNNING}), _S.DONE)

#: Every transition, in the order of a submission's life.
TRANSITIONS = [CREATE, ADMIT, BEGIN_ATTEMPT, REPORT, LOSE_ATTEMPT, COMPLETE]

#: The states of a submission that waits for its X-ray or for a VM.
WAITING = frozenset({_S.ADMITTING, _S.QUEUED})
#: The states of a submission that has no verdict yet.
UNFINISHED = COMPLETE.sources

#: The assumed relative uncertainty of a time, to either side, if its interval is unknown.
UNKNOWN_WIDTH = 0.1


@dataclass(frozen=True, kw_only=True)
class Submission:
    """One submission, without its source. Times are seconds since 1970, UTC."""

    id: str
    owner: str  #: the user, by name
    problem: str
    gpu: str  #: the name of a GPU type in the catalog
    dtype: str
    language: str
    endpoint: str  #: xray, checker, benchmark or submit
    file_name: str
    code_sha256: str
    state: SubmissionState
    created_at: float
    finished_at: float | None = None
    verdict: str | None = None
    vm_id: str | None = None  #: the VM of the last attempt
    attempt_id: str | None = None  #: the last attempt; before the verdict, the only one that may report
    attempts: int = 0
    cancel_requested: bool = False
    simulated: bool = False
    cost_usd: Decimal | None = None
    team: str | None = None  #: the team whose daily cap applies to it
    daily_budget_usd: Decimal | None = None  #: the owner's own daily budget, if they have one
    expected_usd: Decimal = Decimal(0)  #: its expected cost beyond the ledger's, until it is DONE
    pays_boot: bool = False  #: whether its quote included the boot of a VM, for which it is charged
    avg_runtime_ms: float | None = None
    avg_ci_low_ms: float | None = None  #: the ends of its 95% confidence interval; None if unknown
    avg_ci_high_ms: float | None = None
    noisy: bool = False  #: whether the machine was too busy for a narrow interval
    avg_gflops: float | None = None
    last_event_id: int = 0

    @property
    def avg_ci(self) -> tuple[float, float] | None:
        """The 95% confidence interval of `avg_runtime_ms`, in ms; None if unknown, as in older releases."""
        if self.avg_ci_low_ms is None or self.avg_ci_high_ms is None:
            return None
        return self.avg_ci_low_ms, self.avg_ci_high_ms

    @property
    def possible_ms(self) -> tuple[float, float] | None:
        """The interval for comparing its time with others: an assumed one if unknown, None without a time."""
        if self.avg_runtime_ms is None:
            return None
        return self.avg_ci or (
            self.avg_runtime_ms / (1 + UNKNOWN_WIDTH),
            self.avg_runtime_ms * (1 + UNKNOWN_WIDTH),
        )

    @property
    def is_done(self) -> bool:
        """Whether the submission has its verdict."""
        return self.state is SubmissionState.DONE

    def admit(self) -> Submission:
        """Move the submission from the X-ray queue to the queue for a VM. Adds one event."""
        return self._next(ADMIT)

    def begin_attempt(self, attempt_id: str, vm_id: str, *, expected_usd: Decimal = Decimal(0)) -> Submission:
        """Assign the submission to an attempt on a VM, and set its expected charge. Adds one event."""
        return replace(
            self._next(BEGIN_ATTEMPT),
            attempt_id=attempt_id,
            vm_id=vm_id,
            attempts=self.attempts + 1,
            expected_usd=expected_usd,
            pays_boot=False,
        )

    def report(self, attempt_id: str) -> Submission:
        """Record that the live attempt reported an event. Adds that event."""
        self._check_live(attempt_id)
        return self._next(REPORT)

    def lose_attempt(self, attempt_id: str) -> Submission:
        """Return the submission to the queue because its live attempt ended without a verdict.

        Adds no event.
        """
        self._check_live(attempt_id)
        return replace(self._next(LOSE_ATTEMPT), attempt_id=None, last_event_id=self.last_event_id)

    def complete(self, verdict: str, finished_at: float, cost_usd: Decimal) -> Submission:
        """Set the verdict. Adds the terminal event."""
        return replace(self._next(COMPLETE), verdict=verdict, finished_at=finished_at, cost_usd=cost_usd)

    def _next(self, transition: Transition[SubmissionState]) -> Submission:
        state = transition.apply(self.state, f"submission {self.id}")
        return replace(self, state=state, last_event_id=self.last_event_id + 1)

    def _check_live(self, attempt_id: str) -> None:
        if self.attempt_id != attempt_id:
            raise IllegalTransitionError(
                f"attempt {attempt_id} is not the live attempt of submission {self.id}"
            )


@dataclass(frozen=True, kw_only=True)
class SubmittedSource:
    """The source of a submission, with the problem, own cases and launch sent with it."""

    code: str
    problem_def: str | None = None  #: Python source of the problem, if an operator sent one
    own_cases: str | None = None  #: JSON of the author's own cases, as `problems.own_cases` writes it
    launch: str | None = None  #: JSON of the launch of a scratch kernel, as `hip.scratch` writes it
    all_cases: bool = False  #: whether a check continues after a wrong answer


@dataclass(frozen=True, kw_only=True)
class NewSubmission:
    """A validated request for a submission. The service chooses the id."""

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
    problem_def: str | None = None  #: Python source of the problem, if an operator sent one
    own_cases: str | None = None  #: as in `SubmittedSource`
    launch: str | None = None  #: as in `SubmittedSource`
    all_cases: bool = False  #: as in `SubmittedSource`

    @property
    def source(self) -> SubmittedSource:
        """The source, with the problem, own cases and launch sent with it."""
        return SubmittedSource(
            code=self.code,
            problem_def=self.problem_def,
            own_cases=self.own_cases,
            launch=self.launch,
            all_cases=self.all_cases,
        )
