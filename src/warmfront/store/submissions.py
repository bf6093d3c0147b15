"""Submissions: stored once, found, listed and moved between states.

Their events are the log's, their attempts have a room of their own; nothing here decides anything.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from typing import TYPE_CHECKING, Any

from sqlalchemy import and_, bindparam, func, insert, or_, select, true, update

from warmfront.errors import BadRequest, Conflict
from warmfront.store import log, schema
from warmfront.store.records import Page
from warmfront.submission import NewSubmission, Submission, SubmissionState
from warmfront.verdicts import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection, Select

    from warmfront.store.records import StoredEvent

_T = schema.submissions.c

#: The columns of a record, in its order.
_COLUMNS = [_T[name] for name in Submission.__dataclass_fields__]
_NAMES = tuple(Submission.__dataclass_fields__)
_RECORDS = select(*_COLUMNS)

#: States of a submission that waits for its turn.
_WAITING = [SubmissionState.ADMITTING, SubmissionState.QUEUED]
_UNFINISHED = [*_WAITING, SubmissionState.ASSIGNED, SubmissionState.RUNNING]


def create(
    c: Connection, new: NewSubmission, fields: dict[str, Any]
) -> tuple[Submission, StoredEvent | None]:
    """Store it as ADMITTING with its first event.

    The same owner with the same idempotency key gets the submission of the first time and None; if the
    request is another one, `Conflict`.
    """
    digest = _request_sha256(new)
    if new.idempotency_key is not None:
        parameters = {"owner": new.owner, "key": new.idempotency_key}
        if earlier := c.execute(_BY_IDEMPOTENCY_KEY, parameters).first():
            return _the_same(earlier, digest), None
    row = _new_row(new)
    c.execute(_CREATE, {**row, "idempotency_key": new.idempotency_key, "request_sha256": digest})
    c.execute(_CREATE_SOURCE, {"submission_id": new.id, "code": new.code, "problem_def": new.problem_def})
    return Submission(**row), log.insert_event(c, new.id, 1, new.created_at, fields)


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
        "state": SubmissionState.ADMITTING,
        "created_at": new.created_at,
        "attempts": 0,
        "cancel_requested": False,
        "simulated": False,
        "last_event_id": 1,
    }


def _the_same(earlier: Sequence[Any], digest: str) -> Submission:
    *values, first_digest = earlier
    record = _record(values)
    if first_digest != digest:
        raise Conflict(
            f"This idempotency key was used for another request, which is submission {record.id}.",
            hint="Use a new key for a new request.",
        )
    return record


def _request_sha256(new: NewSubmission) -> str:
    """A digest of all that the client asked for, and of nothing that we gave it."""
    asked = [new.problem, new.gpu, new.dtype, new.language, new.endpoint, new.file_name]
    asked += [new.code, new.problem_def or ""]
    return hashlib.sha256(json.dumps(asked).encode()).hexdigest()


def get(c: Connection, submission_id: str) -> Submission | None:
    """The submission of this id."""
    row = c.execute(_GET, {"id": submission_id}).first()
    return None if row is None else _record(row)


def known(c: Connection, submission_id: str) -> Submission:
    """The submission of this id, which is there: records are never deleted."""
    return _record(c.execute(_GET, {"id": submission_id}).one())


_GET = _RECORDS.where(_T.id == bindparam("id"))


def source(c: Connection, submission_id: str) -> tuple[str, str | None]:
    """Its code, and the problem's Python source where an operator gave one."""
    row = c.execute(_SOURCE, {"id": submission_id}).one()
    return row.code, row.problem_def


_SOURCE = select(schema.sources.c.code, schema.sources.c.problem_def).where(
    schema.sources.c.submission_id == bindparam("id")
)


def page(
    c: Connection,
    *,
    owner: str | None = None,
    state: str | None = None,
    verdict: str | None = None,
    problem: str | None = None,
    endpoint: str | None = None,
    limit: int = 50,
    cursor: str | None = None,
) -> Page:
    """The newest first; `cursor` is the `next_cursor` of the page before. A bad one is a `BadRequest`."""
    wanted = {"owner": owner, "state": state, "verdict": verdict, "problem": problem, "endpoint": endpoint}
    statement: Select[Any] = _RECORDS.order_by(_T.created_at.desc(), _T.id.desc()).limit(limit + 1)
    for name, value in wanted.items():
        if value is not None:
            statement = statement.where(_T[name] == value)
    if cursor is not None:
        created_at, last_id = _read_cursor(cursor)
        older = and_(_T.created_at == created_at, _T.id < last_id)
        statement = statement.where(_T.created_at <= created_at, or_(_T.created_at < created_at, older))
    found = [_record(row) for row in c.execute(statement)]
    more = len(found) > limit
    return Page(items=found[:limit], next_cursor=_cursor(found[limit - 1]) if more else None)


def _cursor(last: Submission) -> str:
    return base64.urlsafe_b64encode(json.dumps([last.created_at, last.id]).encode()).decode()


def _read_cursor(text: str) -> tuple[float, str]:
    try:
        created_at, last_id = json.loads(base64.b64decode(text, altchars=b"-_", validate=True))
        return float(created_at), str(last_id)
    except (binascii.Error, ValueError, TypeError):
        raise BadRequest(
            "This cursor is none of ours.", hint="Use the `next_cursor` of the page before."
        ) from None


def unfinished(c: Connection) -> list[Submission]:
    """All that have no verdict yet, the oldest first."""
    return [_record(row) for row in c.execute(_ALL_UNFINISHED)]


_ALL_UNFINISHED = _RECORDS.where(_T.state.in_(_UNFINISHED)).order_by(_T.created_at, _T.id)


def arrivals(c: Connection, latest: int) -> list[tuple[float, str]]:
    """When the latest came that got a VM, and from whom; the oldest first."""
    return [(at, owner) for at, owner in c.execute(_ARRIVALS, {"latest": latest})][::-1]


_ARRIVALS = (
    select(_T.created_at, _T.owner)
    .where(_T.attempts > 0)
    .order_by(_T.created_at.desc(), _T.id.desc())
    .limit(bindparam("latest"))
)


def request_cancel(c: Connection, submission_id: str) -> Submission | None:
    """Mark it as not wanted any more, and return it; one that is DONE stays as it is."""
    c.execute(_REQUEST_CANCEL, {"this": submission_id})
    return get(c, submission_id)


_REQUEST_CANCEL = (
    update(schema.submissions)
    .where(_T.id == bindparam("this"), _T.state != SubmissionState.DONE)
    .values(cancel_requested=True)
)


def queued_by(c: Connection, owner: str) -> int:
    """How many of this user's submissions wait for a VM."""
    return int(c.execute(_QUEUED_BY, {"owner": owner}).scalar_one())


_QUEUED_BY = (
    select(func.count())
    .select_from(schema.submissions)
    .where(_T.owner == bindparam("owner"), _T.state.in_(_WAITING))
)


def best(c: Connection, problem: str, *, dtype: str | None = None) -> list[Submission]:
    """The fastest ACCEPTED one of each user and GPU, simulated ones apart and last; the fastest first."""
    place = func.row_number().over(
        partition_by=[_T.owner, _T.gpu, _T.simulated], order_by=[_T.avg_runtime_ms, _T.finished_at, _T.id]
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
    return [_record(row) for row in c.execute(statement)]


def _record(values: Sequence[Any]) -> Submission:
    row = dict(zip(_NAMES, values, strict=True))
    row["state"] = SubmissionState(row["state"])
    return Submission(**row)
