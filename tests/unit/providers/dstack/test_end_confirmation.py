"""The end of a VM that vanished, such as a spot VM that the cloud preempted."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from typing import Any

import pytest

from warmfront import settings
from warmfront.errors import ProviderError
from warmfront.providers.base import Lease, Phase
from warmfront.providers.clouds.base import CloudMachine, Lifetime
from warmfront.providers.dstack.cloud_presence import CloudPresence
from warmfront.providers.dstack.end_confirmation import EndConfirmation
from warmfront.providers.dstack.pool_mode import RunSnapshot
from warmfront.providers.dstack.resources import DstackInstance, DstackRun
from warmfront.providers.dstack.run_outcome import RunOutcome
from warmfront.providers.dstack.tenancy import Tenancy

RUN = DstackRun(
    id="1",
    name="wf-0a1b2c3d-vm-0123456789abcdef01234567",
    status="running",
    status_message="",
    termination_reason=None,
    error=None,
    fleet="fleet",
    submitted_at=990.0,
    cost_usd=Decimal(0),
    instance_id="500001",
    backend="amddevcloud",
)
INSTANCE = DstackInstance(
    id="2",
    name="fleet-0",
    num=0,
    fleet="fleet",
    status="busy",
    is_unreachable=False,
    hostname=None,
    backend="amddevcloud",
    region=None,
    price_usd_per_h=Decimal("1.99"),
    created_at=1000.0,
    finished_at=None,
    termination_reason=None,
    termination_message=None,
)
RUNNING = RunSnapshot(
    run=RUN,
    outcome=RunOutcome.RUNNING,
    tenancy=Tenancy(instance=INSTANCE, started_at=1000.0, ended_at=None),
)
READY = Lease(vm_id="vm_1", phase=Phase.READY, started_at=1000.0, address="unix:/socket")
#: dstack's record after a request to end the VM that had vanished.
ENDED = Lease(vm_id="vm_1", phase=Phase.ENDED, started_at=1000.0, ended_at=1140.0, end_confirmed=False)
MACHINE = CloudMachine(backend="amddevcloud", id="500001", name=f"dstack-main-{RUN.name}-12ab34cd")


class Cloud:
    """A cloud with one machine, which has a record of its lifetime or refuses access to it."""

    backend = "amddevcloud"

    def __init__(self, lifetime: Lifetime | None = None) -> None:
        self.machine: CloudMachine | None = MACHINE
        self._lifetime = lifetime

    async def machines(self) -> list[CloudMachine]:
        """Return the machine while it exists."""
        return [self.machine] if self.machine else []

    async def lifetime(self, machine_id: str) -> Lifetime | None:
        """Return the record."""
        if self._lifetime is None or machine_id != MACHINE.id:
            raise ProviderError("status 403")
        return self._lifetime


def confirmed_end(cloud: Cloud) -> tuple[float | None, float | None]:
    """Have the machine vanish after 1100 s, find it missing at 1104 s, and end the VM at 1140 s."""
    clouds: Any = [cloud]
    now = [1090.0]
    ends = EndConfirmation(CloudPresence(clouds, "main", lambda: now[0]), settings.load({}, env_file=None))

    async def scenario() -> Lease | None:
        assert await ends.vanished(RUNNING, READY) is None
        cloud.machine = None
        now[0] = 1104.0
        vanished = await ends.vanished(RUNNING, READY)
        assert vanished is not None
        assert (vanished.phase, vanished.ended_at, vanished.ended_after) == (Phase.ENDED, 1104.0, 1090.0)
        now[0] = 1140.0
        return await ends.confirm(ENDED, RUNNING, RUN.name)

    lease = asyncio.run(scenario())
    assert lease is not None
    assert lease.end_confirmed
    return lease.ended_at, lease.ended_after


def test_the_end_of_a_vm_that_vanished_is_when_the_list_lost_it() -> None:
    """Dstack's record says when the VM was released; the list and the last heartbeat say when it ended."""
    assert confirmed_end(Cloud()) == (1104.0, 1090.0)


@pytest.mark.parametrize("skew_s", [0.0, 3600.0])
def test_the_clouds_own_record_is_exact(skew_s: float) -> None:
    """The lifetime of the machine is the cloud's own figure, whatever its clock shows."""
    lifetime = Lifetime(created_at=1001.0 + skew_s, ended_at=1101.0 + skew_s)
    assert confirmed_end(Cloud(lifetime)) == (1100.0, None)


def test_what_is_not_taken_for_an_end() -> None:
    """A VM that is booting may not be in the list yet, and a VM of another cloud is in no list."""
    cloud: Any = Cloud()
    cloud.machine = None
    presence = CloudPresence([cloud], "main", lambda: 1100.0)
    ends = EndConfirmation(presence, settings.load({}, env_file=None))
    booting = RunSnapshot(run=RUN, outcome=RunOutcome.BOOTING, tenancy=None)
    assert asyncio.run(ends.vanished(booting, READY)) is None
    unlisted = EndConfirmation(CloudPresence([], "main", lambda: 1100.0), settings.load({}, env_file=None))
    assert asyncio.run(unlisted.vanished(RUNNING, READY)) is None
    assert asyncio.run(unlisted.confirm(ENDED, RUNNING, RUN.name)) == ENDED
