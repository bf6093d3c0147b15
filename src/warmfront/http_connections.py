"""HTTP connections with deadlines and limits: Uvicorn for the service and the listener.

Uvicorn waits indefinitely for the rest of a request, and accepts connections until the process has no file
descriptors left. This module closes a connection that has not sent a whole request in time. Above the limits,
it closes the connection that has been idle longest for a new one, so that idle connections never block a
client that sends requests. A new connection is refused only if all others are busy.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import resource
from collections import Counter
from enum import Enum
from typing import TYPE_CHECKING

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from warmfront.value_class import dataclass

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable

log = logging.getLogger(__name__)

#: Open files that a process may need besides its connections: the database, logs, boxes and their channels.
RESERVED_FILES = 256
#: A higher limit is useless, and slows down programs that close all possible files.
_MAX_FILES = 65_536
_OUT_OF_RESOURCES = {errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM}
#: Pause before accepting again when the process has no file descriptors left.
_ACCEPT_RETRY_S = 1.0
#: Connections accepted per iteration of the event loop, and dropped together when file descriptors run out.
_BATCH = 64

_TIMED_OUT = b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
_REFUSED = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nRetry-After: 5\r\nConnection: close\r\n\r\n"
)


@dataclass(frozen=True, kw_only=True)
class ConnectionLimits:
    """The limits on the number of connections, and on the time that a request may take to arrive."""

    total: int
    per_address: int | None = None  #: per client address; None for no limit
    head_timeout_s: float = 10.0  #: for the request line and the headers
    body_timeout_s: float = 30.0  #: for the body


def raise_open_file_limit() -> int:
    """Raise the soft limit of open files as far as allowed, and return it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _MAX_FILES if hard == resource.RLIM_INFINITY else min(hard, _MAX_FILES)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        return wanted
    return _MAX_FILES if soft == resource.RLIM_INFINITY else soft


def affordable_connections(wanted: int) -> int:
    """Return how many of the wanted connections the limit of open files allows, after raising it."""
    files = raise_open_file_limit()
    total = max(16, min(wanted, files - RESERVED_FILES))
    if total < wanted:
        log.warning(
            "limiting connections to %d instead of %d: only %d files may be open", total, wanted, files
        )
    return total


class _Phase(Enum):
    """The part of a request for which a connection waits."""

    HEAD = "head"
    BODY = "body"
    RESPONSE = "response"


class ConnectionTable:
    """The open connections. Idle ones can be dropped for a new one, the oldest first."""

    def __init__(self, limits: ConnectionLimits) -> None:
        self.limits = limits
        self._waiting: dict[GuardedConnection, None] = {}
        self._per_address: Counter[str] = Counter()
        self._count = 0

    def admit(self, connection: GuardedConnection) -> bool:
        """Count a new connection; return False if the limit is reached."""
        if self._count >= self.limits.total and not self.drop_waiting(1):
            return False
        per_address, address = self.limits.per_address, connection.address
        if address and per_address is not None and self._per_address[address] >= per_address:
            same = next((other for other in self._waiting if other.address == address), None)
            if same is None:
                return False
            same.drop()
        self._count += 1
        self._per_address[address] += 1
        self._waiting[connection] = None
        return True

    def drop_waiting(self, number: int) -> int:
        """Close the connections that have been idle longest; return how many were closed."""
        oldest = list(self._waiting)[:number]
        for connection in oldest:
            connection.drop()
        return len(oldest)

    def set_waiting(self, connection: GuardedConnection) -> None:
        """Mark a connection as idle, so that it can be dropped."""
        self._waiting.setdefault(connection)

    def set_busy(self, connection: GuardedConnection) -> None:
        """Mark a connection as busy, so that it is kept."""
        self._waiting.pop(connection, None)

    def remove(self, connection: GuardedConnection) -> None:
        """Forget a connection that was admitted."""
        self._waiting.pop(connection, None)
        self._count -= 1
        self._per_address[connection.address] -= 1
        if not self._per_address[connection.address]:
            del self._per_address[connection.address]


