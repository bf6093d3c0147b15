"""The routes for whoever watches the service: whether it is alive, and whether it can serve."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from fastapi import APIRouter
from fastapi.responses import JSONResponse, Response
from sqlalchemy import select

import warmfront
from warmfront.api import models
from warmfront.api.deps import ServiceDep
from warmfront.errors import WarmfrontError

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from sqlalchemy import Connection

router = APIRouter(tags=["health"])

#: A part that takes longer to answer counts as not answering.
_PATIENCE_S = 5.0


@router.get("/health")
async def health() -> models.Health:
    """The process is alive; it says nothing of its service."""
    return models.Health(version=warmfront.__version__)


@router.get(
    "/ready",
    response_model=models.Ready,
    responses={503: {"model": models.Ready, "description": "It would not be served."}},
)
async def ready(service: ServiceDep) -> Response:
    """Whether a submission would be served, and what is in the way if not."""
    answers = await asyncio.gather(
        _obstacle("the store", service.store.read(_ping)),
        _obstacle("the provider", service.provider.leases()),
    )
    reasons = [reason for reason in answers if reason]
    found = models.Ready(
        status="not ready" if reasons else "ready", provider=service.provider.name, reasons=reasons
    )
    return JSONResponse(found.model_dump(), 503 if reasons else 200)


async def _obstacle(name: str, question: Awaitable[object]) -> str:
    """Why a part does not answer; nothing if it does."""
    try:
        await asyncio.wait_for(question, _PATIENCE_S)
    except WarmfrontError as error:
        return f"{name}: {error.message}"
    except TimeoutError:
        return f"{name}: no answer within {_PATIENCE_S:.0f} s"
    return ""


def _ping(c: Connection) -> None:
    c.execute(select(1))
