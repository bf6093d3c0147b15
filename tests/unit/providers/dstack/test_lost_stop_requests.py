"""Requests to stop or delete are repeated: dstack can lose or refuse one while it processes the resource."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

from tests.support.dstack_fleets import FLEET
from tests.support.dstack_owners import OWNERSHIP
from warmfront import settings
from warmfront.errors import DstackRefused
from warmfront.providers.dstack import fleet_setup
from warmfront.providers.dstack.configuration import run_name
from warmfront.providers.dstack.direct_mode import DirectListeners
from warmfront.providers.dstack.owned_runs import OwnedRuns
from warmfront.providers.dstack.pool_mode import DstackProvider
from warmfront.providers.dstack.resources import DstackFleet, DstackRun
from warmfront.vm import VMInstance, VMState

OURS = settings.load({}, env_file=None)
VM = VMInstance(id="vm_1", provider="dstack", gpu="MI300X", state=VMState.BUSY, created_at=0.0)


class ForgetfulClient:
    """A client of a fake server with one run, which ignores the first stop and ends after the second."""

    project = "main"

    def __init__(self, our_id: str) -> None:
        self.stops = 0
        self._run = DstackRun(
            id="1",
            name=run_name(our_id, OWNERSHIP.id),
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
        """Count the stop requests."""
        assert name == self._run.name
        self.stops += 1

    async def run(self, name: str) -> DstackRun:
        """Return the run."""
        assert name == self._run.name
        if self.stops < 2:
            return self._run
        return replace(self._run, status="terminated", termination_reason="stopped_by_user")

    async def runs(self, prefix: str) -> list[DstackRun]:
        """Return the active runs."""
        assert self._run.name.startswith(prefix)
        return [self._run] if self.stops < 2 else []

    async def fleet(self, name: str) -> DstackFleet | None:
        """Return None: the fleet has been deleted."""
        assert name == OURS.fleet_name
        return None

    async def delete_fleet(self, name: str) -> None:
        """Check that the run has ended."""
        assert name == OURS.fleet_name
        assert self.stops == 2

    async def assignments(self, **_: Any) -> list[Any]:
        """Return no assignments: the run has no VM."""
        return []


def test_release_repeats_a_lost_stop() -> None:
    """The provider repeats the stop until the run has ended."""
    client: Any = ForgetfulClient("vm_1")
    asyncio.run(DstackProvider(OURS, client, ownership=OWNERSHIP).release("vm_1"))
    assert client.stops == 2


def test_cancel_repeats_a_lost_stop() -> None:
    """Direct mode repeats the stop until the attempt's run has ended."""
    client: Any = ForgetfulClient("att_1")
    runs = OwnedRuns(client, OWNERSHIP, [OURS.fleet_name])
    listeners = DirectListeners(client=client, runs=runs, settings=OURS, key_of=str)
    asyncio.run(listeners.cancel(VM, "att_1"))
    assert client.stops == 2


def test_fleet_delete_repeats_a_lost_stop() -> None:
    """`warmfront fleet delete` repeats the stop until the run has ended."""
    client = ForgetfulClient("vm_1")
    asyncio.run(fleet_setup.delete(client, OURS.fleet_name, within_s=60.0))  # type: ignore[arg-type]  # implements what is called
    assert client.stops == 2


class BusyClient(ForgetfulClient):
    """A client of a fake server that refuses the first deletion of the fleet, and loses the second."""

    def __init__(self) -> None:
        super().__init__("vm_1")
        self.stops = 2  # it has no runs
        self.deletions = 0

    async def runs(self, prefix: str = "") -> list[DstackRun]:
        """Return no runs."""
        return await super().runs(prefix)

    async def fleet(self, name: str) -> DstackFleet | None:
        """Return the fleet until the third request."""
        assert name == OURS.fleet_name
        return FLEET if self.deletions < 3 else None

    async def delete_fleet(self, name: str) -> None:
        """Count the requests."""
        assert name == OURS.fleet_name
        self.deletions += 1
        if self.deletions == 1:
            raise DstackRefused("Fleets are being processed currently. Try again later.")


def test_fleet_delete_repeats_a_lost_deletion() -> None:
    """`warmfront fleet delete` repeats the deletion until the fleet no longer exists."""
    client = BusyClient()
    asyncio.run(fleet_setup.delete(client, OURS.fleet_name, within_s=60.0))  # type: ignore[arg-type]  # implements what is called
    assert client.deletions == 3
