"""The open event streams: how many each user may have, and which of them must end because a key was revoked.

`warmfront keys revoke` writes to the database from another process, so revocations are found by a query, one
for all streams, at intervals. Nothing is queried while no stream is open.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from typing import TYPE_CHECKING

from warmfront.errors import RateLimitExceeded

if TYPE_CHECKING:
    from warmfront.api.auth import Caller
    from warmfront.api.context import ServiceContext

logger = logging.getLogger(__name__)

#: Seconds between two queries for revoked keys.
REVOCATION_CHECK_S = 5.0


class TooManyStreams(RateLimitExceeded):
    """The user has as many event streams open as are allowed."""

    def __init__(self, limit: int) -> None:
        super().__init__(
            f"Too many open event streams: at most {limit:,} per user.",
            hint="Close a stream, or poll GET /api/amd/submissions/{id}. An operator can raise "
            "WARMFRONT_STREAMS_PER_USER.",
        )


class OpenStream:
    """The place of one event stream; `close` gives it back."""

    def __init__(self, owner: OpenStreams, caller: Caller) -> None:
        self.caller = caller
        self.revoked = asyncio.Event()  #: set when the caller's key is no longer valid
        self._owner = owner

    def close(self) -> None:
        """Give the place back. Idempotent."""
        self._owner.forget(self)


class OpenStreams:
    """Counts the open streams of each user, and tells streams whose key was revoked to end."""

    def __init__(self, service: ServiceContext) -> None:
        self._service = service
        self._open: set[OpenStream] = set()
        self._count: Counter[str] = Counter()
        self._watcher: asyncio.Task[None] | None = None

    def open(self, caller: Caller) -> OpenStream:
        """Take a place for a stream of this caller.

        Raises:
            TooManyStreams: the user has no place left.
        """
        limit = self._service.settings.streams_per_user
        if self._count[caller.user] >= limit:
            raise TooManyStreams(limit)
        stream = OpenStream(self, caller)
        self._open.add(stream)
        self._count[caller.user] += 1
        if self._watcher is None:
            self._watcher = asyncio.create_task(self._watch())
        return stream

    def forget(self, stream: OpenStream) -> None:
        """Remove a stream; called by `OpenStream.close`."""
        if stream not in self._open:
            return
        self._open.remove(stream)
        self._count[stream.caller.user] -= 1
        if not self._count[stream.caller.user]:
            del self._count[stream.caller.user]
        if not self._open and self._watcher is not None:
            self._watcher.cancel()
            self._watcher = None

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(REVOCATION_CHECK_S)
            try:
                await self._end_revoked()
            except Exception:  # the edge of a task: streams must not outlive their keys because of one error
                logger.exception("cannot look for revoked keys; checking again in %g s", REVOCATION_CHECK_S)

    async def _end_revoked(self) -> None:
        active = await self._service.store.active_key_ids()
        # The local user has no key, and exists only if there never was one.
        local_is_valid = not active and not await self._service.store.has_any_key()
        for stream in list(self._open):
            key_id = stream.caller.key_id
            if not (local_is_valid if key_id is None else key_id in active):
                stream.revoked.set()
