"""Submissions: create, list, read, follow and cancel. Other users' submissions are reported as not found."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Header, Query, Request
from fastapi.responses import JSONResponse, Response

from warmfront.api import serialization
from warmfront.api.auth import Caller
from warmfront.api.deps import CallerDep, ProblemsDep, ServiceDep, StreamsDep
from warmfront.api.error_responses import InvalidField
from warmfront.api.event_stream import MEDIA_TYPE, EventStream
from warmfront.api.openapi import EVENT_STREAM, error_responses_for
from warmfront.api.routes.operator_controls import actions_response
from warmfront.api.validation import validate_submission
from warmfront.errors import BadRequest, SubmissionNotFound
from warmfront.hip.scratch import SLUG
from warmfront.roles import Role
from warmfront.submission import SubmissionState
from warmfront.usage_limits import submission_quotas
from warmfront.verdicts import Endpoint, Verdict
from warmfront.wire.operator_controls import ActionsResponse
from warmfront.wire.submission_detail import SubmissionDetailResponse
from warmfront.wire.submissions import (
    SourceResponse,
    SubmissionCreatedResponse,
    SubmissionPageResponse,
    SubmitRequest,
)

if TYPE_CHECKING:
    from warmfront.api.context import ServiceContext
    from warmfront.store.records import StoredEvent, SubmissionPage
    from warmfront.submission import Submission

_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_MAX_EVENT_ID = 2**31 - 1
_CREATED: dict[str, Any] = {
    "model": SubmissionCreatedResponse,
    "description": "The submission is stored and will get a verdict. Sent if the request accepts JSON.",
}

router = APIRouter(tags=["submissions"])


@router.post(
    "/submit",
    response_class=Response,
    responses={200: EVENT_STREAM, 202: _CREATED, **error_responses_for(402, 409, 413, 415, 422, 429, 503)},
)
async def submit(
    *,
    body: SubmitRequest,
    service: ServiceDep,
    problems: ProblemsDep,
    caller: CallerDep,
    streams: StreamsDep,
    request: Request,
    idempotency_key: Annotated[
        str | None, Header(description="Repeating a request with the same key creates one submission.")
    ] = None,
) -> Response:
    """Submit a kernel. Responds with its events, or with its id if the request accepts JSON."""
    caller.require(Role.AUTHOR, "Submitting a kernel")
    new = validate_submission(service, problems, caller, body, idempotency_key)
    # Opened before the submission is stored: a rejected request must not leave a submission behind.
    place = None if wants_json(request.headers.get("accept", "")) else streams.open(caller)
    try:
        submission = await service.orchestrator.submit(
            new,
            quotas=submission_quotas(service.current_settings),
            caps=caller.daily_caps(service.current_settings),
        )
    except BaseException:
        if place is not None:
            place.close()
        raise
    headers = {"Location": serialization.submission_urls(submission.id).self}
    if place is None:
        return JSONResponse(serialization.submission_created(submission).model_dump(), 202, headers)
    return EventStream(service.log.follow(submission.id), place=place, headers=headers)


@router.get("/submissions", responses=error_responses_for(422))
async def list_submissions(
    *,
    service: ServiceDep,
    problems: ProblemsDep,
    caller: CallerDep,
    problem: Annotated[str | None, Query(max_length=100)] = None,
    verdict: Verdict | None = None,
    state: SubmissionState | None = None,
    endpoint: Endpoint | None = None,
    limit: Annotated[int, Query(ge=1, le=100)] = 50,
    cursor: Annotated[str | None, Query(max_length=200)] = None,
    everyone: Annotated[bool, Query(alias="all", description="Include all users; for operators.")] = False,
) -> SubmissionPageResponse:
    """List the caller's submissions, newest first."""
    if everyone:
        caller.require(Role.OPERATOR, "?all=1", hint="Omit it to list your own submissions.")
    page = await _page(
        service,
        owner=None if everyone else caller.user,
        state=state,
        verdict=verdict,
        problem=problem if problem in {None, SLUG} else problems.require(problem).slug,
        endpoint=endpoint,
        limit=limit,
        cursor=cursor,
    )
    return SubmissionPageResponse(
        items=[serialization.submission_response(submission) for submission in page.items],
        next_cursor=page.next_cursor,
    )


@router.get("/submissions/{submission_id}", responses=error_responses_for(404, 422))
async def get_submission(
    submission_id: str, service: ServiceDep, caller: CallerDep
) -> SubmissionDetailResponse:
    """Return one submission with its verdict."""
    submission, verdict = await get_with_verdict(service, caller, submission_id)
    return serialization.submission_detail(submission, verdict)


