"""Fleet setup against a server that fails silently, and with offers that are not available."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from tests.support.dstack_fleets import FLEET
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
GOOD = FLEET
OFFER = Offer(
    backend="amddevcloud",
    region="atl1",
    instance_type="gpu-mi300x1-192gb",
    resources="cpu=20",
    price_usd_per_h=Decimal("1.99"),
    availability="available",
)


class Server:
    """A client of a fake server that accepts every fleet, and then has the fleet given here."""

    project = "main"

    def __init__(self, *, actual: DstackFleet | None, availability: str = "available") -> None:
        self.actual = actual
        self.applied = 0
        self.offers = (replace(OFFER, availability=availability),)

    async def backends(self) -> list[str]:
        """Return one backend."""
        return ["amddevcloud"]

    async def plan_fleet(self, configuration: dict[str, Any]) -> FleetPlan:
        """Return the same plan for every configuration: a fleet that does not exist yet."""
        del configuration
        return FleetPlan(
            offers=self.offers, total_offers=1, max_price_usd_per_h=None, current=None, model="plan"
        )

    async def apply_fleet(self, plan: FleetPlan) -> DstackFleet:
        """Accept the plan."""
        assert plan.model == "plan"
        self.applied += 1
        return GOOD

    async def fleet(self, name: str) -> DstackFleet | None:
        """Return the fleet that the server actually has."""
        assert name == OURS.fleet_name
        return self.actual


def create(server: Any) -> DstackFleet:
    """Propose and create the fleet, as the command does."""

    async def propose_and_create() -> DstackFleet:
        return await fleet_setup.create(server, await fleet_setup.propose(server, OURS), OURS)

    return asyncio.run(propose_and_create())


@pytest.mark.parametrize(
    ("actual", "message"),
    [
        (None, "has no fleet"),
        (replace(GOOD, status="failed", status_message="no quota"), r"is failed \(no quota\)"),
        (replace(GOOD, max_nodes=7), "nodes is 0..7, not 0..1"),
        (replace(GOOD, idle_s=None), "idle_duration is dstack's default of 3d, not 10m"),
        (replace(GOOD, min_nodes=None, max_nodes=None), "nodes is SSH hosts"),
        (replace(GOOD, max_price_usd_per_h=None), r"max_price is none, not \$1.99"),
    ],
)
def test_silent_failure_is_an_error(actual: DstackFleet | None, message: str) -> None:
    """Reading back detects a server that reports success but has no such fleet, or a different one."""
    server = Server(actual=actual)
    with pytest.raises(FleetFailed, match=message) as raised:
        create(server)
    assert server.applied == 1
    assert "server's log" in (raised.value.hint or "")


def test_matching_fleet_is_returned() -> None:
    """A fleet that matches the settings is read back."""
    assert create(Server(actual=GOOD)) == GOOD


def test_fleet_changed_between_plan_and_apply() -> None:
    """If dstack rejects an outdated plan, the hint is to run the command again."""

    class RejectingServer(Server):
        async def apply_fleet(self, plan: FleetPlan) -> DstackFleet:
            del plan
            raise DstackRefused("dstack: Failed to apply plan. Resource has been changed.")

    with pytest.raises(DstackRefused, match="has been changed") as raised:
        create(RejectingServer(actual=None))
    assert "warmfront fleet create" in (raised.value.hint or "")


def test_change_is_repeated_while_dstack_processes_the_fleet() -> None:
    """A change that dstack refuses is requested again if the fleet is still as planned."""

    class BusyServer(Server):
        refusals = 2

        async def plan_fleet(self, configuration: dict[str, Any]) -> FleetPlan:
            return replace(await super().plan_fleet(configuration), current=replace(GOOD, max_nodes=7))

        async def fleet(self, name: str) -> DstackFleet | None:
            return GOOD if self.applied else replace(await super().fleet(name) or GOOD, max_nodes=7)

        async def apply_fleet(self, plan: FleetPlan) -> DstackFleet:
            if self.refusals:
                self.refusals -= 1
                raise DstackRefused("dstack: fleet is being processed currently. Try again later.")
            return await super().apply_fleet(plan)

    server = BusyServer(actual=GOOD)
    assert create(server) == GOOD
    assert server.applied == 1


@pytest.mark.parametrize(
    ("availability", "expected"),
    [("not_available", NoCapacity), ("no_quota", NoQuota), ("no_balance", NoCredits), ("busy", NoCapacity)],
)
def test_unavailable_offers(availability: str, expected: type[WarmfrontError]) -> None:
    """`verify` fails with the reason, and a hint, if no offer is available."""
    with pytest.raises(expected) as raised:
        asyncio.run(fleet_setup.verify(Server(actual=GOOD, availability=availability), OURS))  # type: ignore[arg-type]  # implements what is called
    assert raised.value.hint


@pytest.mark.parametrize("availability", ["available", "unknown", "idle", "of_a_later_dstack"])
def test_available_offers(availability: str) -> None:
    """`verify` succeeds, even with an availability that dstack may add later."""
    server: Any = Server(actual=GOOD, availability=availability)
    assert asyncio.run(fleet_setup.verify(server, OURS))[0] == GOOD


def test_missing_backend() -> None:
    """The error names the missing backend and the existing ones."""
    server: Any = Server(actual=None)
    with pytest.raises(NoBackend, match="no backend 'hotaisle'; it has amddevcloud"):
        asyncio.run(fleet_setup.propose(server, replace(OURS, backend="hotaisle")))


def test_differences_that_dstack_cannot_change() -> None:
    """The idle duration of an existing fleet cannot be changed; its nodes can."""
    found = fleet_setup.differences(replace(GOOD, idle_s=300, max_nodes=2), OURS)
    assert {(difference.field, difference.can_change) for difference in found} == {
        ("nodes", True),
        ("idle_duration", False),
    }
    error = fleet_setup.cannot_change("f", tuple(found))
    assert isinstance(error, FleetDiffers)
    assert error.message == "Fleet f exists and cannot be updated: idle_duration is 5m, not 10m."


def test_worst_case_is_all_nodes_all_day() -> None:
    """Three nodes cost 3 x $1.99 x 24 h."""
    server: Any = Server(actual=None)
    proposal = asyncio.run(fleet_setup.propose(server, replace(OURS, fleet_max_nodes=3)))
    assert proposal.worst_case_usd_per_day == Decimal("143.28")
