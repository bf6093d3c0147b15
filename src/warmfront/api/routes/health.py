"""Health checks for monitoring: whether the process is alive, and whether it can serve submissions."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from fastapi import APIRouter
from fastapi.responses import JSONResponse, Response

import warmfront
from warmfront.api.deps import ServiceDep
from warmfront.api.error_responses import RETRY_AFTER_S, without_places
from warmfront.errors import OnStandby, WarmfrontError
from warmfront.wire.health import HealthResponse, ReadinessResponse

if TYPE_CHECKING:
    from collections.abc import Awaitable

router = APIRouter(tags=["health"])

#: A component that takes longer to respond counts as failed.
_TIMEOUT_S = 5.0


@router.get("/health")
async def health(service: ServiceDep) -> HealthResponse:
    """Report that the process is alive, and whether it is on standby, without checking its components."""
    return HealthResponse(version=warmfront.__version__, state=service.state)


@router.get(
    "/ready",
    response_model=ReadinessResponse,
    responses={503: {"model": ReadinessResponse, "description": "The service cannot run submissions."}},
)
async def ready(service: ServiceDep) -> Response:
    """Check whether the store and the provider respond, and whether the data directory can be written.

    A service on standby is not ready.
    """
    if service.state == "standby":
        readiness = ReadinessResponse(
            status="not ready", provider=service.settings.provider, reasons=[OnStandby().message]
        )
        return JSONResponse(readiness.model_dump(), 503, {"Retry-After": str(RETRY_AFTER_S)})
    failures = await asyncio.gather(
        _failure("the store", service.store.ping()),
        _failure("the provider", service.provider.leases()),
        _failure("the storage", service.check_storage()),
    )
    reasons = [failure for failure in failures if failure]
    readiness = ReadinessResponse(
        status="not ready" if reasons else "ready", provider=service.provider.name, reasons=reasons
    )
    return JSONResponse(readiness.model_dump(), 503 if reasons else 200)


async def _failure(name: str, check: Awaitable[object]) -> str:
    """Return why a component's check failed; empty if it succeeded."""
    try:
        await asyncio.wait_for(check, _TIMEOUT_S)
    except WarmfrontError as error:
        return f"{name}: {without_places(error.message)}"
    except TimeoutError:
        return f"{name}: no response within {_TIMEOUT_S:.0f} s"
    return ""
