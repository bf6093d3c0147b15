"""Records as the API shows them: times as ISO text, dollars as numbers for people. No queries here."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import ROUND_HALF_UP, Decimal
from typing import TYPE_CHECKING, Any

from warmfront.api import models
from warmfront.money.billing import CENT
from warmfront.submission import SubmissionState

if TYPE_CHECKING:
    from warmfront.store.records import StoredEvent
    from warmfront.submission import Submission

ROOT = "/api/amd"

#: A kernel on a warm VM costs a fraction of a cent, so what is not a total is shown finer.
_MICRO = Decimal("0.000001")
_TENTH = Decimal("0.1")


def iso(seconds: float) -> str:
    """A moment as the events have it: UTC, to the millisecond."""
    moment = datetime.fromtimestamp(seconds, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def iso_or_none(seconds: float | None) -> str | None:
    """The same, of a moment that may not have come."""
    return None if seconds is None else iso(seconds)


def cents(amount_usd: Decimal) -> Decimal:
    """Dollars to the cent."""
    return amount_usd.quantize(CENT, ROUND_HALF_UP)


def dollars(amount_usd: Decimal) -> float:
    """Dollars to the millionth, as JSON's number."""
    return float(amount_usd.quantize(_MICRO, ROUND_HALF_UP))


def percent(part: Decimal, whole: Decimal) -> float:
    """How much of the whole, to a tenth of a percent."""
    if whole <= 0:
        return 100.0 if part > 0 else 0.0
    return float((100 * part / whole).quantize(_TENTH, ROUND_HALF_UP))


def urls(submission_id: str) -> models.Urls:
    """Where to go on from a submission."""
    itself = f"{ROOT}/submissions/{submission_id}"
    return models.Urls(
        self=itself, events=f"{itself}/events", code=f"{itself}/code", cancel=f"{itself}/cancel"
    )


def taken(record: Submission) -> models.Taken:
    """The short answer to a submission."""
    waiting = record.state in {SubmissionState.ADMITTING, SubmissionState.QUEUED}
    status = record.verdict or ("IN_QUEUE" if waiting else "RUNNING")
    return models.Taken(id=record.id, status=status, urls=urls(record.id))


def submission(record: Submission) -> models.Submission:
    """A submission in a list."""
    return models.Submission(**_fields(record))


def detail(record: Submission, verdict: StoredEvent | None) -> models.SubmissionDetail:
    """A submission by itself."""
    return models.SubmissionDetail(**_fields(record), result=None if verdict is None else event(verdict))


def event(stored: StoredEvent) -> dict[str, Any]:
    """An event as it goes on the wire: its id, its time, `status`, then its own fields."""
    return {"id": stored.id, "time": iso(stored.time), **stored.fields}


def _fields(record: Submission) -> dict[str, Any]:
    return {
        "id": record.id,
        "owner": record.owner,
        "problem": record.problem,
        "gpu_type": record.gpu,
        "dtype": record.dtype,
        "language": record.language,
        "endpoint": record.endpoint,
        "file_name": record.file_name,
        "code_sha256": record.code_sha256,
        "state": record.state.value,
        "verdict": record.verdict,
        "created_at": iso(record.created_at),
        "finished_at": iso_or_none(record.finished_at),
        "vm_id": record.vm_id,
        "attempts": record.attempts,
        "cancel_requested": record.cancel_requested,
        "simulated": record.simulated,
        "cost_usd": None if record.cost_usd is None else dollars(record.cost_usd),
        "avg_runtime_ms": record.avg_runtime_ms,
        "avg_gflops": record.avg_gflops,
        "last_event_id": record.last_event_id,
        "urls": urls(record.id),
    }
