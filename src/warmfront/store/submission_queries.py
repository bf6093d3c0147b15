"""Queries that create, find and list submissions. Events and attempts have their own modules."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from dataclasses import asdict
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from sqlalchemy import and_, bindparam, func, insert, or_, select, true, update

from warmfront.errors import BadRequest, Conflict
from warmfront.store import account_queries, ledger_queries, schema
from warmfront.store.event_queries import insert_event
from warmfront.store.records import Arrival, SubmissionPage
from warmfront.submission import (
    CREATE,
    UNFINISHED,
    UNKNOWN_WIDTH,
    WAITING,
    Submission,
    SubmissionState,
    SubmittedSource,
)
from warmfront.verdicts import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection, Select

    from warmfront.store.records import StoredEvent
    from warmfront.submission import NewSubmission
    from warmfront.usage_limits import DailyCaps, Quota

_T = schema.submissions.c
_NOTHING = Decimal(0)

#: The columns of a `Submission`, in the order of its fields.
_COLUMNS = [_T[name] for name in Submission.__dataclass_fields__]
_NAMES = tuple(Submission.__dataclass_fields__)
_RECORDS = select(*_COLUMNS)
#: The upper end of `Submission.possible_ms`.
UPPER_END_MS = func.coalesce(_T.avg_ci_high_ms, _T.avg_runtime_ms * (1 + UNKNOWN_WIDTH))


def create(
    conn: Connection,
    new: NewSubmission,
    fields: dict[str, Any],
    *,
    quotas: Sequence[Quota] = (),
    caps: DailyCaps | None = None,
    expected_usd: Decimal = _NOTHING,
    pays_boot: bool = False,
) -> tuple[Submission, StoredEvent | None]:
    """Check the quotas and daily caps of the owner, then execute CREATE and add the first event.

    Args:
        conn: a connection in a transaction.
        new: the submission.
        fields: its first event.
        quotas: the quotas of its owner.
        caps: the daily caps of its owner.
        expected_usd: the quoted cost.
        pays_boot: whether the quote included the boot of a VM.

    A request with an idempotency key that its owner has already used returns the first submission and None.
    It is not counted again, and no quota or cap can reject it.

    Raises:
        Conflict: the key was used for a different request.
        QuotaExceeded: a quota is used up.
        BudgetExceeded: it would exceed a daily cap.
    """
    digest = _request_sha256(new)
    if new.idempotency_key is not None:
        parameters = {"owner": new.owner, "key": new.idempotency_key}
        if earlier := conn.execute(_BY_IDEMPOTENCY_KEY, parameters).first():
            return _same_request(earlier, digest), None
    if caps is not None:
        spending = ledger_queries.spent_today(conn, new.owner, caps.team, new.created_at)
        caps.check(spending, expected_usd, new.created_at)
    account_queries.consume_quotas(conn, new.owner, new.created_at, quotas)
    row = _new_row(new)
    row |= {"team": caps.team if caps else None, "expected_usd": expected_usd, "pays_boot": pays_boot}
    row["daily_budget_usd"] = caps.own_limit_usd if caps else None
    conn.execute(_CREATE, {**row, "idempotency_key": new.idempotency_key, "request_sha256": digest})
    conn.execute(_CREATE_SOURCE, {"submission_id": new.id, **asdict(new.source)})
    return Submission(**row), insert_event(conn, new.id, 1, new.created_at, fields)


_BY_IDEMPOTENCY_KEY = select(*_COLUMNS, _T.request_sha256).where(
    _T.owner == bindparam("owner"), _T.idempotency_key == bindparam("key")
)
_CREATE = insert(schema.submissions)
_CREATE_SOURCE = insert(schema.sources)


def _new_row(new: NewSubmission) -> dict[str, Any]:
    return {
        "id": new.id,
        "owner": new.owner,
        "problem": new.problem,
        "gpu": new.gpu,
        "dtype": new.dtype,
        "language": new.language,
        "endpoint": new.endpoint,
        "file_name": new.file_name,
        "code_sha256": hashlib.sha256(new.code.encode()).hexdigest(),
        "state": CREATE.target,
        "created_at": new.created_at,
        "attempts": 0,
        "cancel_requested": False,
        "simulated": False,
        "noisy": False,
        "last_event_id": 1,
    }


def _same_request(earlier: Sequence[Any], digest: str) -> Submission:
    *values, first_digest = earlier
    record = _record(values)
    if first_digest != digest:
        raise Conflict(
            f"The idempotency key was already used for a different request, submission {record.id}.",
            hint="Use a new key for a new request.",
        )
    return record


def _request_sha256(new: NewSubmission) -> str:
    """Return a digest of the fields that the client chose."""
    chosen = [new.problem, new.gpu, new.dtype, new.language, new.endpoint, new.file_name]
    chosen += [new.code, new.problem_def or ""]
    chosen += [text for text in (new.own_cases, new.launch) if text is not None]
    chosen += ["all_cases"] * new.all_cases
    return hashlib.sha256(json.dumps(chosen).encode()).hexdigest()


def get(conn: Connection, submission_id: str) -> Submission | None:
    """Return the submission with this id."""
    row = conn.execute(_GET, {"id": submission_id}).first()
    return None if row is None else _record(row)


_GET = _RECORDS.where(_T.id == bindparam("id"))


def source(conn: Connection, submission_id: str) -> SubmittedSource:
    """Return a submission's source, with the problem, own cases and launch sent with it."""
    row = conn.execute(_SOURCE, {"id": submission_id}).one()
    return SubmittedSource(
        code=row.code,
        problem_def=row.problem_def,
        own_cases=row.own_cases,
        launch=row.launch,
        all_cases=row.all_cases,
    )


