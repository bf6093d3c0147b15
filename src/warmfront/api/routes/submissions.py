"""The routes of submissions: hand one in, watch it, read it, stop it. Another user's does not exist."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import APIRouter, Header, Query, Request
from fastapi.responses import JSONResponse, Response

from warmfront.api import models, serialization, validation
from warmfront.api.auth import Caller
from warmfront.api.deps import CallerDep, ProblemsDep, ServiceDep
from warmfront.api.error_responses import InvalidField
from warmfront.api.event_stream import MEDIA_TYPE, EventStream
from warmfront.api.openapi import EVENT_STREAM, error_responses_for
from warmfront.errors import BadRequest, NotAllowed, SubmissionNotFound
from warmfront.store import log, submissions
from warmfront.submission import SubmissionState
from warmfront.verdicts import Verdict

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from warmfront.store.records import Page, StoredEvent
    from warmfront.submission import Submission

_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_LAST_ID = 2**31 - 1
_TAKEN: dict[str, Any] = {
    "model": models.Taken,
    "description": "It is stored and will get its verdict; asked for by `Accept: application/json`.",
}
_StateName = Literal["ADMITTING", "QUEUED", "ASSIGNED", "RUNNING", "DONE"]
_VerdictName = Annotated[str, Query(pattern=f"^({'|'.join(Verdict)})$")]


router = APIRouter(tags=["submissions"])


@router.post(
    "/submit",
    response_class=Response,
    responses={200: EVENT_STREAM, 202: _TAKEN, **error_responses_for(400, 402, 409, 413, 415, 422, 429)},
)
async def submit(
    *,
    body: models.SubmitRequest,
    service: ServiceDep,
    problems: ProblemsDep,
    caller: CallerDep,
    request: Request,
    idempotency_key: Annotated[str | None, Header(description="The same key, the same submission.")] = None,
) -> Response:
    """Hand in a kernel. The answer is its events, or its id where JSON is asked for."""
    new = validation.new_submission(service, problems, caller, body, idempotency_key)
    await validation.consume_quota(service, caller)
    record = await service.orchestrator.submit(new)
    headers = {"Location": serialization.urls(record.id).self}
    if wants_json(request.headers.get("accept", "")):
        return JSONResponse(serialization.taken(record).model_dump(), 202, headers)
    return EventStream(service.log.follow(record.id), headers=headers)


@router.get("/submissions", responses=error_responses_for(422))
async def list_submissions(
    *,
    service: ServiceDep,
    problems: ProblemsDep,
    caller: CallerDep,
    problem: Annotated[str | None, Query(max_length=100)] = None,
    verdict: _VerdictName | None = None,
    state: _StateName | None = None,
    endpoint: models.EndpointName | None = None,
    limit: Annotated[int, Query(ge=1, le=100)] = 50,
    cursor: Annotated[str | None, Query(max_length=200)] = None,
    everyone: Annotated[bool, Query(alias="all", description="Of all users; for operators.")] = False,
) -> models.SubmissionPage:
    """The caller's submissions, the newest first."""
    if everyone and not caller.is_operator:
        raise NotAllowed("?all=1 takes an operator's key.", hint="Without it the list is yours.")
    named = None if problem is None else problems.named(problem).slug
    page = await service.store.read(
        _page,
        owner=None if everyone else caller.user,
        state=None if state is None else SubmissionState(state),
        verdict=verdict,
        problem=named,
        endpoint=endpoint,
        limit=limit,
        cursor=cursor,
    )
    return models.SubmissionPage(
        items=[serialization.submission(record) for record in page.items], next_cursor=page.next_cursor
    )


@router.get("/submissions/{submission_id}", responses=error_responses_for(404, 422))
async def get_submission(
    submission_id: str, service: ServiceDep, caller: CallerDep
) -> models.SubmissionDetail:
    """One submission, with its verdict."""
    record, verdict = await service.store.read(_with_verdict, caller, submission_id)
    return serialization.detail(record, verdict)


