"""ASGI middleware around the whole application: access log, version check, body limit.

It is plain ASGI rather than Starlette's `BaseHTTPMiddleware`, because thousands of event streams pass through
it: nothing is buffered and no request needs an additional task.
"""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException

from warmfront.api import error_responses
from warmfront.api.error_responses import quote_value
from warmfront.wire.version import SCHEMA_VERSION, SUPPORTED_VERSIONS, VERSION_HEADER

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

access_log = logging.getLogger("warmfront.access")

#: Twice the largest source, because JSON escapes can double its size.
MAX_BODY_BYTES = 512 * 1024

_VERSION = (VERSION_HEADER.lower().encode(), str(SCHEMA_VERSION).encode())
#: A browser must not run JSON or an event stream as a script.
_NO_SNIFF = (b"x-content-type-options", b"nosniff")
_SUPPORTED = frozenset(str(version) for version in SUPPORTED_VERSIONS)


class AccessLogMiddleware:
    """The outermost middleware, which logs every request and turns unhandled exceptions into 500 responses.

    It also adds the version header and `X-Content-Type-Options`, so that every response has both.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request and log it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = time.monotonic()
        response = _ResponseRecorder(send)
        try:
            await self._app(scope, receive, response)
        except Exception as error:  # noqa: BLE001 - the edge of the process: a bug must not cut the connection
            internal = error_responses.internal_error(error, f"{scope['method']} {scope['path']!r}")
            if not response.status:
                await internal(scope, receive, response)
        finally:
            # The undecoded path: a percent-encoded line break must not forge a line of the log.
            path = scope.get("raw_path", b"").decode("latin-1") or scope["path"]
            elapsed_ms = (time.monotonic() - started) * 1e3
            access_log.info("%s %s %s %.1f ms", scope["method"], path, response.status or "-", elapsed_ms)


class _ResponseRecorder:
    """A `send` function that adds the common headers to a response and records its status."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.status = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = [*message.get("headers", ()), _VERSION]
            if not any(name.lower() == _NO_SNIFF[0] for name, _ in headers):  # the page sets its own
                headers.append(_NO_SNIFF)
            message = {**message, "headers": headers}
        await self._send(message)


class VersionMiddleware:
    """Middleware that rejects requests for unsupported versions of the wire schema."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] == "http":
            version = Headers(scope=scope).get(VERSION_HEADER)
            if version is not None and version.strip() not in _SUPPORTED:
                await _unsupported_version(version)(scope, receive, send)
                return
        await self._app(scope, receive, send)


def _unsupported_version(version: str) -> ASGIApp:
    return error_responses.problem_response(
        400,
        "UNSUPPORTED_VERSION",
        f"{VERSION_HEADER} is {quote_value(version)}; supported: {', '.join(sorted(_SUPPORTED))}.",
        hint=f"Send a supported version, or omit {VERSION_HEADER} to use the latest.",
        field=VERSION_HEADER,
    )


class BodyLimitMiddleware:
    """Middleware that rejects request bodies larger than `MAX_BODY_BYTES`, without reading the rest."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] == "http":
            if _content_length(scope) > MAX_BODY_BYTES:
                await _body_too_large()(scope, receive, send)
                return
            receive = _LimitedReceive(receive)
        await self._app(scope, receive, send)


class _LimitedReceive:
    """A `receive` function that counts the bytes of a chunked body and raises 413 above the limit."""

    def __init__(self, receive: Receive) -> None:
        self._receive = receive
        self._bytes = 0

    async def __call__(self) -> Message:
        message = await self._receive()
        if message["type"] == "http.request":
            self._bytes += len(message.get("body", b""))
            if self._bytes > MAX_BODY_BYTES:
                raise HTTPException(413, _TOO_LARGE)
        return message


_TOO_LARGE = f"The request body is larger than {MAX_BODY_BYTES:,} bytes."


def _content_length(scope: Scope) -> int:
    text = Headers(scope=scope).get("content-length", "0")
    return int(text) if text.isdecimal() and len(text) < 19 else 0


def _body_too_large() -> ASGIApp:
    # The connection is closed, because the rest of the body is not read.
    return error_responses.problem_response(
        413,
        "BODY_TOO_LARGE",
        _TOO_LARGE,
        hint=error_responses.BODY_TOO_LARGE_HINT,
        headers={"Connection": "close"},
    )
