"""The outermost layer: a line in the log for each request, a limit on bodies, an answer to our own bugs.

Plain ASGI, for thousands of streams pass through here: it holds no request and buffers nothing.
"""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException

from warmfront.api import error_responses

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

logger = logging.getLogger("warmfront.access")

#: Twice the largest source, for JSON's escapes.
MAX_BODY_BYTES = 512 * 1024


class AccessLogMiddleware:
    """Wraps the whole application."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = time.monotonic()
        answer = _Answer(send)
        try:
            await self._serve(scope, receive, answer)
        finally:
            # The path as it was sent: percent signs cannot forge a line of the log.
            path = scope.get("raw_path", b"").decode("latin-1") or scope["path"]
            took_ms = (time.monotonic() - started) * 1e3
            logger.info("%s %s %s %.1f ms", scope["method"], path, answer.status or "-", took_ms)

    async def _serve(self, scope: Scope, receive: Receive, answer: _Answer) -> None:
        if _announced_bytes(scope) > MAX_BODY_BYTES:
            await _too_large(scope, receive, answer)
            return
        try:
            await self._app(scope, _Limited(receive), answer)
        except Exception as error:  # noqa: BLE001 - the process's edge: a bug must not cut the connection
            response = error_responses.unexpected(error, f"{scope['method']} {scope['path']!r}")
            if not answer.status:
                await response(scope, receive, answer)


class _Answer:
    """Remembers the status that was sent."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.status = 0

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
        await self._send(message)


class _Limited:
    """Counts a body that comes in pieces, and stops reading where it is too large."""

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


_TOO_LARGE = f"The body has more than {MAX_BODY_BYTES:,} bytes."


def _announced_bytes(scope: Scope) -> int:
    text = Headers(scope=scope).get("content-length", "0")
    return int(text) if text.isdecimal() and len(text) < 19 else 0


async def _too_large(scope: Scope, receive: Receive, send: Send) -> None:
    # The connection is closed after it: what is still coming is not read.
    response = error_responses.problem(
        413, "BODY_TOO_LARGE", _TOO_LARGE, hint=error_responses.SMALLER, headers={"Connection": "close"}
    )
    await response(scope, receive, send)
