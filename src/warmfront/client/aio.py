"""The client, written once, for asyncio. `warmfront.client.Client` is the same without `await`.

It survives a server that goes away and comes back: whatever is asked again has the effect of once.
"""

from __future__ import annotations

import asyncio
import json
import os
import uuid
from contextlib import aclosing
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import quote, urlsplit

import httpx

from warmfront.client.model import Costs, Event, Machine, Metrics, Page, Result, Submission
from warmfront.client.retry import Retry
from warmfront.client.server_errors import failure, unreachable
from warmfront.client.sse import messages
from warmfront.errors import BadSetting, Conflict, ServerUnreachable, WarmfrontError
from warmfront.verdicts import SUCCESS, Verdict

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

DEFAULT_URL = "http://127.0.0.1:3000"

#: Answers of a server, or of a proxy before it, that is on its way back.
_PASSING = {502, 503, 504}
#: The server says something every 15 s; a stream that is silent for longer was cut without a word.
_TIMEOUT = httpx.Timeout(60.0, connect=10.0)
#: These end a submission whatever its endpoint; CHECKED, say, ends only `checker`.
_ALWAYS_LAST = set(Verdict) - set(SUCCESS.values()) | {Verdict.ACCEPTED}


#: A simulation of the server's takes longer than any other answer.
_SIMULATION_S = 330.0


