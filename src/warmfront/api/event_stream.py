"""Server-sent events with backpressure.

A stream holds one event at a time: the next is fetched after the client's connection has accepted the last.
So a slow or disconnected client does not affect other clients.
"""

from __future__ import annotations

import asyncio
import json
import logging
from typing import TYPE_CHECKING

from starlette.responses import Response

from warmfront.api.serialization import event_object
from warmfront.errors import WarmfrontError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from starlette.types import Receive, Scope, Send

    from warmfront.api.open_streams import OpenStream
    from warmfront.store.records import StoredEvent

logger = logging.getLogger(__name__)

MEDIA_TYPE = "text/event-stream"

#: Proxies close connections that are idle for about a minute.
KEEP_ALIVE_S = 15.0

#: A comment has no id, so it does not change the client's Last-Event-ID.
_KEEP_ALIVE = b": keep-alive\n\n"

#: The last line of a stream whose key was revoked. The client reconnects, and gets 401 with the reason.
_REVOKED = b": closed: the API key is revoked\n\n"
#: How long the client of a revoked key may take to accept that line.
_REVOKED_S = 5.0

_HEADERS = {
    "Cache-Control": "no-store, no-transform",
    "X-Accel-Buffering": "no",  # nginx would otherwise hold events back until its buffer is full
}


class EventStream(Response):
    """A response that sends events until the last one, a disconnect, or the revocation of its key."""

    media_type = MEDIA_TYPE

    def __init__(
        self,
        events: AsyncIterator[StoredEvent],
        *,
        place: OpenStream,
        headers: Mapping[str, str] | None = None,
        keep_alive_s: float = KEEP_ALIVE_S,
    ) -> None:
        self.status_code = 200
        self.background = None
        self._events = events
        self._place = place
        self._keep_alive_s = keep_alive_s
        self.init_headers({**_HEADERS, **(headers or {})})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve the stream."""
        del scope  # part of the ASGI signature
        try:
            await self._serve(receive, send)
        finally:
            self._place.close()

    async def _serve(self, receive: Receive, send: Send) -> None:
        channel = _Channel(send)
        await send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        # The events have their own task, so that waiting for a disconnect never interrupts a half-sent event.
        async with asyncio.TaskGroup() as group:
            events = group.create_task(self._send_events(channel))
            watch = {
                group.create_task(_disconnected(receive)),
                group.create_task(_keep_alive(channel, self._keep_alive_s)),
                revoked := group.create_task(_wait(self._place.revoked)),
            }
            await asyncio.wait({events, *watch}, return_when=asyncio.FIRST_COMPLETED)
            is_revoked = revoked.done() and not events.done()
            for task in (events, *watch):
                task.cancel()
        if is_revoked:
            async with asyncio.timeout(_REVOKED_S):
                await channel.send(_REVOKED)
                await channel.end()

    async def _send_events(self, channel: _Channel) -> None:
        try:
            async for event in self._events:
                await channel.send(encode(event))
        except WarmfrontError as error:
            # The status was already sent. The client gets the error when it reconnects with Last-Event-ID.
            logger.warning("closing an event stream: %s: %s", error.code, error.message)
        finally:
            close = getattr(self._events, "aclose", None)
            if close is not None:
                await close()
        await channel.end()


class _Channel:
    """The connection to one client, with the time of the last write."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._lock = asyncio.Lock()  # a keep-alive comment must not split an event
        self.time = asyncio.get_running_loop().time
        self.last_sent_at = self.time()

    async def send(self, body: bytes) -> None:
        """Send bytes, and return when the connection has accepted them."""
        async with self._lock:
            await self._send({"type": "http.response.body", "body": body, "more_body": True})
            self.last_sent_at = self.time()

    async def end(self) -> None:
        """End the response."""
        async with self._lock:
            await self._send({"type": "http.response.body", "body": b"", "more_body": False})


async def _keep_alive(channel: _Channel, every_s: float) -> None:
    """Send a comment after every `every_s` seconds without data."""
    while True:
        last_sent_at = channel.last_sent_at
        await asyncio.sleep(last_sent_at + every_s - channel.time())
        if channel.last_sent_at == last_sent_at:
            await channel.send(_KEEP_ALIVE)


def encode(event: StoredEvent) -> bytes:
    """Encode an event as a server-sent event."""
    data = json.dumps(event_object(event), separators=(",", ":"))
    return f"id: {event.id}\nevent: {event.status}\ndata: {data}\n\n".encode()


async def _wait(event: asyncio.Event) -> None:
    await event.wait()


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
