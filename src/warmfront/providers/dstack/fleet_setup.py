"""Plan, create, verify and delete the fleet of our VMs.

`warmfront.cli.fleet` prints the results. Every error here has a hint with the next step.
"""

from __future__ import annotations

import asyncio
import itertools
from contextlib import suppress
from dataclasses import replace
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
    TooExpensive,
)
from warmfront.providers.dstack.backends import check_backends
from warmfront.providers.dstack.configuration import (
    PREFIX,
    duration,
    fleet_configuration,
    fleet_gpus,
    minimum_reservation_s,
    rate_variable,
)
from warmfront.providers.dstack.run_outcome import AVAILABILITIES, RunOutcome, outcome_of
from warmfront.providers.dstack.ssh_fleet import (
    configured_hosts,
    describe_hosts,
    host_states,
    summarize,
)
from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence
    from decimal import Decimal

    from warmfront.providers.dstack.client import DstackClient
    from warmfront.providers.dstack.resources import DstackFleet, FleetPlan
    from warmfront.providers.dstack.ssh_fleet import HostState
    from warmfront.settings import Settings

#: Polling interval while a fleet is being deleted. dstack's own interval is 15 seconds.
_POLL_S = 0.5
#: How often a change is requested while dstack refuses it because it is processing the fleet.
_APPLY_TRIES = 40


@dataclass(frozen=True, kw_only=True)
class FleetDifference:
    """A property of an existing fleet that differs from the settings."""

    field: str
    actual: str
    wanted: str
    can_change: bool = True  #: whether dstack can change it in an existing fleet

    def __str__(self) -> str:
        return f"{self.field} is {self.actual}, not {self.wanted}"


@dataclass(frozen=True, kw_only=True)
class FleetProposal:
    """The fleet to create or change, and what it could cost."""

    configuration: dict[str, Any]
    plan: FleetPlan
    differences: tuple[FleetDifference, ...]  #: between the existing fleet and the settings
    hourly_usd: Decimal  #: price of the most expensive VM that the fleet may start
    worst_case_usd_per_day: Decimal  #: all nodes, all day

    @property
    def is_current(self) -> bool:
        """Whether the fleet exists and matches the settings."""
        return self.plan.current is not None and not self.differences

    @property
    def must_be_replaced(self) -> bool:
        """Whether dstack cannot change the existing fleet to match the settings."""
        return any(not difference.can_change for difference in self.differences)


async def propose(client: DstackClient, settings: Settings) -> FleetProposal:
    """Have dstack plan the fleet without creating anything.

    Raises:
        NoBackend: The project does not have the backend.
        NoOffers: The backend offers no such VM, or none at this price.
        BadSetting: The backend has a minimum reservation, but it is not set; VMs cannot run on it; or there
            is no key for the hosts of an SSH fleet.
        DstackRefused: A host belongs to another fleet.
    """
    configuration = fleet_configuration(settings)
    if settings.fleet_hosts:
        plan = await client.plan_fleet(configuration)
        hourly_usd = _highest_rate(settings)
    else:
        await _require_backend(client, settings)
        minimum_reservation_s(settings)
        plan = await client.plan_fleet(configuration)
        if plan.total_offers == 0:
            raise await _no_offers(client, settings, configuration)
        hourly_usd = plan.max_price_usd_per_h or max(offer.price_usd_per_h for offer in plan.offers)
    return FleetProposal(
        configuration=configuration,
        plan=plan,
        differences=tuple(differences(plan.current, settings)) if plan.current else (),
        hourly_usd=hourly_usd,
        worst_case_usd_per_day=hourly_usd * 24 * settings.max_fleet_vms,
    )


async def create(client: DstackClient, proposal: FleetProposal, settings: Settings) -> DstackFleet:
    """Create or change the fleet as proposed, and read it back.

    Raises:
        FleetDiffers: The existing fleet would have to be replaced.
        FleetFailed: dstack reported success, but the fleet does not exist or does not match.
    """
    if proposal.must_be_replaced:
        raise cannot_change(settings.fleet_name, proposal.differences)
    if not proposal.is_current:
        await _apply(client, proposal.plan)
    try:
        return await read_back(client, settings)
    except (FleetNotFound, FleetDiffers) as error:
        raise FleetFailed(
            f"dstack accepted the fleet, but reading it back failed: {error.message}",
            hint="Check the dstack server's log, then run `warmfront fleet create` again.",
        ) from None