@router.get(
    "/submissions/{submission_id}/events",
    response_class=Response,
    responses={
        200: EVENT_STREAM,
        204: {"description": "The submission has its verdict, and no event follows."},
        **error_responses_for(404, 422, 429),
    },
)
async def stream_events(
    *,
    submission_id: str,
    service: ServiceDep,
    caller: CallerDep,
    streams: StreamsDep,
    last_event_id: Annotated[int | None, Header(ge=0, le=_MAX_EVENT_ID)] = None,
    after: Annotated[int, Query(ge=0, le=_MAX_EVENT_ID)] = 0,
) -> Response:
    """Stream the events after `Last-Event-ID` or `?after=`: first stored events, then live ones."""
    submission = await _owned(service, caller, submission_id)
    # A browser that reconnects sends both, and the header is more recent.
    last_seen = after if last_event_id is None else last_event_id
    if last_seen > submission.last_event_id:
        field = "after" if last_event_id is None else "Last-Event-ID"
        raise InvalidField(field, last_seen, f"0 to {submission.last_event_id}, the id of the last event")
    if submission.state is SubmissionState.DONE and last_seen == submission.last_event_id:
        return Response(status_code=204)  # an EventSource does not reconnect after 204
    return EventStream(service.log.follow(submission.id, last_seen), place=streams.open(caller))


@router.get("/submissions/{submission_id}/code", responses=error_responses_for(404, 422))
async def get_source(submission_id: str, service: ServiceDep, caller: CallerDep) -> SourceResponse:
    """Return the submitted source."""
    submission = await _owned(service, caller, submission_id)
    source = await service.store.get_source(submission.id)
    return SourceResponse(
        id=submission.id,
        file_name=submission.file_name,
        language=submission.language,
        solution_code=source.code,
        problem_def=source.problem_def,
        own_cases=[] if source.own_cases is None else json.loads(source.own_cases),
        all_cases=source.all_cases,
        launch=None if source.launch is None else json.loads(source.launch),
    )


@router.get("/submissions/{submission_id}/actions", responses=error_responses_for(404, 409, 422))
async def get_actions(submission_id: str, service: ServiceDep, caller: CallerDep) -> ActionsResponse:
    """Return what cancelling a submission would save."""
    await _owned(service, caller, submission_id)
    return actions_response(service.orchestrator.action_effects.cancel(submission_id))


@router.post("/submissions/{submission_id}/cancel", responses=error_responses_for(404, 409, 413, 422))
async def cancel(submission_id: str, service: ServiceDep, caller: CallerDep) -> SubmissionDetailResponse:
    """Cancel a submission; operators may cancel anyone's.

    Responds when its sandbox is destroyed; the submission and its events are kept.
    """
    submission = await _owned(service, caller, submission_id)
    is_own = submission.owner == caller.user
    await service.orchestrator.cancel(submission_id, by=None if is_own else caller.actor)
    submission, verdict = await get_with_verdict(service, caller, submission_id)
    return serialization.submission_detail(submission, verdict)


def wants_json(accept: str) -> bool:
    """Return whether an Accept header prefers JSON to the event stream; `*/*` selects the stream."""
    qualities: dict[str, float] = {}
    for part in accept.split(","):
        media_type, _, parameters = part.partition(";")
        match = re.search(r"\bq=([01](?:\.\d{0,3})?)", parameters)
        qualities[media_type.strip().lower()] = float(match[1]) if match else 1.0
    return qualities.get("application/json", 0.0) > qualities.get(MEDIA_TYPE, 0.0)


async def _page(service: ServiceContext, /, cursor: str | None, **filters: Any) -> SubmissionPage:  # noqa: ANN401 - `list_submissions` has the types
    try:
        return await service.store.list_submissions(cursor=cursor, **filters)
    except BadRequest:
        raise InvalidField("cursor", cursor, "the next_cursor of a page") from None


async def _owned(service: ServiceContext, caller: Caller, submission_id: str) -> Submission:
    """Return a submission that the caller may see, or raise `SubmissionNotFound`."""
    submission = await service.store.get_submission(submission_id) if _ID.fullmatch(submission_id) else None
    return _visible(submission, caller, submission_id)


async def get_with_verdict(
    service: ServiceContext, caller: Caller, submission_id: str
) -> tuple[Submission, StoredEvent | None]:
    """Return a submission that the caller may see, and its verdict if it has one."""
    submission, verdict = None, None
    if _ID.fullmatch(submission_id):
        submission, verdict = await service.store.get_submission_and_verdict(submission_id)
    return _visible(submission, caller, submission_id), verdict


def _visible(submission: Submission | None, caller: Caller, submission_id: str) -> Submission:
    if submission is None or not caller.may_see(submission.owner):
        raise SubmissionNotFound(submission_id)
    return submission
