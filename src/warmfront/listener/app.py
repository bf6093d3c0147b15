"""The listener's HTTP side: who may ask, what may be asked, and how it is answered.

It starts nothing itself and keeps nothing: attempts are elsewhere.
"""

from __future__ import annotations

import hmac
import time
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from warmfront import __version__
from warmfront.errors import Conflict, NotAuthenticated, UnknownAttempt, WarmfrontError
from warmfront.listener.protocol import ENDPOINT_HEADER, ListenerHealth
from warmfront.listener.request_parsing import MAX_BODY_BYTES, InvalidField, parse_execute_request

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import ASGIApp, Receive, Scope, Send

    from warmfront.listener.attempt_registry import AttemptExecution, AttemptRegistry

Handler = Callable[["Request"], Awaitable[Response]]


@dataclass(kw_only=True)
class ControlPlaneContact:
    """When the control plane was last heard of, by the monotonic clock."""

    started: float = field(default_factory=time.monotonic)
    heard: float = field(default_factory=time.monotonic)  #: any request with the token
    heartbeat: float | None = None


@dataclass(frozen=True, kw_only=True)
class ListenerService:
    """What answers requests."""

    attempts: AttemptRegistry
    contact: ControlPlaneContact
    toolchain: str
    gpu: str
    simulated: bool

    def app(self, token: str) -> ASGIApp:
        """The ASGI application. Whoever does not have the token gets nothing."""
        routes = [
            Route("/execute", self.execute, methods=["POST"]),
            Route("/execute/{attempt}/events", self.events, methods=["GET"]),
            Route("/execute/{attempt}", self.cancel, methods=["DELETE"]),
            Route("/health", self.health, methods=["GET"]),
            Route("/heartbeat", self.heartbeat, methods=["POST"]),
        ]
        handlers = {WarmfrontError: _explain, HTTPException: _explain_http, Exception: _explain_bug}
        return TokenAuthMiddleware(Starlette(routes=routes, exception_handlers=handlers), token, self.contact)  # type: ignore[arg-type]  # each handler takes its own kind

    async def execute(self, request: Request) -> Response:
        """Start an attempt, or re-attach to it; every line from the first."""
        attempt = parse_execute_request(await _read_body(request))
        return self._stream(self.attempts.start(attempt), after=0)

    async def events(self, request: Request) -> Response:
        """Re-attach: the lines after `after`."""
        execution = self.attempts.get(request.path_params["attempt"])
        after = request.query_params.get("after", "0")
        if not (after.isascii() and after.isdigit() and len(after) < 10) or int(after) > len(execution.lines):
            raise InvalidField(
                "after", f"a line's number is expected; there are {len(execution.lines)} lines."
            )
        if execution.is_over and int(after) == len(execution.lines):
            return Response(status_code=204)
        return self._stream(execution, after=int(after))

    async def cancel(self, request: Request) -> Response:
        """End an attempt; answers when nothing of it is left."""
        await self.attempts.cancel(self.attempts.get(request.path_params["attempt"]))
        return Response(status_code=204)

    async def heartbeat(self, _request: Request) -> Response:
        """The control plane is still there."""
        self.contact.heartbeat = time.monotonic()
        return self._health()

    async def health(self, _request: Request) -> Response:
        """What this listener is and does."""
        return self._health()

    def _health(self) -> Response:
        now, beat = time.monotonic(), self.contact.heartbeat
        health = ListenerHealth(
            version=__version__,
            toolchain=self.toolchain,
            gpu=self.gpu,
            simulated=self.simulated,
            running=self.attempts.running(),
            uptime_s=now - self.contact.started,
        )
        return JSONResponse({**asdict(health), "heartbeat_age_s": None if beat is None else now - beat})

    def _stream(self, execution: AttemptExecution, *, after: int) -> Response:
        return StreamingResponse(
            self.attempts.follow(execution, after),
            media_type="application/x-ndjson",
            # Which status is terminal depends on the endpoint: with it, a client knows a cut from an end.
            headers={"Cache-Control": "no-store", ENDPOINT_HEADER: execution.attempt.endpoint},
        )


class TokenAuthMiddleware:
    """Lets through what has the token, and notes when that was."""

    def __init__(self, app: ASGIApp, token: str, contact: ControlPlaneContact) -> None:
        self._app = app
        self._expected = f"Bearer {token}".encode()
        self._contact = contact

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        given = dict(scope.get("headers", ())).get(b"authorization", b"")
        if hmac.compare_digest(given, self._expected):
            self._contact.heard = time.monotonic()
            await self._app(scope, receive, send)
            return
        refusal = _problem(401, NotAuthenticated("The VM's token is missing or wrong."))
        refusal.headers["WWW-Authenticate"] = "Bearer"
        await refusal(scope, receive, send)


async def _read_body(request: Request) -> bytes:
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BODY_BYTES:
            raise HTTPException(413, f"A body has at most {MAX_BODY_BYTES:,} bytes.")
    return bytes(body)


def _problem(status: int, error: WarmfrontError) -> JSONResponse:
    """An error as RFC 9457 has it, with our stable code."""
    content = {"type": "about:blank", "status": status, "code": error.code, "detail": error.message}
    if isinstance(error, InvalidField):
        content["field"] = error.field
    return JSONResponse(content, status, media_type="application/problem+json")


async def _explain(_request: Request, error: WarmfrontError) -> Response:
    status = {InvalidField: 422, UnknownAttempt: 404, Conflict: 409}.get(type(error), 503)
    return _problem(status, error)


async def _explain_http(_request: Request, error: HTTPException) -> Response:
    content = {"type": "about:blank", "status": error.status_code, "code": "HTTP", "detail": error.detail}
    return JSONResponse(
        content, error.status_code, headers=error.headers, media_type="application/problem+json"
    )


async def _explain_bug(_request: Request, error: Exception) -> Response:
    return _problem(500, WarmfrontError(f"The listener failed: {type(error).__name__}."))