async def _apply(client: DstackClient, plan: FleetPlan) -> None:
    """Create or change the fleet. Retry while dstack refuses because it is processing the fleet.

    Raises:
        DstackRefused: The fleet has changed since it was planned, or dstack keeps refusing.
    """
    for tries_left in reversed(range(_APPLY_TRIES)):
        try:
            await client.apply_fleet(plan)
        except DstackRefused as error:
            planned = plan.current
            current = await client.fleet(planned.name) if planned else None
            is_unchanged = planned and current and replace(current, instances=planned.instances) == planned
            if not (is_unchanged and tries_left):
                raise DstackRefused(
                    error.message,
                    hint="If the fleet was changed or deleted meanwhile, run `warmfront fleet create` again.",
                ) from None
            await asyncio.sleep(_POLL_S)
        else:
            return


async def read_back(client: DstackClient, settings: Settings) -> DstackFleet:
    """Return the fleet if it is active and matches the settings.

    Raises:
        FleetNotFound: There is no such fleet.
        FleetDiffers: The fleet is not active, or does not match the settings.
    """
    name = settings.fleet_name
    fleet = await client.fleet(name)
    if fleet is None:
        raise FleetNotFound(
            f"Project {client.project} has no fleet {name!r}.",
            hint="`warmfront fleet create` creates it; `warmfront fleet list` shows the existing fleets.",
        )
    if fleet.status != "active":
        why = f" ({fleet.status_message})" if fleet.status_message else ""
        raise FleetDiffers(
            f"Fleet {name} is {fleet.status}{why}, not active.",
            hint="Wait until it has been deleted, then run `warmfront fleet create`.",
        )
    found = tuple(differences(fleet, settings))
    if any(not difference.can_change for difference in found):
        raise cannot_change(name, found)
    if found:
        raise FleetDiffers(
            f"Fleet {name} does not match the settings: {_join(found)}.",
            hint="`warmfront fleet create` changes it.",
        )
    return fleet


async def verify(client: DstackClient, settings: Settings) -> tuple[DstackFleet, FleetPlan]:
    """Return the fleet and its plan if it matches the settings and a VM is available.

    Raises:
        WarmfrontError: The fleet does not exist, does not match, or has no available VM; the type of the
        error distinguishes them.
    """
    await _require_backend(client, settings)
    minimum_reservation_s(settings)
    fleet = await read_back(client, settings)
    configuration = fleet_configuration(settings)
    plan = await client.plan_fleet(configuration)
    if plan.total_offers == 0:
        raise await _no_offers(client, settings, configuration)
    unavailable = unavailability(plan)
    if unavailable is not None:
        raise unavailable
    return fleet, plan


async def wait_for_hosts(client: DstackClient, settings: Settings) -> None:
    """Wait until dstack has prepared each host of the SSH fleet, or has given up on it after ten minutes."""
    while True:
        states = host_states(await read_back(client, settings), settings)
        if not any(state.is_preparing for state in states):
            return
        await asyncio.sleep(_POLL_S)


async def verify_hosts(client: DstackClient, settings: Settings) -> tuple[DstackFleet, list[HostState]]:
    """Return the SSH fleet and the state of each host, if a VM can run on at least one.

    Raises:
        WarmfrontError: The fleet does not exist or does not match, or no host can be used.
    """
    fleet = await read_back(client, settings)
    states = host_states(fleet, settings)
    if not any(state.is_usable for state in states):
        raise FleetFailed(
            f"No VM can run on a host of fleet {fleet.name}: {summarize(states)}.",
            hint="dstack prepares a new host within minutes, and gives up after ten; the dstack server's log "
            "says why. `warmfront fleet create --replace` lets it try again.",
        )
    return fleet, states


