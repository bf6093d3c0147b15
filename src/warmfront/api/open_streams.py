"""The open event streams: limit their number per user, and end those whose key or session has ended.

`warmfront keys revoke` writes to the database from another process, so one periodic query for all streams
finds revocations. There are no queries while no stream is open.
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
    """The user has too many open event streams."""

    def __init__(self, limit: int) -> None:
        super().__init__(
            f"Too many open event streams: at most {limit:,} per user.",
            hint="Close a stream, or poll GET /api/amd/submissions/{id}. An operator can raise "
            "WARMFRONT_STREAMS_PER_USER.",
        )


class OpenStream:
    """One open event stream, which counts against the limit until `close`."""

    def __init__(self, owner: OpenStreams, caller: Caller) -> None:
        self.caller = caller
        self.revoked = asyncio.Event()  #: set when the caller's key is no longer valid
        self._owner = owner

    def close(self) -> None:
        """Remove the stream from the count. Idempotent."""
        self._owner.forget(self)


class OpenStreams:
    """The count of open streams per user, and a check that ends streams whose key was revoked."""

    def __init__(self, service: ServiceContext) -> None:
        self._service = service
        self._open: set[OpenStream] = set()
        self._count: Counter[str] = Counter()
        self._watcher: asyncio.Task[None] | None = None

    def open(self, caller: Caller) -> OpenStream:
        """Count a new stream of this caller.

        Raises:
            TooManyStreams: the user has reached the limit.
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
                logger.exception("cannot query revoked keys; retrying in %g s", REVOCATION_CHECK_S)

    async def _end_revoked(self) -> None:
        store = self._service.store
        keys = await store.active_key_ids()
        sessions = await store.accounts.active_session_ids(self._service.clock.now())
        # The local user has neither, and exists only if no key was ever created.
        local_is_valid = not keys and not await store.has_any_key()
        for stream in list(self._open):
            caller = stream.caller
            if caller.key_id is not None:
                is_valid = caller.key_id in keys
            elif caller.session_id is not None:
                is_valid = caller.session_id in sessions
            else:
                is_valid = local_is_valid
            if not is_valid:
                stream.revoked.set()
