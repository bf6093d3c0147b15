"""Share submissions and X-rays by link. Results of others are shown without costs and VMs."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Path, Request

from warmfront import gpus
from warmfront.api import serialization
from warmfront.api.browser_origin import BrowserOrigin
from warmfront.api.deps import CallerDep, OptionalCallerDep, ProblemsDep, ServiceDep
from warmfront.api.error_responses import quote_value
from warmfront.api.openapi import error_responses_for
from warmfront.api.routes.catalog import validate_xray
from warmfront.api.routes.submissions import get_with_verdict
from warmfront.errors import MadePrivate, NotFound
from warmfront.roles import Role
from warmfront.store.account_records import Share, SharedKind, Visibility
from warmfront.usage_limits import xray_quotas
from warmfront.wire.shares import (
    PublicShare,
    PublicShareListResponse,
    SharedResponse,
    ShareListResponse,
    ShareResponse,
    VisibilityRequest,
    XrayShareRequest,
)
from warmfront.wire.xray import XrayReportResponse

if TYPE_CHECKING:
    from warmfront.api.auth import Caller
    from warmfront.api.context import ServiceContext
    from warmfront.store.records import StoredEvent

router = APIRouter(tags=["sharing"])

#: More events than any submission has.
_MAX_EVENTS = 5000
#: Events about VMs and the queue, which are not part of a result.
_NOT_SHARED = frozenset({"IN_QUEUE", "PROVISIONING", "WAITING", "VM_READY", "VM_FAILED"})
_ShareId = Annotated[str, Path(max_length=100, examples=["shr_0123456789abcdef01234567"])]


@router.get("/submissions/{submission_id}/share", responses=error_responses_for(404, 422))
async def get_share(
    submission_id: str, service: ServiceDep, caller: CallerDep, request: Request
) -> ShareResponse:
    """Return who may open a submission, and its link."""
    submission, _ = await get_with_verdict(service, caller, submission_id)
    share = await service.store.shares.of_submission(submission.id)
    if share is None:
        return ShareResponse(
            id=None,
            kind=SharedKind.SUBMISSION,
            visibility=Visibility.PRIVATE,
            submission_id=submission.id,
            problem=submission.problem,
            link=None,
            embed_link=None,
            created_at=None,
        )
    return _share_response(share, _origin(service, request))


@router.post("/submissions/{submission_id}/share", responses=error_responses_for(404, 413, 415, 422))
async def share_submission(
    submission_id: str, body: VisibilityRequest, service: ServiceDep, caller: CallerDep, request: Request
) -> ShareResponse:
    """Change who may open a submission. Its link stays the same. For its owner."""
    caller.require(Role.AUTHOR, "Sharing a submission")
    submission, _ = await get_with_verdict(service, caller, submission_id)
    if submission.owner != caller.user:  # an operator sees it, but its owner decides
        raise NotFound(f"You have no submission {quote_value(submission_id)}.")
    now = service.clock.now()
    share = await service.store.shares.share_submission(
        Share(
            id=service.new_id("shr"),
            kind=SharedKind.SUBMISSION,
            owner=caller.user,
            visibility=body.visibility,
            submission_id=submission.id,
            problem=submission.problem,
            content={},
            created_at=now,
            changed_at=now,
        )
    )
    return _share_response(share, _origin(service, request))


@router.post("/shares/xray", status_code=201, responses=error_responses_for(413, 415, 422, 429))
async def share_xray(
    body: XrayShareRequest, service: ServiceDep, problems: ProblemsDep, caller: CallerDep, request: Request
) -> ShareResponse:
    """Make an X-ray, and store it with its source under a link."""
    caller.require(Role.AUTHOR, "Sharing an X-ray")
    source, problem, dtype = validate_xray(problems, body)
    now = service.clock.now()
    await service.store.consume_quota(caller.user, now, xray_quotas(service.settings))
    make_report = partial(service.xray, source, arch=body.arch, problem=problem, dtype=dtype)
    report = await service.orchestrator.run_xray(caller.user, make_report)
    share = await service.store.shares.create(
        Share(
            id=service.new_id("shr"),
            kind=SharedKind.XRAY,
            owner=caller.user,
            visibility=body.visibility,
            submission_id=None,
            problem=None if problem is None else problem.slug,
            content={"source": source, "arch": body.arch, "report": report.to_dict(isa=True)},
            created_at=now,
            changed_at=now,
        )
    )
    return _share_response(share, _origin(service, request))


@router.get("/shares", responses=error_responses_for())
async def list_shares(service: ServiceDep, caller: CallerDep, request: Request) -> ShareListResponse:
    """List the caller's shares, newest first, including those that were made private again."""
    origin = _origin(service, request)
    shares = await service.store.shares.of_owner(caller.user)
    return ShareListResponse(items=[_share_response(share, origin) for share in shares])