async def delete(client: DstackClient, name: str, *, within_s: float) -> None:
    """Stop our runs on the fleet, delete it, and return when dstack has ended all of its VMs.

    Raises:
        DstackRefused: Runs that are not ours are on the fleet.
        FleetFailed: The fleet still exists after `within_s` seconds.
    """
    try:
        async with asyncio.timeout(within_s):
            await _stop_our_runs(client, name)
            await _request_deletion(client, name)
            while (fleet := await client.fleet(name)) is not None:
                await asyncio.sleep(_POLL_S)
                if fleet.status != "terminating":
                    with suppress(FleetNotFound):  # it has just been deleted
                        await _request_deletion(client, name)
    except TimeoutError:
        raise FleetFailed(
            f"Fleet {name} is still being deleted after {within_s:g} s.",
            hint=f"`warmfront fleet show {name}` lists its VMs; end any that remain in the cloud's console.",
        ) from None


async def _request_deletion(client: DstackClient, name: str) -> None:
    """Request the deletion of a fleet. Do nothing if dstack refuses because it is processing the fleet.

    Raises:
        DstackRefused: Runs that are not ours are on the fleet.
        FleetNotFound: There is no such fleet.
    """
    try:
        await client.delete_fleet(name)
    except DstackRefused as error:
        if any(run.fleet == name for run in await client.runs()):
            raise DstackRefused(
                error.message,
                hint="Other runs are on it: `dstack ps` lists them, `dstack stop` ends one.",
            ) from None


async def _stop_our_runs(client: DstackClient, name: str) -> None:
    """Stop our runs on a fleet, because dstack does not delete a fleet that is in use.

    dstack can lose a stop request, so it is repeated until the run is stopping.
    """
    while ours := [run for run in await client.runs(PREFIX) if run.fleet == name]:
        for run in ours:
            if outcome_of(run) is not RunOutcome.STOPPING:
                await client.stop(run.name)
        await asyncio.sleep(_POLL_S)


def differences(fleet: DstackFleet, settings: Settings) -> list[FleetDifference]:
    """Return the properties of the fleet that differ from the settings."""
    if settings.fleet_hosts or fleet.is_ssh:
        return _host_differences(fleet, settings)
    wanted = fleet_configuration(settings)
    price = f"${fleet.max_price_usd_per_h}" if fleet.max_price_usd_per_h is not None else "none"
    compared = [
        FleetDifference(
            field="nodes",
            actual=_nodes(fleet.min_nodes, fleet.max_nodes),
            wanted=wanted["nodes"],
            can_change=fleet.min_nodes is not None,
        ),
        FleetDifference(
            field="idle_duration",
            actual=_idle(fleet.idle_s),
            wanted=wanted["idle_duration"],
            can_change=False,
        ),
        FleetDifference(
            field="backends", actual=", ".join(fleet.backends) or "any", wanted=", ".join(wanted["backends"])
        ),
        FleetDifference(field="gpu", actual=_gpus(fleet), wanted=_wanted_gpus(settings)),
        FleetDifference(field="spot_policy", actual=fleet.spot_policy or "none", wanted=settings.spot_policy),
        FleetDifference(field="max_price", actual=price, wanted=f"${_highest_rate(settings)}"),
    ]
    return [difference for difference in compared if difference.actual != difference.wanted]


def _host_differences(fleet: DstackFleet, settings: Settings) -> list[FleetDifference]:
    """Compare the hosts. dstack can add and remove hosts, but not change how one is reached."""
    hosts, jump_host = configured_hosts(settings)
    actual = describe_hosts(fleet.hosts, fleet.jump_host) or "none, because its VMs come from a cloud"
    wanted = describe_hosts(hosts, jump_host) or "none, because its VMs come from a cloud"
    if actual == wanted:
        return []
    names = {host.host for host in hosts} & {host.host for host in fleet.hosts}
    kept = [describe_hosts((host,), jump_host) for host in hosts if host.host in names]
    existing = [describe_hosts((host,), fleet.jump_host) for host in fleet.hosts if host.host in names]
    can_change = bool(names) and sorted(kept) == sorted(existing)
    return [FleetDifference(field="hosts", actual=actual, wanted=wanted, can_change=can_change)]


def cannot_change(name: str, found: Sequence[FleetDifference]) -> FleetDiffers:
    """Return the error for a fleet that dstack cannot change."""
    fixed = [difference for difference in found if not difference.can_change]
    return FleetDiffers(
        f"Fleet {name} exists and cannot be updated: {_join(fixed)}.",
        hint=f"Run `warmfront fleet delete {name}`, which ends its VMs, and then `warmfront fleet create`; "
        "`warmfront fleet create --replace` does both.",
    )


