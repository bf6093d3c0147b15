"""The HTTP interface of the listener: authentication, routes and error responses.

It is stateless: attempts are in `attempt_registry`.
"""

from __future__ import annotations

import hmac
import time
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import asdict, field
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from warmfront import __version__
from warmfront.errors import Conflict, NotAuthenticated, UnknownAttempt, WarmfrontError
from warmfront.listener.protocol import ENDPOINT_HEADER, ListenerHealth
from warmfront.listener.request_parsing import MAX_BODY_BYTES, InvalidExecuteRequest, parse_execute_request
from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import ASGIApp, Receive, Scope, Send

    from warmfront.listener.attempt_registry import AttemptExecution, AttemptRegistry
    from warmfront.listener.vm_status import VMStatus

Handler = Callable[["Request"], Awaitable[Response]]


@dataclass(kw_only=True)
class ControlPlaneContact:
    """The time of the control plane's last request, by the monotonic clock."""

    started: float = field(default_factory=time.monotonic)
    last_request: float = field(default_factory=time.monotonic)  #: any request with the token
    last_heartbeat: float | None = None


@dataclass(frozen=True, kw_only=True)
class ListenerService:
    """The request handlers."""

    attempts: AttemptRegistry
    contact: ControlPlaneContact
    status: Callable[[], VMStatus]  #: describes the VM and its current health

    def app(self, token: str) -> ASGIApp:
        """Return the ASGI application, which accepts only requests with the token."""
        routes = [
            Route("/execute", self.execute, methods=["POST"]),
            Route("/execute/{attempt}/events", self.events, methods=["GET"]),
            Route("/execute/{attempt}", self.cancel, methods=["DELETE"]),
            Route("/health", self.health, methods=["GET"]),
            Route("/heartbeat", self.heartbeat, methods=["POST"]),
        ]
        handlers = {
            WarmfrontError: _error_response,
            HTTPException: _http_error_response,
            Exception: _internal_error_response,
        }
        return TokenAuthMiddleware(Starlette(routes=routes, exception_handlers=handlers), token, self.contact)  # type: ignore[arg-type]  # each handler accepts its own exception type

    async def execute(self, request: Request) -> Response:
        """Start an attempt, or re-attach to it, and stream all its lines."""
        attempt = parse_execute_request(await _read_body(request))
        return self._stream(self.attempts.start(attempt), after=0)

    async def events(self, request: Request) -> Response:
        """Re-attach to an attempt and stream the lines after number `after`."""
        execution = self.attempts.get(request.path_params["attempt"])
        after = request.query_params.get("after", "0")
        if not (after.isascii() and after.isdigit() and len(after) < 10) or int(after) > len(execution.lines):
            raise InvalidExecuteRequest(
                "after", f"expected a line number; the attempt has {len(execution.lines)} lines."
            )
        if execution.has_verdict and int(after) == len(execution.lines):
            return Response(status_code=204)
        return self._stream(execution, after=int(after))

    async def cancel(self, request: Request) -> Response:
        """Cancel an attempt; respond when its boxes are destroyed."""
        await self.attempts.cancel(self.attempts.get(request.path_params["attempt"]))
        return Response(status_code=204)

    async def heartbeat(self, _request: Request) -> Response:
        """Record a heartbeat of the control plane, which resets the watchdog."""
        self.contact.last_heartbeat = time.monotonic()
        return self._health()

    async def health(self, _request: Request) -> Response:
        """Return the listener's description and the attempts that it runs."""
        return self._health()

    def _health(self) -> Response:
        now, last_heartbeat = time.monotonic(), self.contact.last_heartbeat
        health = ListenerHealth(
            version=__version__,
            running=self.attempts.running(),
            uptime_s=now - self.contact.started,
            **vars(self.status()),
        )
        return JSONResponse(
            {**asdict(health), "heartbeat_age_s": None if last_heartbeat is None else now - last_heartbeat}
        )

    def _stream(self, execution: AttemptExecution, *, after: int) -> Response:
        return StreamingResponse(
            self.attempts.follow(execution, after),
            media_type="application/x-ndjson",
            # Which status is terminal depends on the endpoint; see ENDPOINT_HEADER.
            headers={"Cache-Control": "no-store", ENDPOINT_HEADER: execution.attempt.endpoint},
        )


def has_token(headers: Iterable[tuple[bytes, bytes]], token: str) -> bool:
    """Return whether the request headers, with names in lower case, contain the token."""
    given = dict(headers).get(b"authorization", b"")
    return hmac.compare_digest(given, f"Bearer {token}".encode())


class TokenAuthMiddleware:
    """Middleware that rejects requests without the token, and records the time of every other request."""

    def __init__(self, app: ASGIApp, token: str, contact: ControlPlaneContact) -> None:
        self._app = app
        self._token = token
        self._contact = contact

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if has_token(scope.get("headers", ()), self._token):
            self._contact.last_request = time.monotonic()
            await self._app(scope, receive, send)
            return
        response = _problem(401, NotAuthenticated("The token of the VM is missing or wrong."))
        response.headers["WWW-Authenticate"] = "Bearer"
        response.headers["Connection"] = "close"  # only clients with the token may keep a connection
        await response(scope, receive, send)


async def _read_body(request: Request) -> bytes:
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BODY_BYTES:
            raise HTTPException(413, f"The body is larger than {MAX_BODY_BYTES:,} bytes.")
    return bytes(body)


def _problem(status: int, error: WarmfrontError) -> JSONResponse:
    """Return a problem document (RFC 9457) with our stable error code."""
    content = {"type": "about:blank", "status": status, "code": error.code, "detail": error.message}
    if isinstance(error, InvalidExecuteRequest):
        content["field"] = error.field
    return JSONResponse(content, status, media_type="application/problem+json")


async def _error_response(_request: Request, error: WarmfrontError) -> Response:
    status = {InvalidExecuteRequest: 422, UnknownAttempt: 404, Conflict: 409}.get(type(error), 503)
    return _problem(status, error)


async def _http_error_response(_request: Request, error: HTTPException) -> Response:
    content = {"type": "about:blank", "status": error.status_code, "code": "HTTP", "detail": error.detail}
    return JSONResponse(
        content, error.status_code, headers=error.headers, media_type="application/problem+json"
    )


async def _internal_error_response(_request: Request, error: Exception) -> Response:
    return _problem(500, WarmfrontError(f"The listener failed: {type(error).__name__}."))
