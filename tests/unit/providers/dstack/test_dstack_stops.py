"""A dstack server that forgets a stop, as the real one may when it is at work on the run just then."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

from warmfront import settings
from warmfront.providers.dstack import fleet_setup
from warmfront.providers.dstack.configuration import run_name
from warmfront.providers.dstack.direct_mode import DirectListeners
from warmfront.providers.dstack.pool_mode import DstackProvider
from warmfront.providers.dstack.resources import DstackFleet, DstackRun
from warmfront.vm import VMInstance, VMState

OURS = settings.load({}, env_file=None)
VM = VMInstance(id="vm_1", provider="dstack", gpu="MI300X", state=VMState.BUSY, created_at=0.0)


class Forgetful:
    """A client of a server with one run, which goes on after the first stop and ends after the second."""

    project = "main"

    def __init__(self, our_id: str) -> None:
        self.stops = 0
        self._run = DstackRun(
            id="1",
            name=run_name(our_id),
            status="running",
            status_message="",
            termination_reason=None,
            error=None,
            fleet=OURS.fleet_name,
            submitted_at=0.0,
            cost_usd=OURS.rate_usd_per_h * 0,
            job_status="running",
        )

    async def stop(self, name: str) -> None:
        """It is asked to."""
        assert name == self._run.name
        self.stops += 1

    async def run(self, name: str) -> DstackRun:
        """As it is."""
        assert name == self._run.name
        if self.stops < 2:
            return self._run
        return replace(self._run, status="terminated", termination_reason="stopped_by_user")

    async def runs(self, prefix: str) -> list[DstackRun]:
        """Those that go on."""
        assert self._run.name.startswith(prefix)
        return [self._run] if self.stops < 2 else []

    async def fleet(self, name: str) -> DstackFleet | None:
        """It is gone when it was deleted."""
        assert name == OURS.fleet_name
        return None

    async def delete_fleet(self, name: str) -> None:
        """No run is on it any more."""
        assert name == OURS.fleet_name
        assert self.stops == 2

    async def assignments(self, **_: Any) -> list[Any]:
        """It has no VM."""
        return []

    async def detach(self, name: str) -> None:
        """There is no tunnel."""


def test_a_vm_is_released_though_a_stop_was_forgotten() -> None:
    """The provider looks, and asks again."""
    client = Forgetful("vm_1")
    asyncio.run(DstackProvider(OURS, client).release("vm_1"))  # type: ignore[arg-type]  # all that it asks
    assert client.stops == 2


def test_an_attempt_is_cancelled_though_a_stop_was_forgotten() -> None:
    """So does direct mode."""
    client = Forgetful("att_1")
    listeners = DirectListeners(client=client, settings=OURS, key_of=str)  # type: ignore[arg-type]  # as above
    asyncio.run(listeners.cancel(VM, "att_1"))
    assert client.stops == 2


def test_a_fleet_is_deleted_though_a_stop_was_forgotten() -> None:
    """So does `warmfront fleet delete`."""
    client = Forgetful("vm_1")
    asyncio.run(fleet_setup.delete(client, OURS.fleet_name, within_s=60.0))  # type: ignore[arg-type]  # as above
    assert client.stops == 2
