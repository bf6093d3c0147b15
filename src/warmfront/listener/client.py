"""The control plane's HTTP client for listeners.

It distinguishes unreachable VMs from rejected requests, and never retries, because the orchestrator decides
about retries.
"""

from __future__ import annotations

import json
import ssl
from contextlib import ExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import httpx

from warmfront.errors import BadRequest, Conflict, UnknownAttempt, VMUnreachable
from warmfront.listener.event_fields import clean_fields
from warmfront.listener.protocol import ENDPOINT_HEADER, SILENCE_S, AttemptEvent, ListenerHealth
from warmfront.listener.unix_socket import path_of, short_path
from warmfront.verdicts import Endpoint, is_terminal

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from warmfront.listener.protocol import ExecuteRequest
    from warmfront.vm import VMInstance

CONNECT_S = 5.0
#: Upper limit for the size of an event; a VM that sends more is compromised.
MAX_LINE_BYTES = 16 << 20

_LIMITS = httpx.Limits(max_connections=None, max_keepalive_connections=64)

#: For UNIX sockets, which need no TLS. Otherwise httpx would load the machine's certificates for each
#: listener.
_NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)

#: Status codes of requests that the listener rejects; the VM itself is fine.
_REJECTIONS = {404: UnknownAttempt, 409: Conflict, 413: BadRequest, 422: BadRequest}


