"""The end of a machine according to the cloud's own list."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from warmfront.errors import ProviderError
from warmfront.providers.clouds.base import CloudMachine
from warmfront.providers.dstack.cloud_presence import Absence, CloudPresence

RUN = "wf-0a1b2c3d-vm-0123456789abcdef01234567"


@pytest.mark.parametrize(
    ("last_seen_at", "missing_at", "recorded_at", "end"),
    [
        (90.0, 110.0, 100.0, (100.0, None)),  # dstack has deleted it
        (None, 110.0, 100.0, (100.0, None)),  # the list was never read while it lived
        (None, 90.0, 100.0, (90.0, None)),
        (200.0, 205.0, 100.0, (205.0, 200.0)),  # dstack gave up, and someone deleted it by hand
        (40.0, 50.0, 100.0, (50.0, 40.0)),  # it vanished before dstack noticed
        (40.0, 98.0, 100.0, (100.0, None)),  # dstack records an end seconds later
        (40.0, 50.0, None, (50.0, 40.0)),  # dstack does not know it
    ],
)
def test_the_end_of_a_machine(
    last_seen_at: float | None, missing_at: float, recorded_at: float | None, end: tuple[float, float | None]
) -> None:
    """The end is the one in dstack's record, unless the list disagrees with it."""
    assert Absence(last_seen_at=last_seen_at, missing_at=missing_at).end(recorded_at) == end


class ListedCloud:
    """A cloud with these machines, which counts how often it was asked; with None it fails."""

    backend = "amddevcloud"

    def __init__(self) -> None:
        self.asked = 0
        self.listed: list[CloudMachine] | None = []

    async def machines(self) -> list[CloudMachine]:
        """Return the machines."""
        self.asked += 1
        if self.listed is None:
            raise ProviderError("status 500")
        return self.listed


def test_when_a_machine_was_seen_and_missing() -> None:
    """The list is cached as long as the caller allows, and remembers the machines that it had."""
    cloud: Any = ListedCloud()
    now = [10.0]
    presence = CloudPresence([cloud], "main", lambda: now[0])
    machine = CloudMachine(backend="amddevcloud", id="500001", name=f"dstack-main-{RUN}-12ab34cd")

    async def read(at: float, max_age_s: float = 0.0) -> bool:
        now[0] = at
        return await presence.read(max_age_s)

    async def scenario() -> None:
        cloud.listed = [machine]
        assert await read(10.0)
        assert await read(12.0, max_age_s=5.0)
        assert cloud.asked == 1
        assert presence.find(RUN, None) == presence.find("another", "500001") == machine
        assert presence.find("another", None) is None
        assert presence.run_name(machine) == RUN
        cloud.listed = None
        assert not await read(20.0)
        now[0] = 25.0
        assert presence.unavailable_s == 5.0
        cloud.listed = []
        assert await read(30.0)
        assert await read(40.0)
        assert presence.unavailable_s == 0.0
        assert presence.find(RUN, "500001") is None
        assert presence.absence("500001") == Absence(last_seen_at=10.0, missing_at=30.0)
        assert presence.absence("500002") == Absence(last_seen_at=None, missing_at=40.0)

    asyncio.run(scenario())


def test_callers_share_a_request_and_its_failure() -> None:
    """A cloud that does not answer is asked once for all callers, and one of them need not wait for it."""
    answer: asyncio.Event
    asked = 0

    class SilentCloud:
        backend = "amddevcloud"

        async def machines(self) -> list[CloudMachine]:
            nonlocal asked
            asked += 1
            await answer.wait()
            raise ProviderError("The API of amddevcloud did not answer.")

    async def scenario() -> None:
        nonlocal answer
        answer = asyncio.Event()
        cloud: Any = SilentCloud()
        presence = CloudPresence([cloud], "main", lambda: 10.0)
        callers = [asyncio.create_task(presence.read(0.0)) for _ in range(100)]
        assert await presence.read(0.0, wait_s=0.0) is False
        answer.set()
        assert await asyncio.gather(*callers) == [False] * 100
        assert asked == 1
        assert await presence.read(0.0) is False
        assert asked == 2

    asyncio.run(scenario())