@router.get(
    "/submissions/{submission_id}/events",
    response_class=Response,
    responses={
        200: EVENT_STREAM,
        204: {"description": "There is nothing after that event: the verdict is in."},
        **error_responses_for(404, 422),
    },
)
async def events(
    submission_id: str,
    service: ServiceDep,
    caller: CallerDep,
    last_event_id: Annotated[int | None, Header(ge=0, le=_LAST_ID)] = None,
    after: Annotated[int, Query(ge=0, le=_LAST_ID)] = 0,
) -> Response:
    """The events after `Last-Event-ID`, or `?after=`, or from the first: the stored, then the live ones."""
    record = await service.store.read(_owned, caller, submission_id)
    # A browser that reconnects sends both, and the header is the newer.
    seen = after if last_event_id is None else last_event_id
    if seen > record.last_event_id:
        field = "after" if last_event_id is None else "Last-Event-ID"
        raise InvalidField(field, seen, f"0 to {record.last_event_id}, the last event so far")
    if record.state is SubmissionState.DONE and seen == record.last_event_id:
        return Response(status_code=204)  # which also tells a browser not to come again
    return EventStream(service.log.follow(record.id, seen))


@router.get("/submissions/{submission_id}/code", responses=error_responses_for(404, 422))
async def code(submission_id: str, service: ServiceDep, caller: CallerDep) -> models.Code:
    """What was submitted."""
    record, source, problem_def = await service.store.read(_with_source, caller, submission_id)
    return models.Code(
        id=record.id,
        file_name=record.file_name,
        language=record.language,
        solution_code=source,
        problem_def=problem_def,
    )


@router.post("/submissions/{submission_id}/cancel", responses=error_responses_for(404, 409, 413, 422))
async def cancel(submission_id: str, service: ServiceDep, caller: CallerDep) -> models.SubmissionDetail:
    """Stop it; the answer comes when its sandbox is gone. The record stays."""
    await service.store.read(_owned, caller, submission_id)
    await service.orchestrator.cancel(submission_id)
    record, verdict = await service.store.read(_with_verdict, caller, submission_id)
    return serialization.detail(record, verdict)


def wants_json(accept: str) -> bool:
    """Whether JSON is asked for rather than the stream; whoever takes anything gets the stream."""
    qualities: dict[str, float] = {}
    for part in accept.split(","):
        media_type, _, parameters = part.partition(";")
        match = re.search(r"\bq=([01](?:\.\d{0,3})?)", parameters)
        qualities[media_type.strip().lower()] = float(match[1]) if match else 1.0
    return qualities.get("application/json", 0.0) > qualities.get(MEDIA_TYPE, 0.0)


def _page(c: Connection, /, cursor: str | None, **filters: Any) -> Page:  # noqa: ANN401 - `page` has the types
    try:
        return submissions.page(c, cursor=cursor, **filters)
    except BadRequest:
        raise InvalidField("cursor", cursor, "the next_cursor of a page") from None


def _owned(c: Connection, caller: Caller, submission_id: str) -> Submission:
    """The submission, if it is the caller's to see."""
    record = submissions.get(c, submission_id) if _ID.fullmatch(submission_id) else None
    if record is None or not (caller.is_operator or record.owner == caller.user):
        raise SubmissionNotFound(submission_id)
    return record


def _with_verdict(c: Connection, caller: Caller, submission_id: str) -> tuple[Submission, StoredEvent | None]:
    record = _owned(c, caller, submission_id)
    if record.state is not SubmissionState.DONE:
        return record, None
    last = log.after(c, record.id, record.last_event_id - 1, 1)
    return record, last[0] if last else None


def _with_source(c: Connection, caller: Caller, submission_id: str) -> tuple[Submission, str, str | None]:
    record = _owned(c, caller, submission_id)
    return record, *submissions.source(c, record.id)