class _UnixConnections:
    """The connections to one listener with a UNIX socket."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._stack = ExitStack()
        uds = self._stack.enter_context(short_path(path))
        self.http = _http_client(httpx.AsyncHTTPTransport(uds=uds, limits=_LIMITS, verify=_NO_TLS))

    async def close(self) -> None:
        """Close the connections."""
        await self.http.aclose()
        self._stack.close()


class HttpListenerClient:
    """A client for all listeners: one connection pool, and one more per UNIX socket."""

    def __init__(self, token_of: Callable[[str], str]) -> None:
        self._token_of = token_of
        self._http = _http_client(None)
        self._by_socket: dict[str, _UnixConnections] = {}

    async def execute(self, vm: VMInstance, attempt: ExecuteRequest) -> AsyncIterator[AttemptEvent]:
        """Start the attempt, or re-attach to it, and yield all of its events."""
        async with self._request(vm, "POST", "/execute", json=attempt.to_json()) as response:
            async for event in _attempt_events(response, after=0):
                yield event

    async def events(self, vm: VMInstance, attempt_id: str, after: int) -> AsyncIterator[AttemptEvent]:
        """Re-attach and yield the events after `after`. Raises `UnknownAttempt`."""
        path = f"/execute/{quote(attempt_id, safe='')}/events"
        async with self._request(vm, "GET", path, params={"after": after}) as response:
            async for event in _attempt_events(response, after=after):
                yield event

    async def cancel(self, vm: VMInstance, attempt_id: str) -> None:
        """Cancel the attempt; return when its boxes are destroyed.

        Unknown and finished attempts are ignored.
        """
        try:
            async with self._request(vm, "DELETE", f"/execute/{quote(attempt_id, safe='')}"):
                pass
        except UnknownAttempt:
            return

    async def health(self, vm: VMInstance) -> ListenerHealth:
        """Return the state of the listener."""
        return await self._health(vm, "GET", "/health")

    async def heartbeat(self, vm: VMInstance) -> ListenerHealth:
        """Send a heartbeat. Without heartbeats the watchdog ends the listener."""
        return await self._health(vm, "POST", "/heartbeat")

    async def close(self) -> None:
        """Close every connection."""
        await self._http.aclose()
        for connections in self._by_socket.values():
            await connections.close()
        self._by_socket.clear()

    async def _connections(self, address: str) -> tuple[httpx.AsyncClient, str]:
        """Return the connection pool for an address, and the base URL of requests."""
        path = path_of(address)
        if path is None:
            return self._http, address.rstrip("/")
        connections = self._by_socket.get(address)
        if connections is None:
            ended = [one for one, known in self._by_socket.items() if not known.path.exists()]
            connections = self._by_socket[address] = _UnixConnections(path)
            for other in ended:  # the socket of a terminated VM no longer exists
                if other in self._by_socket:
                    await self._by_socket.pop(other).close()
        return connections.http, "http://listener"

    async def _health(self, vm: VMInstance, method: str, path: str) -> ListenerHealth:
        async with self._request(vm, method, path) as response:
            body = await response.aread()
            try:
                return _parse_health(json.loads(body))
            except (ValueError, KeyError, TypeError):
                raise VMUnreachable(f"{vm.id}: the health response cannot be parsed.") from None

    @asynccontextmanager
    async def _request(
        self,
        vm: VMInstance,
        method: str,
        path: str,
        **options: Any,  # noqa: ANN401 - options of httpx
    ) -> AsyncIterator[httpx.Response]:
        """Send a request and yield the successful response; raise one of our errors otherwise."""
        if vm.address is None:
            raise VMUnreachable(f"{vm.id} has no address yet.")
        headers = {"Authorization": f"Bearer {self._token_of(vm.id)}"}
        try:
            http, root = await self._connections(vm.address)
            async with http.stream(method, f"{root}{path}", headers=headers, **options) as response:
                if not response.is_success:
                    raise _rejection(vm, response.status_code, await response.aread())
                yield response
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError, FileNotFoundError) as error:
            raise VMUnreachable(f"{vm.id} is unreachable: {type(error).__name__} {error}".strip()) from error


def _parse_health(content: dict[str, Any]) -> ListenerHealth:
    """Parse a health response. Fields with a default may be missing from listeners of earlier releases."""
    fields = {name: content[name] for name in ListenerHealth.__dataclass_fields__ if name in content}
    lists = {name: tuple(fields.get(name, ())) for name in ("running", "devices", "failed_slots")}
    return ListenerHealth(**{**fields, **lists})


def _http_client(transport: httpx.AsyncHTTPTransport | None) -> httpx.AsyncClient:
    return httpx.AsyncClient(
        timeout=httpx.Timeout(SILENCE_S, connect=CONNECT_S, pool=None),
        limits=_LIMITS,
        transport=transport,
        trust_env=False,  # ignore proxies and .netrc of this machine
    )


async def _attempt_events(response: httpx.Response, *, after: int) -> AsyncIterator[AttemptEvent]:
    """Yield the events of a stream. Raises `VMUnreachable` if it ends before the verdict."""
    if response.status_code == httpx.codes.NO_CONTENT:
        return
    try:
        endpoint = Endpoint(response.headers.get(ENDPOINT_HEADER, ""))
        async for line in _lines(response):
            fields = clean_fields(json.loads(line))
            after += 1
            if fields.pop("seq") != after:
                raise VMUnreachable("The listener's stream has a gap in its sequence numbers.")
            yield AttemptEvent(seq=after, fields=fields)
            if is_terminal(fields["status"], endpoint):
                return
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise VMUnreachable(f"The listener's stream cannot be parsed: {error!r}") from error
    raise VMUnreachable("The listener's stream ended before the verdict.")


async def _lines(response: httpx.Response) -> AsyncIterator[bytes]:
    """Yield the lines of a response without the empty keep-alive lines."""
    rest = b""
    async for chunk in response.aiter_bytes():
        *lines, rest = (rest + chunk).split(b"\n")
        if len(rest) > MAX_LINE_BYTES:
            raise VMUnreachable("The listener sent a line that exceeds the size limit.")
        for line in lines:
            if line:
                yield line


def _rejection(vm: VMInstance, status: int, body: bytes) -> Exception:
    try:
        detail = str(json.loads(body)["detail"])
    except (ValueError, KeyError, TypeError):
        detail = f"HTTP {status}"
    return _REJECTIONS.get(status, VMUnreachable)(f"{vm.id}: {detail}")
