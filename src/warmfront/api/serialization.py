"""Convert domain objects into responses. This module makes no queries."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal
from typing import TYPE_CHECKING, Any, Literal

from warmfront.events import SCHEMA_VERSION
from warmfront.money.billing import CENT
from warmfront.problems.spec import Dtype
from warmfront.submission import SubmissionState
from warmfront.verdicts import Endpoint, Verdict
from warmfront.wire.accounts import ApiKeyCreatedResponse, ApiKeyListResponse, ApiKeyResponse
from warmfront.wire.base import isoformat
from warmfront.wire.catalog import GpuRoofs
from warmfront.wire.submission_detail import SubmissionDetailResponse
from warmfront.wire.submissions import (
    SubmissionCreatedResponse,
    SubmissionResponse,
    SubmissionUrls,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from warmfront.gpus import Gpu
    from warmfront.store.records import ApiKey, StoredEvent
    from warmfront.submission import Submission

#: The prefix of every route of the API.
ROOT = "/api/amd"

_TENTH = Decimal("0.1")


def round_to_cents(amount_usd: Decimal) -> Decimal:
    """Round an amount to cents."""
    return amount_usd.quantize(CENT, ROUND_HALF_UP)


def exact_dollars(amount_usd: float | None) -> Decimal | None:
    """Return the amount of a request as a decimal, to the millionth of a dollar."""
    return None if amount_usd is None else Decimal(str(round(amount_usd, 6)))


def percent(part: Decimal, whole: Decimal) -> float:
    """Return `part` as a percentage of `whole`, to a tenth; 100 if only `whole` is zero."""
    if whole <= 0:
        return 100.0 if part > 0 else 0.0
    return float((100 * part / whole).quantize(_TENTH, ROUND_HALF_UP))


def submission_urls(submission_id: str) -> SubmissionUrls:
    """Return the paths of a submission's resources."""
    base = f"{ROOT}/submissions/{submission_id}"
    return SubmissionUrls(self=base, events=f"{base}/events", code=f"{base}/code", cancel=f"{base}/cancel")


def submission_created(submission: Submission) -> SubmissionCreatedResponse:
    """Return the short response to a submit request."""
    is_waiting = submission.state in {SubmissionState.ADMITTING, SubmissionState.QUEUED}
    progress: Literal["IN_QUEUE", "RUNNING"] = "IN_QUEUE" if is_waiting else "RUNNING"
    return SubmissionCreatedResponse(
        id=submission.id,
        status=progress if submission.verdict is None else Verdict(submission.verdict),
        urls=submission_urls(submission.id),
    )


def submission_response(submission: Submission) -> SubmissionResponse:
    """Return a submission in the form used in lists."""
    return SubmissionResponse(**_submission_fields(submission))


def gpu_roofs(gpu: Gpu) -> GpuRoofs:
    """Return the roofs of a GPU type."""
    return GpuRoofs(
        name=gpu.name,
        bandwidth_bytes_per_s=gpu.bandwidth_bytes_per_s,
        infinity_cache_bandwidth_bytes_per_s=gpu.infinity_cache_bandwidth_bytes_per_s,
        lds_bandwidth_bytes_per_s=gpu.lds_bandwidth_bytes_per_s,
        peak_flops={dtype: gpu.peak_flops_for(dtype) for dtype in Dtype},
        matrix_peak_flops=dict(gpu.matrix_peak_flops),
    )


def submission_detail(submission: Submission, verdict: StoredEvent | None) -> SubmissionDetailResponse:
    """Return a submission with its terminal event."""
    return SubmissionDetailResponse(
        **_submission_fields(submission), result=None if verdict is None else event_object(verdict)
    )


def event_object(event: StoredEvent) -> dict[str, Any]:
    """Return a stored event in its wire form: id, time, schema version, `status`, then its own fields."""
    return {"id": event.id, "time": isoformat(event.time), "schema": SCHEMA_VERSION, **event.fields}


def _submission_fields(submission: Submission) -> dict[str, Any]:
    return {
        "id": submission.id,
        "owner": submission.owner,
        "problem": submission.problem,
        "gpu_type": submission.gpu,
        "dtype": Dtype(submission.dtype),
        "language": submission.language,
        "endpoint": Endpoint(submission.endpoint),
        "file_name": submission.file_name,
        "code_sha256": submission.code_sha256,
        "state": submission.state,
        "verdict": None if submission.verdict is None else Verdict(submission.verdict),
        "created_at": submission.created_at,
        "finished_at": submission.finished_at,
        "vm_id": submission.vm_id,
        "attempts": submission.attempts,
        "cancel_requested": submission.cancel_requested,
        "simulated": submission.simulated,
        "cost_usd": submission.cost_usd,
        "avg_runtime_ms": submission.avg_runtime_ms,
        "avg_ci": submission.avg_ci,
        "noisy": submission.noisy,
        "avg_gflops": submission.avg_gflops,
        "last_event_id": submission.last_event_id,
        "urls": submission_urls(submission.id),
    }


def key_list_response(keys: Iterable[ApiKey]) -> ApiKeyListResponse:
    """Return keys without their secrets."""
    return ApiKeyListResponse(items=[_key_response(key) for key in keys])


def created_key_response(key: ApiKey, secret: str) -> ApiKeyCreatedResponse:
    """Return a new key with its secret, which no later response contains."""
    return ApiKeyCreatedResponse(**dict(_key_response(key)), secret=secret)


def _key_response(key: ApiKey) -> ApiKeyResponse:
    return ApiKeyResponse(
        id=key.id,
        user=key.user,
        role=key.role,
        team=key.team,
        created_at=key.created_at,
        revoked_at=key.revoked_at,
    )
