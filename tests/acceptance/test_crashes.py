"""`kill -9` of the service at a random moment, with submissions of several users in flight."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import time
from collections import Counter
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from tests.support.services import EXAMPLE, Service, listeners_of
from warmfront.money.billing import CENT, Billing

if TYPE_CHECKING:
    from pathlib import Path

USERS = 5
RATE = Decimal("1.99")
PATIENCE_S = 240.0


@dataclass(kw_only=True)
class Follower:
    """A client that sends one submission, and reconnects until it has the verdict."""

    key: str  #: the API key of the user
    number: int
    submission_id: str = ""
    seen: list[dict[str, Any]] = field(default_factory=list)

    @property
    def done(self) -> bool:
        """Whether the verdict was received."""
        return bool(self.seen) and self.seen[-1]["status"] in {"CHECKED", "ERROR", "WRONG_ANSWER"}

    async def live(self, client: httpx.AsyncClient, service: Service) -> None:
        """Submit and read events, reconnecting until the verdict arrives."""
        while not self.done:
            with contextlib.suppress(httpx.HTTPError):
                if not self.submission_id:
                    await self._submit(client, service.url)
                await self._read(client, service.url)
            await asyncio.sleep(0.05)  # the service may be down

    async def _submit(self, client: httpx.AsyncClient, url: str) -> None:
        answer = await client.post(
            f"{url}/api/amd/submit",
            # Each source is different, so that none can be answered from a cache.
            json={
                "solution_code": f"// {self.number}\n{EXAMPLE}",
                "problem": "leaky-relu",
                "endpoint": "checker",
            },
            headers={**self._headers, "Accept": "application/json", "Idempotency-Key": f"n{self.number}"},
        )
        answer.raise_for_status()
        self.submission_id = answer.json()["id"]

    async def _read(self, client: httpx.AsyncClient, url: str) -> None:
        last = {"Last-Event-ID": str(self.seen[-1]["id"])} if self.seen else {}
        address = f"{url}/api/amd/submissions/{self.submission_id}/events"
        async with client.stream("GET", address, headers={**self._headers, **last}) as answer:
            answer.raise_for_status()
            async for line in answer.aiter_lines():
                if line.startswith("data:"):
                    self.seen.append(json.loads(line.removeprefix("data:")))

    @property
    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.key}"}


def keys_of(service: Service) -> list[str]:
    """Create an API key per user with the command line."""
    return [
        service.run("keys", "create", "--user", f"user{number}").stdout.strip() for number in range(USERS)
    ]


async def crash_once(service: Service, keys: list[str], *, submissions: int, seed: int) -> list[Follower]:
    """Kill the service at a random moment, restart it, and wait for the verdict of every submission."""
    chance = random.Random(seed)  # noqa: S311 - not a secret
    followers = [Follower(key=keys[number % USERS], number=number) for number in range(submissions)]
    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(timeout=PATIENCE_S, limits=limits) as client, asyncio.timeout(PATIENCE_S):
        living = asyncio.gather(*(follower.live(client, service) for follower in followers))
        # Between the first running submission and most of them being judged.
        enough = chance.randint(1, submissions)
        while sum(len(follower.seen) > 2 for follower in followers) < enough:  # noqa: ASYNC110 - the exact moment does not matter
            await asyncio.sleep(0.01)
        await asyncio.to_thread(service.kill)
        await asyncio.to_thread(service.start)
        await living
    return followers


def bill_usd(service: Service) -> Decimal:
    """Return the total of the provider's own records."""
    billing = Billing(rate_usd_per_h=RATE)
    total = Decimal(0)
    for path in service.data_dir.glob("vms/*/lease.json"):
        lease = json.loads(path.read_text())
        assert lease["ended_at"] is not None, path
        if lease["started_at"] is not None:
            total += billing.cost_usd(lease["ended_at"] - lease["started_at"])
    return total


def survive(data_dir: Path, *, submissions: int, seed: int) -> None:
    """Serve, kill, serve again, and check that everything is consistent."""
    service = Service(
        data_dir,
        AMD_VM_IDLE_TIMEOUT="1",
        WARMFRONT_REHEARSE="true",
        WARMFRONT_REHEARSE_BOOT="0.5",
        AMD_VM_MAX_CONCURRENT="2",
        AMD_MI300X_HOURLY_RATE=str(RATE),
        WARMFRONT_BUG_FINDER="false",
    )
    keys = keys_of(service)
    service.start()
    try:
        followers = asyncio.run(crash_once(service, keys, submissions=submissions, seed=seed))
        for follower in followers:
            ids = [event["id"] for event in follower.seen]
            assert ids == list(range(1, len(ids) + 1)), follower
        verdicts = Counter(follower.seen[-1]["status"] for follower in followers)
        assert verdicts == {"CHECKED": submissions}, verdicts
        assert len({follower.submission_id for follower in followers}) == submissions
        wait_until_idle(service, keys[0])
        ledger = Decimal(str(costs(service, keys[0])["total_usd"]))
        assert abs(ledger - bill_usd(service)) < CENT
        assert not listeners_of(data_dir)
    finally:
        service.stop()
        print(*service.lines[-100:], sep="\n")  # shown if the test fails
    assert not listeners_of(data_dir)


def costs(service: Service, key: str) -> Any:
    """Return the costs."""
    return httpx.get(f"{service.url}/api/amd/costs", headers={"Authorization": f"Bearer {key}"}).json()


def wait_until_idle(service: Service, key: str) -> None:
    """Wait until the end of every VM is in the ledger."""
    deadline = time.monotonic() + PATIENCE_S
    while any(vm["state"] not in {"TERMINATED", "FAILED"} for vm in costs(service, key)["by_vm"]):
        assert time.monotonic() < deadline
        time.sleep(0.1)  # the API has no event for the end of a VM


def test_a_killed_service_continues_after_a_restart(tmp_path: Path) -> None:
    """After `kill -9` and a restart there is one verdict each, no event is missing, and the bill is right."""
    survive(tmp_path, submissions=10, seed=1)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_twenty_times_fifty_submissions_of_five_users(tmp_path: Path, seed: int) -> None:
    """Twenty crashes with fifty submissions in flight each lose nothing."""
    survive(tmp_path, submissions=50, seed=100 + seed)
