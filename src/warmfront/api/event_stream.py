"""Events as Server-Sent Events, each sent as it is stored; a client that lags or leaves costs others nothing.

A stream holds one event at a time: the next is fetched when the client's connection has taken the last.
"""

from __future__ import annotations

import asyncio
import json
import logging
from typing import TYPE_CHECKING

from starlette.responses import Response

from warmfront.api import serialization
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
        line = _Line(send)
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        # The events have a task to themselves: one event is one step of it, whatever else is waited for.
        async with asyncio.TaskGroup() as group:
            pump = group.create_task(self._pump(line))
            watch = {
                group.create_task(_disconnected(receive)),
                group.create_task(_keep_awake(line, self._keep_alive_s)),
            }
            await asyncio.wait({pump, *watch}, return_when=asyncio.FIRST_COMPLETED)
            for task in (pump, *watch):
                task.cancel()

    async def _pump(self, line: _Line) -> None:
        try:
            async for event in self._events:
                await line.say(encode(event))
        except WarmfrontError as error:
            # The status is sent: the client comes back with Last-Event-ID, and is told then.
            logger.warning("a stream was cut: %s: %s", error.code, error.message)
        finally:
            close = getattr(self._events, "aclose", None)
            if close is not None:
                await close()
        await line.end()


class _Line:
    """The way to one client; it knows when something was last sent."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._turn = asyncio.Lock()  # a comment waits for the event that is being sent
        self.time = asyncio.get_running_loop().time
        self.last_at = self.time()

    async def say(self, body: bytes) -> None:
        """Send a piece, and return when the connection has taken it."""
        async with self._turn:
            await self._send({"type": "http.response.body", "body": body, "more_body": True})
            self.last_at = self.time()

    async def end(self) -> None:
        """There is nothing more."""
        async with self._turn:
            await self._send({"type": "http.response.body", "body": b"", "more_body": False})


async def _keep_awake(line: _Line, every_s: float) -> None:
    """A comment whenever nothing was sent for so long."""
    while True:
        last_at = line.last_at
        await asyncio.sleep(last_at + every_s - line.time())
        if line.last_at == last_at:
            await line.say(_COMMENT)


def encode(event: StoredEvent) -> bytes:
    """One event on the wire."""
    data = json.dumps(serialization.event(event), separators=(",", ":"))
    return f"id: {event.id}\nevent: {event.status}\ndata: {data}\n\n".encode()


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
