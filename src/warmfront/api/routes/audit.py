"""The audit log, for operators: read it in pages, and check its hash chain."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from warmfront.api.deps import OperatorDep, ServiceDep
from warmfront.api.openapi import error_responses_for
from warmfront.wire.audit import AuditCheckResponse, AuditEntryResponse, AuditPageResponse

router = APIRouter(prefix="/audit", tags=["operators"])

_MAX_SEQ = 2**31 - 1


@router.get("", responses=error_responses_for(422))
async def list_audit(
    *,
    service: ServiceDep,
    _operator: OperatorDep,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
    before: Annotated[
        int | None, Query(ge=1, le=_MAX_SEQ, description="Only entries with a smaller number.")
    ] = None,
    actor: Annotated[str | None, Query(max_length=100)] = None,
    action: Annotated[str | None, Query(max_length=100)] = None,
    subject: Annotated[str | None, Query(max_length=100)] = None,
) -> AuditPageResponse:
    """List the actions of operators, newest first. For operators."""
    entries = await service.store.audit_page(
        before_seq=before, limit=limit + 1, actor=actor, action=action, subject=subject
    )
    shown = entries[:limit]
    return AuditPageResponse(
        items=[AuditEntryResponse.model_validate(vars(entry)) for entry in shown],
        next_before=shown[-1].seq if len(entries) > limit else None,
    )


@router.get("/check", responses=error_responses_for())
async def check_audit(service: ServiceDep, _operator: OperatorDep) -> AuditCheckResponse:
    """Check that no entry of the audit log was changed, removed or inserted. For operators."""
    check = await service.store.check_audit()
    return AuditCheckResponse(
        intact=check.broken_at is None,
        entries=check.entries,
        head_sha256=check.head_sha256,
        broken_at=check.broken_at,
        problem=check.problem,
    )