_S = schema.sources.c
_SOURCE = select(_S.code, _S.problem_def, _S.own_cases, _S.launch, _S.all_cases).where(
    _S.submission_id == bindparam("id")
)


def page(
    conn: Connection,
    *,
    owner: str | None = None,
    state: str | None = None,
    verdict: str | None = None,
    problem: str | None = None,
    endpoint: str | None = None,
    limit: int = 50,
    cursor: str | None = None,
) -> SubmissionPage:
    """Return one page, newest first; `cursor` is the `next_cursor` of the previous page.

    Raises:
        BadRequest: the cursor is malformed.
    """
    filters = {"owner": owner, "state": state, "verdict": verdict, "problem": problem, "endpoint": endpoint}
    statement: Select[Any] = _RECORDS.order_by(_T.created_at.desc(), _T.id.desc()).limit(limit + 1)
    for name, value in filters.items():
        if value is not None:
            statement = statement.where(_T[name] == value)
    if cursor is not None:
        created_at, last_id = _read_cursor(cursor)
        older = and_(_T.created_at == created_at, _T.id < last_id)
        statement = statement.where(_T.created_at <= created_at, or_(_T.created_at < created_at, older))
    submissions = [_record(row) for row in conn.execute(statement)]
    more = len(submissions) > limit
    return SubmissionPage(
        items=submissions[:limit], next_cursor=_cursor(submissions[limit - 1]) if more else None
    )


def _cursor(last: Submission) -> str:
    return base64.urlsafe_b64encode(json.dumps([last.created_at, last.id]).encode()).decode()


def _read_cursor(text: str) -> tuple[float, str]:
    try:
        created_at, last_id = json.loads(base64.b64decode(text, altchars=b"-_", validate=True))
        return float(created_at), str(last_id)
    except (binascii.Error, ValueError, TypeError):
        raise BadRequest(
            "The cursor is malformed.", hint="Use the `next_cursor` of the previous page."
        ) from None


def unfinished(conn: Connection) -> list[Submission]:
    """Return the submissions without a verdict, oldest first."""
    return [_record(row) for row in conn.execute(_ALL_UNFINISHED)]


_ALL_UNFINISHED = _RECORDS.where(schema.state_in(UNFINISHED)).order_by(_T.created_at, _T.id)


def arrivals(conn: Connection, latest: int) -> list[Arrival]:
    """Return the latest arrivals that got a VM, oldest first."""
    return [Arrival(*row) for row in conn.execute(_ARRIVALS, {"latest": latest})][::-1]


_ARRIVALS = (
    select(_T.created_at, _T.owner, _T.gpu, _T.endpoint)
    .where(_T.attempts > 0)
    .order_by(_T.created_at.desc(), _T.id.desc())
    .limit(bindparam("latest"))
)


def request_cancel(conn: Connection, submission_id: str) -> Submission | None:
    """Record the owner's request to cancel a submission, and return it. A DONE submission is not changed."""
    conn.execute(_REQUEST_CANCEL, {"this": submission_id})
    return get(conn, submission_id)


_REQUEST_CANCEL = (
    update(schema.submissions)
    .where(_T.id == bindparam("this"), schema.state_in(UNFINISHED))
    .values(cancel_requested=True)
)


def queued_by(conn: Connection, owner: str) -> int:
    """Return how many submissions of this user wait for an X-ray or a VM."""
    return int(conn.execute(_QUEUED_BY, {"owner": owner}).scalar_one())


_QUEUED_BY = (
    select(func.count())
    .select_from(schema.submissions)
    .where(_T.owner == bindparam("owner"), schema.state_in(WAITING))
)


def best(conn: Connection, problem: str, *, dtype: str | None = None) -> list[Submission]:
    """Return the best ACCEPTED submission per user and GPU, fastest first; simulated ones last.

    The best is the one whose interval has the smallest upper end, so that a noisy time does not win by a
    lucky median.
    """
    place = func.row_number().over(
        partition_by=[_T.owner, _T.gpu, _T.simulated],
        order_by=[UPPER_END_MS, _T.avg_runtime_ms, _T.finished_at, _T.id],
    )
    ranked = (
        select(*_COLUMNS, place.label("place"))
        .where(_T.problem == problem, _T.verdict == Verdict.ACCEPTED, _T.avg_runtime_ms.is_not(None))
        .where(true() if dtype is None else _T.dtype == dtype)
        .subquery()
    )
    of = ranked.c
    statement = (
        select(*[of[name] for name in _NAMES])
        .where(of.place == 1)
        .order_by(of.simulated, of.gpu, of.avg_runtime_ms, of.finished_at, of.id)
    )
    return [_record(row) for row in conn.execute(statement)]


def _record(values: Sequence[Any]) -> Submission:
    row = dict(zip(_NAMES, values, strict=True))
    row["state"] = SubmissionState(row["state"])
    return Submission(**row)
