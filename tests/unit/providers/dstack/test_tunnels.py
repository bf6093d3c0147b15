"""Tunnels to many VMs: opened at the same time up to a bound, and none waits for one that hangs."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warmfront.errors import DstackFailed
from warmfront.providers.dstack import tunnels
from warmfront.providers.dstack.resources import DstackRun
from warmfront.providers.dstack.tunnels import ListenerTunnels

if TYPE_CHECKING:
    import pytest

_BOUND = tunnels._MAX_OPENING


def run_named(name: str) -> DstackRun:
    """Return a run with this name."""
    return DstackRun(
        id=name,
        name=name,
        status="running",
        status_message="",
        termination_reason=None,
        error=None,
        fleet="fleet",
        submitted_at=0.0,
        cost_usd=Decimal(0),
    )


class OpenTunnel:
    """A tunnel that is open until it is closed."""

    def __init__(self, name: str) -> None:
        self.address = f"unix:/{name}"
        self.is_open = True

    def close(self) -> None:
        """Close it."""
        self.is_open = False


def test_many_tunnels_are_opened_at_the_same_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hung and failing connections do not delay others; the number opened at a time is bounded."""
    opening = most = 0
    released: asyncio.Event

    async def open_tunnel(_: Any, run: DstackRun, **__: Any) -> Any:
        nonlocal opening, most
        opening += 1
        most = max(most, opening)
        try:
            if run.name.startswith("hangs"):
                await released.wait()
            await asyncio.sleep(0)
            if run.name.startswith("fails"):
                raise DstackFailed("Cannot open an SSH connection.")
            return OpenTunnel(run.name)
        finally:
            opening -= 1

    monkeypatch.setattr(tunnels, "open_tunnel", open_tunnel)
    monkeypatch.setattr(tunnels, "_OPEN_TIMEOUT_S", 0.0)
    names = [f"{kind}-{number}" for number in range(5) for kind in ("hangs", "fails")]
    names += [f"works-{number}" for number in range(100)]

    async def scenario() -> None:
        nonlocal released
        released = asyncio.Event()
        client: Any = None
        owner = ListenerTunnels(client, Path("unused"))
        await asyncio.gather(*(owner.open(run_named(name)) for name in names))
        while any(not name.startswith("hangs") for name in owner._opening):  # noqa: ASYNC110 - no event
            await asyncio.sleep(0)
        known = {name for name in names if owner.known_address(name)}
        assert known == {name for name in names if name.startswith("works")}
        assert most == _BOUND
        await owner.close("hangs-0")  # cancels it
        released.set()
        await asyncio.gather(*(owner.open(run_named(f"hangs-{number}")) for number in range(5)))
        while owner._opening:  # noqa: ASYNC110 - there is no event
            await asyncio.sleep(0)
        assert all(owner.known_address(f"hangs-{number}") for number in range(5))
        await owner.close_all()
        assert not any(map(owner.known_address, names))
        assert not owner._opening

    asyncio.run(scenario())