class AsyncClient:
    """A Warmfront service, by its address.

    `url` and `api_key` default to WARMFRONT_URL (http://127.0.0.1:3000) and WARMFRONT_API_KEY.
    """

    def __init__(
        self, url: str | None = None, api_key: str | None = None, *, retry: Retry | None = None
    ) -> None:
        self.url = _address(url or os.environ.get("WARMFRONT_URL") or DEFAULT_URL)
        self._retry = retry or Retry()
        self._has_answered = False
        self._http = httpx.AsyncClient(
            base_url=f"{self.url}/api/amd",
            headers=_headers(api_key or os.environ.get("WARMFRONT_API_KEY")),
            timeout=_TIMEOUT,
            # Every stream holds a connection: a bound would make the next request wait for a verdict.
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=20),
            # A proxy from the environment cannot reach this machine's own loopback.
            trust_env=urlsplit(self.url).hostname not in {"127.0.0.1", "localhost", "::1"},
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Let go of the connections. Submissions go on."""
        await self._http.aclose()

    async def submit(
        self,
        code: str,
        *,
        problem: str,
        gpu_type: str | None = None,
        dtype: str | None = None,
        endpoint: str = "submit",
        file_name: str | None = None,
        problem_def: str | None = None,
        idempotency_key: str | None = None,
    ) -> str:
        """Hand a kernel over; its submission's id. It is stored, and gets its verdict, when this returns."""
        request = {
            "solution_code": code,
            "problem": problem,
            "gpu_type": gpu_type,
            "dtype": dtype,
            "language": "hip",
            "endpoint": endpoint,
            "file_name": file_name,
            "problem_def": problem_def,
        }
        # With a key of its own, a submit that was cut can be sent again without a second submission.
        key = idempotency_key or str(uuid.uuid4())
        told = await self._ask(
            "POST",
            "/submit",
            json={name: value for name, value in request.items() if value is not None},
            headers={"Accept": "application/json", "Idempotency-Key": key},
        )
        return str(told["id"])

    async def events(self, submission_id: str, *, after: int = 0) -> AsyncGenerator[Event]:
        """Every event after that id, each once, as it happens; ends after the terminal one.

        A cut is mended: the stream is asked for again from the last event that came.
        """
        last = after
        waits_s = self._retry.waits_s()
        while True:
            reason: WarmfrontError | None = None
            try:
                async with aclosing(self._stream(submission_id, last)) as stream:
                    async for event in stream:
                        if event.id <= last:
                            continue
                        if event.id > last + 1:
                            break  # something is missing: ask again from where we are
                        last = event.id
                        waits_s = self._retry.waits_s()
                        yield event
                        if event.status in _ALWAYS_LAST:
                            return
                if await self._is_over(submission_id, last):
                    return
            except ServerUnreachable as error:
                reason = error
            wait_s = next(waits_s, None)
            if wait_s is None:
                raise reason or unreachable(self.url, EOFError("the event stream ends too early"))
            await asyncio.sleep(wait_s)

    async def result(self, submission_id: str) -> Result:
        """Wait for the verdict."""
        async with aclosing(self.events(submission_id)) as events:
            return Result.of(submission_id, [event async for event in events])

    async def cancel(self, submission_id: str) -> Submission:
        """Stop it, and return when nothing of it runs any more. What is cancelled already stays so."""
        try:
            await self._ask("POST", _path(submission_id, "/cancel"))
        except Conflict:
            found = await self.submission(submission_id)
            if found.verdict != Verdict.CANCELLED:
                raise
            return found
        return await self.submission(submission_id)

    async def submission(self, submission_id: str) -> Submission:
        """One submission."""
        return Submission.of(await self._ask("GET", _path(submission_id)))

    async def submissions(
        self,
        *,
        state: str | None = None,
        verdict: str | None = None,
        problem: str | None = None,
        endpoint: str | None = None,
        limit: int = 50,
        cursor: str | None = None,
        everyone: bool = False,
    ) -> Page:
        """My submissions, newest first, a page at a time; an operator may ask for everyone's."""
        filters = {
            "state": state,
            "verdict": verdict,
            "problem": problem,
            "endpoint": endpoint,
            "limit": limit,
            "cursor": cursor,
            "all": "1" if everyone else None,
        }
        chosen = {name: value for name, value in filters.items() if value is not None}
        told = await self._ask("GET", "/submissions", params=chosen)
        items = [Submission.of(item) for item in told["items"]]
        return Page(items=items, next_cursor=told.get("next_cursor"))

    async def metrics(self) -> Metrics:
        """What the service has spent and done so far."""
        return Metrics.of(await self._ask("GET", "/metrics"))

    async def vms(self) -> list[Machine]:
        """The VMs that there are, and those that were of late."""
        return [Machine.of(vm) for vm in (await self._ask("GET", "/vms"))["items"]]

    async def costs(self) -> Costs:
        """What was spent, by day and by what the VMs did meanwhile."""
        return Costs.of(await self._ask("GET", "/costs"))

    async def forecast(self, tasks_per_day: float | None = None) -> dict[str, Any]:
        """How long the credits last at the present pace and at others, as the server says; for operators."""
        asked = {} if tasks_per_day is None else {"tasks_per_day": tasks_per_day}
        told: dict[str, Any] = await self._ask("GET", "/forecast", params=asked, timeout=_SIMULATION_S)
        return told

    async def what_if(self) -> dict[str, Any]:
        """What this month would have cost with other policies, as the server has it; for operators."""
        told: dict[str, Any] = await self._ask("GET", "/what-if", timeout=_SIMULATION_S)
        return told

    async def _is_over(self, submission_id: str, last: int) -> bool:
        found = await self.submission(submission_id)
        return found.state == "DONE" and found.last_event_id <= last

    async def _stream(self, submission_id: str, after: int) -> AsyncGenerator[Event]:
        """One connection's events."""
        headers = {"Accept": "text/event-stream", "Last-Event-ID": str(after)}
        try:
            async with self._http.stream("GET", _path(submission_id, "/events"), headers=headers) as response:
                self._has_answered = True
                if response.status_code in _PASSING:
                    raise unreachable(self.url, EOFError(f"HTTP {response.status_code}"))
                if response.status_code == httpx.codes.NO_CONTENT:
                    return  # the verdict is in, and we have it
                if response.status_code != httpx.codes.OK:
                    await response.aread()
                    raise failure(response)
                async with aclosing(messages(response.aiter_bytes())) as stream:
                    async for message in stream:
                        fields = json.loads(message.data)
                        yield Event(id=int(message.id), status=fields["status"], fields=fields)
        except httpx.TransportError as error:
            self._give_up_at_once(error)
            raise unreachable(self.url, error) from error

    async def _ask(self, method: str, path: str, **request: Any) -> Any:  # noqa: ANN401 - httpx's, and JSON
        """The JSON of an answer; asked again after a cut, within bounds."""
        waits_s = self._retry.waits_s()
        while True:
            reason: WarmfrontError
            try:
                response = await self._http.request(method, path, **request)
            except httpx.TransportError as error:
                self._give_up_at_once(error)
                reason = unreachable(self.url, error)
            else:
                self._has_answered = True
                if response.is_success:
                    return response.json()
                reason = failure(response)
                if response.status_code not in _PASSING:
                    raise reason
            wait_s = next(waits_s, None)
            if wait_s is None:
                raise reason
            await asyncio.sleep(wait_s)

    def _give_up_at_once(self, error: httpx.TransportError) -> None:
        """A server that never answered is not on its way back: it was not started."""
        if isinstance(error, httpx.ConnectError | httpx.ConnectTimeout) and not self._has_answered:
            raise unreachable(self.url, error) from error


def _path(submission_id: str, rest: str = "") -> str:
    return f"/submissions/{quote(submission_id, safe='')}{rest}"


def _address(url: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise BadSetting(
            f"WARMFRONT_URL is {url!r}, which is not the address of a service.",
            hint=f"Give one such as {DEFAULT_URL}.",
        )
    return url.rstrip("/")


def _headers(api_key: str | None) -> dict[str, str]:
    if not api_key:
        return {}
    if not (api_key.isascii() and api_key.isprintable()) or " " in api_key:
        raise BadSetting(
            "WARMFRONT_API_KEY is not a key.", hint="`warmfront keys create --user NAME` prints one."
        )
    return {"Authorization": f"Bearer {api_key}"}