@router.post("/shares/{share_id}", responses=error_responses_for(404, 413, 415, 422))
async def change_share(
    share_id: _ShareId, body: VisibilityRequest, service: ServiceDep, caller: CallerDep, request: Request
) -> ShareResponse:
    """Change who may open a shared result. For its owner."""
    share = await service.store.shares.find(share_id)
    if share is None or share.owner != caller.user:
        raise _no_share(share_id)
    changed = await service.store.shares.set_visibility(share.id, body.visibility, service.clock.now())
    return _share_response(changed or share, _origin(service, request))


@router.get("/shared", responses=error_responses_for())
async def list_public(service: ServiceDep) -> PublicShareListResponse:
    """List public submissions and X-rays, newest first. Open to everyone."""
    return PublicShareListResponse(
        items=[
            PublicShare(
                id=share.id,
                kind=share.kind,
                user=share.owner,
                problem=share.problem,
                created_at=share.created_at,
            )
            for share in await service.store.shares.public()
        ]
    )


@router.get("/shared/{share_id}", responses=error_responses_for(404, 422))
async def get_shared(share_id: _ShareId, service: ServiceDep, caller: OptionalCallerDep) -> SharedResponse:
    """Return a shared submission or X-ray. Open to everyone who has the link, unless it is private."""
    share = await visible_share(service, caller, share_id)
    own = caller is not None and caller.user == share.owner
    if share.submission_id is None:
        return _shared_xray(share, own=own)
    return await _shared_submission(service, share, share.submission_id, own=own)


async def visible_share(service: ServiceContext, caller: Caller | None, share_id: str) -> Share:
    """Return a share that the caller may open.

    Raises:
        NotFound: there is no such share.
        MadePrivate: its owner has made it private.
    """
    share = await service.store.shares.find(share_id)
    if share is None:
        raise _no_share(share_id)
    if share.visibility is Visibility.PRIVATE and not (caller and caller.may_see(share.owner)):
        noun = "X-ray" if share.kind is SharedKind.XRAY else "submission"
        raise MadePrivate(
            f"The owner of this {noun} has made it private.", hint="Ask the person who sent you the link."
        )
    return share


async def _shared_submission(
    service: ServiceContext, share: Share, submission_id: str, *, own: bool
) -> SharedResponse:
    submission, verdict = await service.store.get_submission_and_verdict(submission_id)
    if submission is None:
        raise _no_share(share.id)
    source = (await service.store.get_source(submission_id)).code
    events, _ = await service.store.read_events(submission_id, 0, _MAX_EVENTS) or ([], None)
    detail = serialization.submission_detail(submission, verdict)
    return SharedResponse(
        id=share.id,
        kind=share.kind,
        visibility=share.visibility,
        user=share.owner,
        own=own,
        problem=submission.problem,
        created_at=share.created_at,
        source=source,
        file_name=submission.file_name,
        submission=detail.model_copy(
            update={
                "cost_usd": None,
                "vm_id": None,
                "result": None if verdict is None else _without_costs(verdict),
            }
        ),
        events=[_without_costs(event) for event in events if event.status not in _NOT_SHARED],
        xray=None,
        arch=None,
        gpu=None if (gpu := gpus.by_name(submission.gpu)) is None else serialization.gpu_roofs(gpu),
    )


def _shared_xray(share: Share, *, own: bool) -> SharedResponse:
    return SharedResponse(
        id=share.id,
        kind=share.kind,
        visibility=share.visibility,
        user=share.owner,
        own=own,
        problem=share.problem,
        created_at=share.created_at,
        source=share.content["source"],
        file_name="solution.hip",
        submission=None,
        events=[],
        xray=XrayReportResponse.model_validate(share.content["report"]),
        arch=share.content["arch"],
        gpu=None,
    )


def _without_costs(event: StoredEvent) -> dict[str, Any]:
    fields = serialization.event_object(event)
    return {name: value for name, value in fields.items() if name not in {"cost_usd", "vm_id", "quote"}}


def _share_response(share: Share, origin: BrowserOrigin) -> ShareResponse:
    return ShareResponse(
        id=share.id,
        kind=share.kind,
        visibility=share.visibility,
        submission_id=share.submission_id,
        problem=share.problem,
        link=f"{origin.url}/s/{share.id}",
        embed_link=f"{origin.url}/embed/{share.id}",
        created_at=share.created_at,
    )


def _origin(service: ServiceContext, request: Request) -> BrowserOrigin:
    return BrowserOrigin.for_links(service.settings, request.headers)


def _no_share(share_id: str) -> NotFound:
    return NotFound(
        f"There is no shared result {quote_value(share_id)}.", hint="Check that the link is complete."
    )
