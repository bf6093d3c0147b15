"""Events as Server-Sent Events, each sent as it is stored; a client that lags or leaves costs others nothing.

A stream holds one event at a time: the next is fetched when the client's connection has taken the last.
"""

from __future__ import annotations

import asyncio
import json
import logging
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from warmfront.api import views
from warmfront.errors import WarmfrontError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from starlette.types import Receive, Scope, Send

    from warmfront.store.records import StoredEvent

logger = logging.getLogger(__name__)

MEDIA_TYPE = "text/event-stream"

#: Proxies cut connections that are silent for about a minute.
KEEP_ALIVE_S = 15.0

#: A comment has no id, so that it moves no client's Last-Event-ID.
_COMMENT = b": still here\n\n"

_HEADERS = {
    "Cache-Control": "no-store, no-transform",
    "X-Accel-Buffering": "no",  # nginx, which would hold events back until its buffer is full
}


class EventStream(Response):
    """Sends a submission's events until the last one, or until the client is gone."""

    media_type = MEDIA_TYPE

    def __init__(
        self,
        events: AsyncIterator[StoredEvent],
        *,
        headers: Mapping[str, str] | None = None,
        keep_alive_s: float = KEEP_ALIVE_S,
    ) -> None:
        self.status_code = 200
        self.background = None
        self._events = events
        self._keep_alive_s = keep_alive_s
        self.init_headers({**_HEADERS, **(headers or {})})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve the stream."""
        del scope  # every ASGI application is handed it
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        gone = asyncio.ensure_future(_disconnected(receive))
        try:
            await self._pump(send, gone)
        finally:
            gone.cancel()
            close = getattr(self._events, "aclose", None)
            if close is not None:
                await close()

    async def _pump(self, send: Send, gone: asyncio.Future[None]) -> None:
        while not gone.done():
            coming = asyncio.ensure_future(anext(self._events, None))
            try:
                await self._wait(coming, send, gone)
                if gone.done():
                    return
                event = coming.result()
            except WarmfrontError as error:
                # The status is sent: the client comes back with Last-Event-ID, and is told then.
                logger.warning("a stream was cut: %s: %s", error.code, error.message)
                event = None
            finally:
                await _settle(coming)
            if event is None:
                await send({"type": "http.response.body", "body": b"", "more_body": False})
                return
            await send({"type": "http.response.body", "body": encode(event), "more_body": True})

    async def _wait(
        self, coming: asyncio.Future[StoredEvent | None], send: Send, gone: asyncio.Future[None]
    ) -> None:
        """Until there is an event or nobody to send it to; comments meanwhile."""
        either: set[asyncio.Future[Any]] = {coming, gone}
        while True:
            done, _ = await asyncio.wait(
                either, timeout=self._keep_alive_s, return_when=asyncio.FIRST_COMPLETED
            )
            if done:
                return
            await send({"type": "http.response.body", "body": _COMMENT, "more_body": True})


def encode(event: StoredEvent) -> bytes:
    """One event on the wire."""
    data = json.dumps(views.event(event), separators=(",", ":"))
    return f"id: {event.id}\nevent: {event.status}\ndata: {data}\n\n".encode()


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _settle(coming: asyncio.Future[StoredEvent | None]) -> None:
    """A log that is still being read cannot be closed: let go of it first."""
    if not coming.done():
        coming.cancel()
        await asyncio.wait({coming})