class GuardedConnection(H11Protocol):
    """One connection: Uvicorn's protocol with deadlines for requests, counted in the table.

    Args:
        server: the server that accepted it.
        is_trusted: returns whether the headers of a request identify a client whose connection is always
            kept; None if there is no such client.
    """

    def __init__(self, server: GuardedServer, is_trusted: Callable[[Headers], bool] | None) -> None:
        super().__init__(config=server.config, server_state=server.server_state, app_state={})
        self.address = ""
        self._table = server.table
        self._is_trusted = is_trusted
        self._trusted = False
        self._admitted = False
        self._phase = _Phase.HEAD
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in Uvicorn
        """Count the connection, or refuse it."""
        super().connection_made(transport)
        self.address = self.client[0] if self.client else ""
        self._admitted = self._table.admit(self)
        if not self._admitted:
            log.warning("refusing a connection from %s: too many are open", self.address or "this machine")
            transport.write(_REFUSED)
            transport.close()
            return
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Remove the connection from the table."""
        self._cancel_deadline()
        if self._admitted:
            self._admitted = False
            self._table.remove(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse the received data, and set the deadline for the rest of the request."""
        if not self._admitted or self.transport.is_closing():
            return
        super().data_received(data)
        self._follow_request()

    def on_response_complete(self) -> None:
        """Allow the connection to be dropped until its next request."""
        super().on_response_complete()
        if self._admitted and not self._trusted:
            self._table.set_waiting(self)
        if self.conn.their_state is not h11.SEND_BODY:
            self._cancel_deadline()
            self._phase = _Phase.RESPONSE

    def drop(self) -> None:
        """Close the connection immediately, and remove it from the table."""
        if self._admitted:
            self._admitted = False
            self._table.remove(self)
        self.transport.abort()

    def _follow_request(self) -> None:
        state = self.conn.their_state
        if state is h11.IDLE:
            if self._phase is not _Phase.HEAD:  # the beginning of another request
                self._await_head()
            return
        if self._is_trusted is not None and self._phase is _Phase.HEAD:
            self._trusted = self._is_trusted(self.headers)
        if self._admitted:
            self._table.set_busy(self)
        if state is not h11.SEND_BODY:
            self._phase = _Phase.RESPONSE
            self._cancel_deadline()
        elif self._phase is not _Phase.BODY:
            self._phase = _Phase.BODY
            self._set_deadline(self._table.limits.body_timeout_s)

    def _await_head(self) -> None:
        self._phase = _Phase.HEAD
        self._set_deadline(self._table.limits.head_timeout_s)

    def _set_deadline(self, seconds: float) -> None:
        self._cancel_deadline()
        self._deadline = self.loop.call_later(seconds, self._on_deadline)

    def _cancel_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _on_deadline(self) -> None:
        if self.flow.read_paused:  # the body arrives faster than it is read, so the client is not late
            self._set_deadline(self._table.limits.body_timeout_s)
            return
        if self._phase is _Phase.HEAD and self.conn.trailing_data[0]:
            self.transport.write(_TIMED_OUT)
        self.transport.close()


#: The headers of a request, with names in lower case.
Headers = list[tuple[bytes, bytes]]


class GuardedServer(uvicorn.Server):
    """A uvicorn server with `GuardedConnection`s. Subclasses handle signals."""

    def __init__(
        self,
        config: uvicorn.Config,
        limits: ConnectionLimits,
        *,
        is_trusted: Callable[[Headers], bool] | None = None,
    ) -> None:
        super().__init__(config)
        self.table = ConnectionTable(limits)
        self._is_trusted = is_trusted

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Accept connections on the sockets, which must be listening."""
        self.servers = [
            _Acceptor(listening, lambda: GuardedConnection(self, self._is_trusted), self.table)  # type: ignore[misc]  # it has the two methods of asyncio's server that Uvicorn calls
            for listening in sockets or ()
        ]
        self.started = True


class _Acceptor:
    """The acceptor of connections on one socket.

    asyncio's own server repeats a failed `accept` once per backlog entry and logs a traceback each time. If
    no file descriptors are left, that alone makes a service unavailable.
    """

    def __init__(
        self,
        listening: socket.socket,
        make_connection: Callable[[], asyncio.Protocol],
        table: ConnectionTable,
    ) -> None:
        self._listening = listening
        self._make_connection = make_connection
        self._table = table
        self._loop = asyncio.get_running_loop()
        self._tasks: set[asyncio.Task[object]] = set()
        self._retry: asyncio.TimerHandle | None = None
        self._file = listening.fileno()
        listening.settimeout(0)
        self._resume()

    def close(self) -> None:
        """Stop accepting connections."""
        if self._retry is not None:
            self._retry.cancel()
        self._loop.remove_reader(self._file)

    async def wait_closed(self) -> None:
        """Return immediately, because Uvicorn itself waits for the connections."""

    def _resume(self) -> None:
        self._retry = None
        self._loop.add_reader(self._file, self._accept)

    def _accept(self) -> None:
        for _ in range(_BATCH):
            try:
                accepted, _address = self._listening.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:
                if error.errno not in _OUT_OF_RESOURCES:
                    raise
                self._pause(error)
                return
            accepted.settimeout(0)
            task: asyncio.Task[object] = self._loop.create_task(
                self._loop.connect_accepted_socket(self._make_connection, accepted)
            )
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def _pause(self, error: OSError) -> None:
        self._loop.remove_reader(self._file)
        dropped = self._table.drop_waiting(_BATCH)
        log.error(
            "cannot accept a connection: %s; dropped %d idle connections; retrying in %g s",
            error.strerror,
            dropped,
            _ACCEPT_RETRY_S,
        )
        self._retry = self._loop.call_later(_ACCEPT_RETRY_S, self._resume)
