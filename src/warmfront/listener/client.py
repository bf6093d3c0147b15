"""The control plane's side of a listener, over HTTP.

It tells what is lost from what is refused, and retries nothing: that is the orchestrator's to decide.
"""

from __future__ import annotations

import json
from contextlib import asynccontextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import httpx

from warmfront.errors import BadRequest, Conflict, UnknownAttempt, VMUnreachable
from warmfront.listener.protocol import ENDPOINT_HEADER, SILENCE_S, AttemptEvent, ListenerHealth
from warmfront.verdicts import Endpoint, is_terminal

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from warmfront.listener.protocol import ExecuteRequest
    from warmfront.vm import VMInstance

CONNECT_S = 5.0
#: No event is larger; a VM that sends more is not ours any more.
MAX_LINE_BYTES = 16 << 20

#: Refusals that are no fault of the VM's.
_REFUSALS = {404: UnknownAttempt, 409: Conflict, 413: BadRequest, 422: BadRequest}


class HttpListenerClient:
    """Speaks to every listener, over one pool of connections."""

    def __init__(self, token_of: Callable[[str], str]) -> None:
        self._token_of = token_of
        self._http = httpx.AsyncClient(
            timeout=httpx.Timeout(SILENCE_S, connect=CONNECT_S, pool=None),
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=64),
            trust_env=False,  # a proxy of the machine's, or its .netrc, has no part in this
        )

    async def execute(self, vm: VMInstance, attempt: ExecuteRequest) -> AsyncIterator[AttemptEvent]:
        """Start the attempt, or re-attach to it; all of its events from the first."""
        async with self._request(vm, "POST", "/execute", json=asdict(attempt)) as response:
            async for progress in _progress(response, after=0):
                yield progress

    async def events(self, vm: VMInstance, attempt_id: str, after: int) -> AsyncIterator[AttemptEvent]:
        """Re-attach: the events after `after`. Raises `UnknownAttempt` if the listener never had it."""
        path = f"/execute/{quote(attempt_id, safe='')}/events"
        async with self._request(vm, "GET", path, params={"after": after}) as response:
            async for progress in _progress(response, after=after):
                yield progress

    async def cancel(self, vm: VMInstance, attempt_id: str) -> None:
        """Stop it; returns when its sandbox is gone. What is unknown or finished is no error."""
        try:
            async with self._request(vm, "DELETE", f"/execute/{quote(attempt_id, safe='')}"):
                pass
        except UnknownAttempt:
            return

    async def health(self, vm: VMInstance) -> ListenerHealth:
        """Whether it is there, and what it does."""
        return await self._health(vm, "GET", "/health")

    async def heartbeat(self, vm: VMInstance) -> ListenerHealth:
        """Say that we are still here: a listener that hears nothing for a while ends itself."""
        return await self._health(vm, "POST", "/heartbeat")

    async def close(self) -> None:
        """Close every connection."""
        await self._http.aclose()

    async def _health(self, vm: VMInstance, method: str, path: str) -> ListenerHealth:
        async with self._request(vm, method, path) as response:
            body = await response.aread()
            try:
                told = json.loads(body)
                fields = {name: told[name] for name in ListenerHealth.__dataclass_fields__}
                return ListenerHealth(**{**fields, "running": tuple(fields["running"])})
            except (ValueError, KeyError, TypeError):
                raise VMUnreachable(f"{vm.id} answers with something that is no health.") from None

    @asynccontextmanager
    async def _request(
        self,
        vm: VMInstance,
        method: str,
        path: str,
        **options: Any,  # noqa: ANN401 - httpx's own
    ) -> AsyncIterator[httpx.Response]:
        """One request, answered with success; any other end is an error of ours."""
        if vm.address is None:
            raise VMUnreachable(f"{vm.id} has no address yet.")
        headers = {"Authorization": f"Bearer {self._token_of(vm.id)}"}
        url = f"{vm.address.rstrip('/')}{path}"
        try:
            async with self._http.stream(method, url, headers=headers, **options) as response:
                if not response.is_success:
                    raise _refusal(vm, response.status_code, await response.aread())
                yield response
        except (httpx.HTTPError, httpx.InvalidURL, httpx.StreamError) as error:
            raise VMUnreachable(f"{vm.id} does not answer: {type(error).__name__} {error}".strip()) from error


async def _progress(response: httpx.Response, *, after: int) -> AsyncIterator[AttemptEvent]:
    """The lines of a stream; one that ends before its verdict was cut."""
    if response.status_code == httpx.codes.NO_CONTENT:
        return
    try:
        endpoint = Endpoint(response.headers.get(ENDPOINT_HEADER, ""))
        async for line in _lines(response):
            fields = json.loads(line)
            after += 1
            if fields.pop("seq") != after:
                raise VMUnreachable("The listener's stream has a gap.")
            yield AttemptEvent(seq=after, fields=fields)
            if is_terminal(fields["status"], endpoint):
                return
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise VMUnreachable(f"The listener's stream makes no sense: {error!r}") from error
    raise VMUnreachable("The listener's stream ended before the verdict.")


async def _lines(response: httpx.Response) -> AsyncIterator[bytes]:
    """Whole lines; empty ones are signs of life."""
    rest = b""
    async for chunk in response.aiter_bytes():
        *lines, rest = (rest + chunk).split(b"\n")
        if len(rest) > MAX_LINE_BYTES:
            raise VMUnreachable("The listener sends a line without an end.")
        for line in lines:
            if line:
                yield line


def _refusal(vm: VMInstance, status: int, body: bytes) -> Exception:
    try:
        detail = str(json.loads(body)["detail"])
    except (ValueError, KeyError, TypeError):
        detail = f"HTTP {status}"
    return _REFUSALS.get(status, VMUnreachable)(f"{vm.id}: {detail}")
