"""The fleet that our VMs belong to: planned, made, read back, compared with what was asked, deleted.

What is said to a person is elsewhere; each failure here ends with the step that helps.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from warmfront.errors import (
    DstackRefused,
    FleetDiffers,
    FleetFailed,
    FleetNotFound,
    NoBackend,
    NoCapacity,
    NoCredits,
    NoOffers,
    NoQuota,
)
from warmfront.providers.dstack.configuration import PREFIX, duration, fleet_configuration
from warmfront.providers.dstack.run_outcome import AVAILABILITIES, RunOutcome, outcome_of

if TYPE_CHECKING:
    from decimal import Decimal

    from warmfront.providers.dstack.client import DstackClient
    from warmfront.providers.dstack.resources import DstackFleet, FleetPlan
    from warmfront.settings import Settings

#: How often one looks whether a fleet that ends has ended. dstack itself looks every 15 seconds.
_LOOK_S = 0.5


@dataclass(frozen=True, kw_only=True)
class FleetDifference:
    """Something of a fleet that is not as it should be."""

    field: str
    is_now: str
    wanted: str
    can_change: bool = True  #: whether dstack changes it in a fleet that exists

    def __str__(self) -> str:
        return f"{self.field} is {self.is_now}, not {self.wanted}"


@dataclass(frozen=True, kw_only=True)
class FleetProposal:
    """What would be made, and what it could come to."""

    configuration: dict[str, Any]
    plan: FleetPlan
    differences: tuple[FleetDifference, ...]  #: of the fleet that is there from what is wanted
    hourly_usd: Decimal  #: the dearest VM that it may start
    worst_case_usd_per_day: Decimal  #: every node, all day

    @property
    def is_there(self) -> bool:
        """Whether the fleet is there already, just as it is wanted."""
        return self.plan.current is not None and not self.differences

    @property
    def must_be_replaced(self) -> bool:
        """Whether dstack would refuse to make of the present fleet what is wanted."""
        return any(not difference.can_change for difference in self.differences)


async def propose(client: DstackClient, settings: Settings) -> FleetProposal:
    """Have dstack plan the fleet. Nothing is made."""
    configuration = fleet_configuration(settings)
    await _need_backend(client, settings)
    plan = await client.plan_fleet(configuration)
    if plan.total_offers == 0:
        raise await _no_offers(client, settings, configuration)
    hourly_usd = plan.max_price_usd_per_h or max(offer.price_usd_per_h for offer in plan.offers)
    return FleetProposal(
        configuration=configuration,
        plan=plan,
        differences=tuple(differences(plan.current, settings)) if plan.current else (),
        hourly_usd=hourly_usd,
        worst_case_usd_per_day=hourly_usd * 24 * settings.fleet_max_nodes,
    )


async def create(client: DstackClient, proposal: FleetProposal, settings: Settings) -> DstackFleet:
    """Make the fleet as proposed, and read back that it is there as asked."""
    if proposal.must_be_replaced:
        raise cannot_change(settings.fleet_name, proposal.differences)
    if not proposal.is_there:
        try:
            await client.apply_fleet(proposal.plan)
        except DstackRefused as error:
            raise DstackRefused(
                error.message,
                hint="If someone changed or deleted the fleet meanwhile, `warmfront fleet create` again.",
            ) from None
    try:
        return await read_back(client, settings)
    except (FleetNotFound, FleetDiffers) as error:
        raise FleetFailed(
            f"dstack took the fleet without an error, but reading it back: {error.message}",
            hint="Look at the dstack server's log, then `warmfront fleet create` again.",
        ) from None


async def read_back(client: DstackClient, settings: Settings) -> DstackFleet:
    """The fleet, if it is there and is what the settings ask for."""
    name = settings.fleet_name
    fleet = await client.fleet(name)
    if fleet is None:
        raise FleetNotFound(
            f"Project {client.project} has no fleet {name!r}.",
            hint="`warmfront fleet create` makes it; `warmfront fleet list` has those that there are.",
        )
    if fleet.status != "active":
        why = f" ({fleet.status_message})" if fleet.status_message else ""
        raise FleetDiffers(
            f"Fleet {name} is {fleet.status}{why}, not active.",
            hint="Wait until it is gone, then `warmfront fleet create`.",
        )
    found = tuple(differences(fleet, settings))
    if any(not difference.can_change for difference in found):
        raise cannot_change(name, found)
    if found:
        raise FleetDiffers(
            f"Fleet {name} is not what the settings ask for: {_listed(found)}.",
            hint="`warmfront fleet create` changes it.",
        )
    return fleet


async def verify(client: DstackClient, settings: Settings) -> tuple[DstackFleet, FleetPlan]:
    """The fleet, if it is as asked for and could get a VM now."""
    await _need_backend(client, settings)
    fleet = await read_back(client, settings)
    configuration = fleet_configuration(settings)
    plan = await client.plan_fleet(configuration)
    if plan.total_offers == 0:
        raise await _no_offers(client, settings, configuration)
    found = obstacle(plan)
    if found is not None:
        raise found
    return fleet, plan


async def delete(client: DstackClient, name: str, *, within_s: float) -> None:
    """Stop our runs on the fleet, delete it, and return when dstack has ended all of its VMs."""
    try:
        async with asyncio.timeout(within_s):
            await _stop_ours(client, name)
            try:
                await client.delete_fleet(name)
            except DstackRefused as error:
                raise DstackRefused(
                    error.message,
                    hint="Runs of others are on it: `dstack ps` has them, `dstack stop` ends one.",
                ) from None
            while await client.fleet(name) is not None:  # noqa: ASYNC110 - dstack tells nobody by itself
                await asyncio.sleep(_LOOK_S)
    except TimeoutError:
        raise FleetFailed(
            f"Fleet {name} is still being deleted after {within_s:g} s.",
            hint=f"`warmfront fleet show {name}` has its VMs; end in the cloud's own page what stays.",
        ) from None


async def _stop_ours(client: DstackClient, name: str) -> None:
    """End them: dstack deletes no fleet that is in use. It may forget a stop, which is asked for again."""
    while ours := [run for run in await client.runs(PREFIX) if run.fleet == name]:
        for run in ours:
            if outcome_of(run) is not RunOutcome.STOPPING:
                await client.stop(run.name)
        await asyncio.sleep(_LOOK_S)


def differences(fleet: DstackFleet, settings: Settings) -> list[FleetDifference]:
    """What of this fleet is not as the settings ask."""
    nodes = _nodes(fleet.min_nodes, fleet.max_nodes)
    wanted = f"0..{settings.fleet_max_nodes}"
    price = f"${fleet.max_price_usd_per_h}" if fleet.max_price_usd_per_h is not None else "none"
    compared = [
        FleetDifference(field="nodes", is_now=nodes, wanted=wanted, can_change=fleet.min_nodes is not None),
        FleetDifference(
            field="idle_duration",
            is_now=_idle(fleet.idle_s),
            wanted=duration(settings.fleet_idle_s),
            can_change=False,
        ),
        FleetDifference(field="backends", is_now=", ".join(fleet.backends) or "any", wanted=settings.backend),
        FleetDifference(field="gpu", is_now=", ".join(fleet.gpu_names) or "any", wanted=settings.gpu_type),
        FleetDifference(field="spot_policy", is_now=fleet.spot_policy or "none", wanted=settings.spot_policy),
        FleetDifference(field="max_price", is_now=price, wanted=f"${settings.rate_usd_per_h}"),
    ]
    return [found for found in compared if found.is_now != found.wanted]


def cannot_change(name: str, found: tuple[FleetDifference, ...]) -> FleetDiffers:
    """The error for a fleet that dstack does not change."""
    fixed = [difference for difference in found if not difference.can_change]
    return FleetDiffers(
        f"Fleet {name} exists and cannot be updated: {_listed(fixed)}.",
        hint=f"`warmfront fleet delete {name}`, which ends its VMs, and then `warmfront fleet create`; "
        "or both in one: `warmfront fleet create --replace`.",
    )


def obstacle(plan: FleetPlan) -> FleetFailed | None:
    """Why none of these offers could be had now, if none could."""
    reasons = {offer.availability for offer in plan.offers}
    if not reasons or any(AVAILABILITIES.get(reason, True) for reason in reasons):
        return None
    if "no_balance" in reasons:
        return NoCredits(hint="Add credits to the account in the cloud's or dstack Sky's page of billing.")
    if "no_quota" in reasons:
        return NoQuota(hint="Ask the cloud for a larger quota, or end VMs of the account that nobody needs.")
    return NoCapacity(
        hint="Wait: Warmfront asks again with each submission. Or add a backend to the dstack project and "
        "set AMD_BACKEND to it."
    )


async def _need_backend(client: DstackClient, settings: Settings) -> None:
    known = await client.backends()
    if settings.backend not in known:
        raise NoBackend(
            f"Project {client.project} has no backend {settings.backend!r}; "
            f"it has {', '.join(known) or 'none'}.",
            hint="Add it to the dstack project (on Sky: project settings; on your own server: its "
            "config.yml, see `warmfront fleet config server`), or set AMD_BACKEND to one that it has.",
        )


async def _no_offers(client: DstackClient, settings: Settings, configuration: dict[str, Any]) -> NoOffers:
    """Nobody sells it: at that price, or at all?"""
    at_any_price = {name: value for name, value in configuration.items() if name != "max_price"}
    dearer = await client.plan_fleet(at_any_price)
    asked = f"{settings.gpu_type} with {settings.gpu_memory}, spot policy {settings.spot_policy}"
    if dearer.offers:
        cheapest = min(offer.price_usd_per_h for offer in dearer.offers)
        return NoOffers(
            f"{settings.backend} sells {asked} from ${cheapest} an hour, above the "
            f"${settings.rate_usd_per_h} that the ledger counts with.",
            hint=f"If you accept that price, set AMD_MI300X_HOURLY_RATE={cheapest}.",
        )
    return NoOffers(
        f"{settings.backend} has no offer for {asked}.",
        hint="Check AMD_GPU_TYPE, AMD_GPU_MEMORY and AMD_SPOT_POLICY (`auto` takes both kinds), and whether "
        "the account has access to such VMs.",
    )


def _nodes(least: int | None, most: int | None) -> str:
    if least is None:
        return "hosts by SSH"
    return f"{least}..{'' if most is None else most}"


def _idle(seconds: int | None) -> str:
    if seconds is None:
        return "dstack's default of 3d"
    return "off" if seconds < 0 else duration(seconds)


def _listed(found: tuple[FleetDifference, ...] | list[FleetDifference]) -> str:
    return "; ".join(map(str, found))
