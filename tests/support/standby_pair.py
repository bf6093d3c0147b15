"""An active service and a standby on one PostgreSQL database, and clients that live through a takeover."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import httpx

from tests.support.services import EXAMPLE, PROMPT_S, Service, listeners_of
from warmfront.client import AsyncClient, Retry

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from warmfront.client.result import ReceivedEvent

#: The line of the log with which a takeover ends.
TOOK_OVER = "this service is active"


@dataclass(kw_only=True)
class Pair:
    """The two services; after `kill_active`, the standby is the active one."""

    active: Service
    standby: Service

    @property
    def urls(self) -> str:
        """Both addresses, for clients."""
        return f"{self.active.url},{self.standby.url}"

    def state_of(self, service: Service) -> str:
        """Return the health report of a service."""
        return str(httpx.get(f"{service.url}/health", timeout=PROMPT_S).json()["state"])

    def wait_for_takeover(self) -> None:
        """Wait until the standby says that it is active."""
        deadline = time.monotonic() + PROMPT_S
        while self.state_of(self.standby) != "active":
            assert time.monotonic() < deadline, self.standby.lines
            time.sleep(0.01)  # the API has no event for a takeover


@contextlib.contextmanager
def standby_pair(data_dir: Path, database_url: str, **environment: str) -> Iterator[Pair]:
    """Run an active service and its standby, and check afterwards that no VM is left."""
    common = {"WARMFRONT_DATABASE_URL": database_url, "WARMFRONT_STANDBY": "true", **environment}
    pair = Pair(active=Service(data_dir, **common), standby=Service(data_dir, **common))
    try:
        pair.active.start()
        pair.standby.start()
        yield pair
    finally:
        pair.standby.stop()  # first: an orderly stop of the active one would begin another takeover
        pair.active.stop()
        left = listeners_of(data_dir)
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        assert not left


@dataclass(kw_only=True)
class Takeover:
    """The observations of clients around `kill -9` of the active service."""

    events: dict[str, list[ReceivedEvent]] = field(default_factory=dict)  #: by submission
    in_flight: int = 0  #: submissions without a verdict when the service was killed
    accepting_s: float = 0.0  #: from the kill until the standby says that it is active
    streaming_s: float = 0.0  #: from the kill until the first event after it


def kill_with_submissions(pair: Pair, count: int) -> Takeover:
    """Submit, kill the active service with `kill -9` once all are stored, and wait for all verdicts."""
    return asyncio.run(_kill_with_submissions(pair, count))


async def _kill_with_submissions(pair: Pair, count: int) -> Takeover:
    takeover = Takeover()
    async with AsyncClient(pair.urls, retry=Retry(attempts=1000, most_s=0.2)) as client:
        ids = await asyncio.gather(*(_submit(client, number) for number in range(count)))
        killed = threading.Event()
        resumed = asyncio.Event()

        async def follow(submission_id: str) -> None:
            seen = takeover.events.setdefault(submission_id, [])
            async for event in client.events(submission_id):
                if killed.is_set():
                    resumed.set()
                seen.append(event)

        following = [asyncio.create_task(follow(submission_id)) for submission_id in ids]
        while not any(len(seen) > 2 for seen in takeover.events.values()):  # noqa: ASYNC110 - one is running
            await asyncio.sleep(0.01)
        takeover.in_flight = sum(not task.done() for task in following)
        await asyncio.to_thread(pair.active.kill)
        killed.set()
        started_at = time.monotonic()
        await asyncio.to_thread(pair.wait_for_takeover)
        takeover.accepting_s = time.monotonic() - started_at
        await resumed.wait()
        takeover.streaming_s = time.monotonic() - started_at
        await asyncio.gather(*following)
    return takeover


async def _submit(client: AsyncClient, number: int) -> str:
    # Each source is different, so that none can be answered from a cache.
    return await client.submit(f"// {number}\n{EXAMPLE}", problem="leaky-relu", endpoint="checker")
