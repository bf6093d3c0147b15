"""What the fleet's commands make of a server that fails in silence, and of offers that nobody can have."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from warmfront import settings
from warmfront.errors import (
    DstackRefused,
    FleetDiffers,
    FleetFailed,
    NoBackend,
    NoCapacity,
    NoCredits,
    NoQuota,
    WarmfrontError,
)
from warmfront.providers.dstack import fleet_setup
from warmfront.providers.dstack.resources import DstackFleet, FleetPlan, Offer

OURS = settings.load({}, env_file=None)
GOOD = DstackFleet(
    id="1",
    name=OURS.fleet_name,
    status="active",
    status_message=None,
    created_at=0.0,
    min_nodes=0,
    max_nodes=1,
    idle_s=600,
    spot_policy="auto",
    backends=("amddevcloud",),
    max_price_usd_per_h=Decimal("1.99"),
    gpu_names=("MI300X",),
    instances=(),
)
OFFER = Offer(
    backend="amddevcloud",
    region="atl1",
    instance_type="gpu-mi300x1-192gb",
    resources="cpu=20",
    price_usd_per_h=Decimal("1.99"),
    availability="available",
)


class Server:
    """A client of a server that does as it is told here; it keeps what was applied only if it is honest."""

    project = "main"

    def __init__(self, *, honest: DstackFleet | None, availability: str = "available") -> None:
        self.kept = honest
        self.applied = 0
        self.offers = (replace(OFFER, availability=availability),)

    async def backends(self) -> list[str]:
        """It has the one."""
        return ["amddevcloud"]

    async def plan_fleet(self, configuration: dict[str, Any]) -> FleetPlan:
        """Always the same plan, for a fleet that is not there yet."""
        del configuration
        return FleetPlan(
            offers=self.offers, total_offers=1, max_price_usd_per_h=None, current=None, model="plan"
        )

    async def apply_fleet(self, plan: FleetPlan) -> DstackFleet:
        """It says yes to everything."""
        assert plan.model == "plan"
        self.applied += 1
        return GOOD

    async def fleet(self, name: str) -> DstackFleet | None:
        """What it really has."""
        assert name == OURS.fleet_name
        return self.kept


def create(server: Any) -> DstackFleet:
    """Propose and create, as the command does."""

    async def work() -> DstackFleet:
        return await fleet_setup.create(server, await fleet_setup.propose(server, OURS), OURS)

    return asyncio.run(work())


@pytest.mark.parametrize(
    ("kept", "message"),
    [
        (None, "has no fleet"),
        (replace(GOOD, status="failed", status_message="no quota"), r"is failed \(no quota\)"),
        (replace(GOOD, max_nodes=7), "nodes is 0..7, not 0..1"),
        (replace(GOOD, idle_s=None), "idle_duration is dstack's default of 3d, not 10m"),
        (replace(GOOD, min_nodes=None, max_nodes=None), "nodes is hosts by SSH"),
        (replace(GOOD, max_price_usd_per_h=None), r"max_price is none, not \$1.99"),
    ],
)
def test_a_silent_failure_is_an_error(kept: DstackFleet | None, message: str) -> None:
    """A server that says yes and has no such fleet, or another, is found out by reading back."""
    server = Server(honest=kept)
    with pytest.raises(FleetFailed, match=message) as raised:
        create(server)
    assert server.applied == 1
    assert "server's log" in (raised.value.hint or "")


def test_a_fleet_that_is_as_asked_is_returned() -> None:
    """Reading back finds it, and nothing to say about it."""
    assert create(Server(honest=GOOD)) == GOOD


def test_someone_changed_the_fleet_between_plan_and_apply() -> None:
    """What dstack refuses then is told with what to do: plan again."""

    class Late(Server):
        async def apply_fleet(self, plan: FleetPlan) -> DstackFleet:
            del plan
            raise DstackRefused("dstack: Failed to apply plan. Resource has been changed.")

    with pytest.raises(DstackRefused, match="has been changed") as raised:
        create(Late(honest=None))
    assert "warmfront fleet create" in (raised.value.hint or "")


@pytest.mark.parametrize(
    ("availability", "expected"),
    [("not_available", NoCapacity), ("no_quota", NoQuota), ("no_balance", NoCredits), ("busy", NoCapacity)],
)
def test_offers_that_nobody_can_have(availability: str, expected: type[WarmfrontError]) -> None:
    """No capacity, no quota, no credits: `verify` fails with each, and says what to do."""
    with pytest.raises(expected) as raised:
        asyncio.run(fleet_setup.verify(Server(honest=GOOD, availability=availability), OURS))  # type: ignore[arg-type]  # as good as a client here
    assert raised.value.hint


@pytest.mark.parametrize("availability", ["available", "unknown", "idle", "of_a_later_dstack"])
def test_offers_that_can_be_had(availability: str) -> None:
    """Nothing stands in the way."""
    server: Any = Server(honest=GOOD, availability=availability)
    assert asyncio.run(fleet_setup.verify(server, OURS))[0] == GOOD


def test_a_backend_that_the_project_lacks() -> None:
    """It is named, with those that there are."""
    server: Any = Server(honest=None)
    with pytest.raises(NoBackend, match="no backend 'hotaisle'; it has amddevcloud"):
        asyncio.run(fleet_setup.propose(server, replace(OURS, backend="hotaisle")))


def test_what_dstack_does_not_change_is_told_apart() -> None:
    """The idle duration of a fleet stays; its nodes do not."""
    found = fleet_setup.differences(replace(GOOD, idle_s=300, max_nodes=2), OURS)
    assert {(difference.field, difference.can_change) for difference in found} == {
        ("nodes", True),
        ("idle_duration", False),
    }
    error = fleet_setup.cannot_change("f", tuple(found))
    assert isinstance(error, FleetDiffers)
    assert error.message == "Fleet f exists and cannot be updated: idle_duration is 5m, not 10m."


def test_the_worst_case_is_every_node_all_day() -> None:
    """3 x $1.99 x 24 h."""
    server: Any = Server(honest=None)
    proposal = asyncio.run(fleet_setup.propose(server, replace(OURS, fleet_max_nodes=3)))
    assert proposal.worst_case_usd_per_day == Decimal("143.28")
