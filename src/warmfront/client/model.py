"""What a server tells, as typed values.

Each is read from the JSON of an answer and keeps that JSON in `fields`: what a newer server adds is not lost.
Money is `Decimal` dollars, times are seconds since 1970.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Self

from warmfront.errors import InfrastructureError
from warmfront.verdicts import SUCCESS, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, kw_only=True)
class Event:
    """Something that happened to a submission."""

    id: int  #: from 1, without gap
    status: str
    fields: dict[str, Any]  #: as on the wire: id, time and status too

    @property
    def verdict(self) -> Verdict:
        """What the status says, of a terminal event."""
        if self.status not in set(Verdict):
            raise InfrastructureError(
                f"The server's verdict is {self.status!r}, which this client does not know.",
                hint="Upgrade this client to the server's version.",
            )
        return Verdict(self.status)


@dataclass(frozen=True, kw_only=True)
class Result:
    """The verdict of a submission and what came with it."""

    submission_id: str
    verdict: Verdict
    code: str  #: a finer reason; empty for a success
    message: str  #: what is wrong; empty for a success
    hint: str  #: the next step, where there is one
    passed_tests: int | None
    total_tests: int | None
    avg_runtime_ms: float | None
    avg_gflops: float | None
    simulated: bool  #: it ran on the CPU simulator: its milliseconds are not a GPU's
    cost_usd: Decimal
    vm_state: str | None  #: COLD_START or WARM_REUSE; None if no VM was needed
    fields: dict[str, Any] = field(repr=False)  #: the terminal event

    @property
    def is_success(self) -> bool:
        """Whether the kernel did all that was asked of it."""
        return self.verdict in SUCCESS.values()

    @classmethod
    def of(cls, submission_id: str, events: Sequence[Event]) -> Self:
        """The result that a whole stream of events tells, the terminal one last."""
        last = events[-1]
        told = last.fields
        vms = [event.fields["vm_state"] for event in events if event.status == "VM_READY"]
        return cls(
            submission_id=submission_id,
            verdict=last.verdict,
            code=told.get("code", ""),
            message=told.get("message", ""),
            hint=told.get("hint", ""),
            passed_tests=told.get("passed_tests"),
            total_tests=told.get("total_tests"),
            avg_runtime_ms=told.get("avg_runtime_ms"),
            avg_gflops=told.get("avg_gflops"),
            simulated=bool(told.get("simulated")),
            cost_usd=dollars(told.get("cost_usd") or 0),
            vm_state=vms[-1] if vms else None,
            fields=told,
        )


@dataclass(frozen=True, kw_only=True)
class Submission:
    """A submission as its server lists it."""

    id: str
    owner: str
    problem: str
    gpu_type: str
    dtype: str
    endpoint: str
    file_name: str
    state: str  #: ADMITTING, QUEUED, ASSIGNED, RUNNING or DONE
    verdict: str | None
    created_at: float
    finished_at: float | None
    simulated: bool
    cost_usd: Decimal | None
    avg_runtime_ms: float | None
    last_event_id: int
    fields: dict[str, Any] = field(repr=False)

    @classmethod
    def of(cls, told: dict[str, Any]) -> Self:
        """The submission of an answer."""
        same = ("id", "owner", "problem", "gpu_type", "dtype", "endpoint", "file_name", "state", "verdict")
        also = ("simulated", "avg_runtime_ms", "last_event_id")
        return cls(
            **{name: told[name] for name in (*same, *also)},
            created_at=moment(told["created_at"]),
            finished_at=moment_or_none(told["finished_at"]),
            cost_usd=dollars_or_none(told["cost_usd"]),
            fields=told,
        )


@dataclass(frozen=True, kw_only=True)
class Page:
    """Some of the submissions, newest first."""

    items: list[Submission]
    next_cursor: str | None  #: ask with it for the next ones; None: these are the last


@dataclass(frozen=True, kw_only=True)
class Machine:
    """A VM as its server lists it."""

    id: str
    provider: str
    gpu_type: str
    state: str  #: a `VMState`
    simulated: bool  #: it stands in for the GPU, and its dollars are no dollars
    created_at: float
    ready_at: float | None
    deadline_at: float | None  #: when it is released if nothing more comes
    ended_at: float | None
    tasks_done: int
    cost_usd: Decimal
    fields: dict[str, Any] = field(repr=False)

    @classmethod
    def of(cls, told: dict[str, Any]) -> Self:
        """The VM of an answer."""
        same = ("id", "provider", "gpu_type", "state", "simulated", "tasks_done")
        return cls(
            **{name: told[name] for name in same},
            created_at=moment(told["created_at"]),
            ready_at=moment_or_none(told["ready_at"]),
            deadline_at=moment_or_none(told["deadline_at"]),
            ended_at=moment_or_none(told["ended_at"]),
            cost_usd=dollars(told["cost_usd"]),
            fields=told,
        )


@dataclass(frozen=True, kw_only=True)
class Metrics:
    """What the service has spent and done so far."""

    total_cost_usd: Decimal
    remaining_credits_usd: Decimal
    credits_used_pct: float
    tasks_completed: int
    cold_starts: int
    warm_reuses: int
    active_vms: int
    fields: dict[str, Any] = field(repr=False)

    @classmethod
    def of(cls, told: dict[str, Any]) -> Self:
        """The metrics of an answer."""
        same = ("credits_used_pct", "tasks_completed", "cold_starts", "warm_reuses", "active_vms")
        return cls(
            **{name: told[name] for name in same},
            total_cost_usd=dollars(told["total_cost_usd"]),
            remaining_credits_usd=dollars(told["remaining_credits_usd"]),
            fields=told,
        )


@dataclass(frozen=True, kw_only=True)
class Costs:
    """Where the money went."""

    simulated: bool  #: the dollars are no dollars
    credits_usd: Decimal
    total_usd: Decimal
    reserved_usd: Decimal  #: what the VMs alive may still come to
    remaining_usd: Decimal
    by_day: dict[str, Decimal]  #: day, in UTC → dollars
    by_meter: dict[str, Decimal]  #: PROVISIONING, WORK, IDLE → dollars
    by_vm: dict[str, Decimal]  #: id → dollars
    #: VMs that the provider's record and the ledger are over a cent apart on → dollars, by either
    differences: dict[str, tuple[Decimal, Decimal]]
    fields: dict[str, Any] = field(repr=False)

    @classmethod
    def of(cls, told: dict[str, Any]) -> Self:
        """The costs of an answer."""
        audit = told.get("audit") or {"differences": []}
        return cls(
            simulated=told["simulated"],
            credits_usd=dollars(told["credits_usd"]),
            total_usd=dollars(told["total_usd"]),
            reserved_usd=dollars(told["reserved_usd"]),
            remaining_usd=dollars(told["remaining_usd"]),
            by_day={row["day"]: dollars(row["cost_usd"]) for row in told["by_day"]},
            by_meter={row["meter"]: dollars(row["cost_usd"]) for row in told["by_meter"]},
            by_vm={row["vm_id"]: dollars(row["cost_usd"]) for row in told["by_vm"]},
            differences={
                row["vm_id"]: (dollars(row["billed_usd"]), dollars(row["ledger_usd"]))
                for row in audit["differences"]
            },
            fields=told,
        )


def dollars(told: float | str) -> Decimal:
    """An exact amount: the shortest text of a JSON number is the number that was meant."""
    return Decimal(str(told))


def dollars_or_none(told: float | str | None) -> Decimal | None:
    """The same, of an amount that is not known yet."""
    return None if told is None else dollars(told)


def moment(told: str) -> float:
    """Seconds since 1970."""
    return datetime.fromisoformat(told).timestamp()


def moment_or_none(told: str | None) -> float | None:
    """The same, of a moment that may not have come."""
    return None if told is None else moment(told)