def unavailability(plan: FleetPlan) -> FleetFailed | None:
    """Return why none of the plan's offers is available; None if one is."""
    reasons = {offer.availability for offer in plan.offers}
    if not reasons or any(AVAILABILITIES.get(reason, True) for reason in reasons):
        return None
    if "no_balance" in reasons:
        return NoCredits(hint="Add credits to the account on the billing page of the cloud or of dstack Sky.")
    if "no_quota" in reasons:
        return NoQuota(
            hint="Request a larger quota from the cloud, or end VMs of the account that are not used."
        )
    return NoCapacity(
        hint="Wait: Warmfront retries with each submission. Or add a backend to the dstack project and "
        "set AMD_BACKEND to it."
    )


async def _require_backend(client: DstackClient, settings: Settings) -> None:
    check_backends(settings)
    backends = await client.backends()
    missing = [name for name in settings.backends if name not in backends]
    if missing:
        raise NoBackend(
            f"Project {client.project} has no backend {' or '.join(map(repr, missing))}; "
            f"it has {', '.join(backends) or 'none'}.",
            hint="Add it to the dstack project (on Sky in the project settings; on your own server in its "
            "config.yml, see `warmfront fleet config server`), or set AMD_BACKEND to an existing backend.",
        )


async def _no_offers(client: DstackClient, settings: Settings, configuration: dict[str, Any]) -> NoOffers:
    """Return the error for a plan without offers, after checking whether the price limit is the cause."""
    at_any_price = {name: value for name, value in configuration.items() if name != "max_price"}
    unlimited = await client.plan_fleet(at_any_price)
    names = fleet_gpus(settings)
    requested = f"{_requested(settings, configuration)}, spot policy {settings.spot_policy}"
    if unlimited.offers:
        cheapest = min(offer.price_usd_per_h for offer in unlimited.offers)
        variables = " or ".join(map(rate_variable, names))
        return TooExpensive(
            f"{settings.backend} offers {requested} from ${cheapest} per hour, above the limit of "
            f"${_highest_rate(settings)}.",
            hint=f"If you accept that price, set {variables}={cheapest}.",
        )
    if settings.is_of_cpu_fleet:
        return NoOffers(
            f"{settings.backend} has no offer for {requested}.",
            hint="Check AMD_CPU_CORES, AMD_CPU_MEMORY and AMD_CPU_DISK, or set AMD_CPU_BACKEND to a cloud "
            "with such VMs.",
        )
    return NoOffers(
        f"{settings.backend} has no offer for {requested}.",
        hint="Check AMD_GPU_TYPE, AMD_GPU_MEMORY and AMD_SPOT_POLICY (`auto` accepts both kinds), and "
        "whether the account has access to such VMs. dstack has no offers of a cloud that rejects its "
        "key, either: the dstack server's log shows this.",
    )


def _requested(settings: Settings, configuration: dict[str, Any]) -> str:
    """Describe the VMs of a fleet."""
    resources = configuration["resources"]
    if settings.is_of_cpu_fleet:
        return f"VMs without a GPU, {resources['cpu']} CPUs, {resources['memory']}, disk {resources['disk']}"
    return f"{' or '.join(fleet_gpus(settings))} with {resources['gpu']['memory']}"


def _wanted_gpus(settings: Settings) -> str:
    return "none" if settings.is_of_cpu_fleet else ", ".join(fleet_gpus(settings))


def _gpus(fleet: DstackFleet) -> str:
    return "none" if fleet.requests_no_gpu else ", ".join(fleet.gpu_names) or "any"


def _highest_rate(settings: Settings) -> Decimal:
    sizes = itertools.product(fleet_gpus(settings), settings.gpu_counts)
    return max(settings.vm_rate_usd_per_h(gpu, count) for gpu, count in sizes)


def _nodes(minimum: int | None, maximum: int | None) -> str:
    if minimum is None:
        return "SSH hosts"
    return f"{minimum}..{'' if maximum is None else maximum}"


def _idle(seconds: int | None) -> str:
    if seconds is None:
        return "dstack's default of 3d"
    return "off" if seconds < 0 else duration(seconds)


def _join(found: Sequence[FleetDifference]) -> str:
    return "; ".join(map(str, found))
