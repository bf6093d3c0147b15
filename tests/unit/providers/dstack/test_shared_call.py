"""One listing is requested for all waiting callers, after the call of each of them."""

from __future__ import annotations

import asyncio

import pytest

from warmfront.providers.dstack.shared_call import SharedCall


class Listing:
    """Counts the calls; each ends when it is allowed to."""

    def __init__(self) -> None:
        self.started = 0
        self.has_started = asyncio.Event()
        self.may_end = asyncio.Event()

    async def __call__(self) -> int:
        """Return the number of this call."""
        self.started += 1
        self.has_started.set()
        number = self.started
        await self.may_end.wait()
        if number == 3:
            raise ConnectionError("the third call fails")
        return number


def test_waiting_callers_share_a_call() -> None:
    """A caller that asks during a call gets the next one; a failure affects only its own callers."""

    async def scenario() -> None:
        listing = Listing()
        shared = SharedCall(listing)
        first = [asyncio.create_task(shared()) for _ in range(50)]
        await listing.has_started.wait()
        later = [asyncio.create_task(shared()) for _ in range(50)]
        await asyncio.sleep(0)
        first[0].cancel()
        later[0].cancel()
        listing.may_end.set()
        assert await asyncio.gather(*first[1:]) == [1] * 49
        assert await asyncio.gather(*later[1:]) == [2] * 49
        assert listing.started == 2
        with pytest.raises(ConnectionError):
            await shared()
        assert await shared() == 4

    asyncio.run(scenario())
