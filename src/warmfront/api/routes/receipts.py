"""Signed receipts, and the public keys that verify them."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import Response

from warmfront.api.deps import CallerDep, ServiceDep
from warmfront.api.openapi import error_responses_for
from warmfront.api.routes.submissions import get_with_verdict
from warmfront.errors import NotFound
from warmfront.receipts.key_files import key_to_json
from warmfront.wire.signing_keys import SigningKeyListResponse, SigningKeyResponse

router = APIRouter(tags=["receipts"])


@router.get("/keys", responses=error_responses_for())
async def list_signing_keys(service: ServiceDep) -> SigningKeyListResponse:
    """List the public keys that verify receipts, including retired ones. Public."""
    keys = service.signing_keys.public_keys() if service.signing_keys else ()
    return SigningKeyListResponse(items=[SigningKeyResponse.model_validate(key_to_json(key)) for key in keys])


@router.get(
    "/submissions/{submission_id}/receipt",
    response_class=Response,
    responses={
        200: {
            "description": "The receipt, exactly as it was signed.",
            "content": {"application/json": {"schema": {"type": "object"}}},
        },
        **error_responses_for(404, 422),
    },
)
async def get_receipt(submission_id: str, service: ServiceDep, caller: CallerDep) -> Response:
    """Return the signed receipt of an ACCEPTED submission, as a file. Changing the file invalidates it."""
    submission, verdict = await get_with_verdict(service, caller, submission_id)
    signed = verdict.fields.get("signed_receipt") if verdict else None
    if not signed:
        reason = f"verdict is {submission.verdict}" if submission.verdict else "verdict is not known yet"
        raise NotFound(
            f"Submission {submission.id} has no receipt: its {reason}.",
            hint="Only ACCEPTED submissions have one, if they were judged by a release that signs receipts.",
        )
    headers = {"Content-Disposition": f'attachment; filename="{submission.id}.receipt.json"'}
    return Response(signed, media_type="application/json", headers=headers)
