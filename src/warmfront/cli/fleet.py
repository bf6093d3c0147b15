"""`warmfront fleet`: the fleet in words, tables and JSON, and the question before anything can cost money.

What a fleet is and how it is made is dstack's and `warmfront.providers.dstack.fleet_setup`'s business.
"""

from __future__ import annotations

import asyncio
import sys
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from warmfront import settings as configured
from warmfront.cli.error_report import report
from warmfront.cli.formatting import print_columns, print_json
from warmfront.errors import FleetNotFound, NotConfirmed, WarmfrontError
from warmfront.providers.dstack import configuration, fleet_setup, server_session
from warmfront.providers.dstack.client import DstackClient
from warmfront.providers.dstack.run_outcome import INSTANCE_REASONS

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from warmfront.providers.dstack.fleet_setup import FleetProposal
    from warmfront.providers.dstack.resources import DstackFleet, DstackInstance
    from warmfront.settings import Settings

NORMAL = "No VM now, which is normal: dstack starts one when it is needed, and ends it when it is idle."


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What was typed to `create`. Each option goes before its variable."""

    name: str | None
    nodes: str | None
    idle_duration: str | None
    backend: str | None
    spot_policy: str | None
    yes: bool
    dry_run: bool
    replace: bool
    as_json: bool

    def over(self, settings: Settings) -> Settings:
        """The settings with the options on top."""
        return configured.with_options(
            settings,
            {
                "fleet_name": ("--name", self.name),
                "fleet_max_nodes": ("--nodes", self.nodes),
                "fleet_idle_s": ("--idle-duration", self.idle_duration),
                "backend": ("--backend", self.backend),
                "spot_policy": ("--spot-policy", self.spot_policy),
            },
        )


def create(asked: Asked) -> int:
    """Show the plan, ask, make the fleet, and read it back."""

    async def work(client: DstackClient, settings: Settings) -> int:
        proposal = await fleet_setup.propose(client, settings)
        if not asked.as_json:
            _print_proposal(client, proposal, settings)
        if asked.dry_run or settings.fleet_dry_run:
            return _end_dry_run(proposal, as_json=asked.as_json)
        if not proposal.is_there:
            proposal = await _agreed(client, proposal, settings, asked)
        made = await fleet_setup.create(client, proposal, settings)
        if asked.as_json:
            print_json({**_proposed(proposal), "created": not proposal.is_there, "fleet": _fields(made)})
        else:
            print(_summary(made))
            print(
                "  → " + ("" if settings.provider == "dstack" else "set WARMFRONT_PROVIDER=dstack, then "),
                end="",
            )
            print("`warmfront serve`")
        return 0

    return _with_client(work, over=asked.over, as_json=asked.as_json)


def verify(name: str | None, *, as_json: bool) -> int:
    """Say whether the fleet is what the settings ask for, and could get a VM now."""

    async def work(client: DstackClient, settings: Settings) -> int:
        found, plan = await fleet_setup.verify(client, settings)
        if as_json:
            print_json({"fleet": _fields(found), "offers": [_offer_fields(offer) for offer in plan.offers]})
            return 0
        print(_summary(found))
        cheapest = min(offer.price_usd_per_h for offer in plan.offers)
        print(f"{plan.total_offers} offers, from ${cheapest} an hour.")
        if not found.instances:
            print(NORMAL)
        elif found.is_full:
            print("It is full: a further VM starts when one of these ends, or with more AMD_FLEET_MAX_NODES.")
        return 0

    return _with_client(work, over=_named(name), as_json=as_json)


def show_all(*, as_json: bool) -> int:
    """List the project's fleets."""

    async def work(client: DstackClient, _: Settings) -> int:
        found = await client.fleets()
        if as_json:
            print_json([_fields(one) for one in found])
        elif found:
            print_columns([("NAME", "STATUS", "NODES", "VMS", "IDLE", "BACKENDS"), *map(_row, found)])
        else:
            print(f"Project {client.project} has no fleet.\n  → warmfront fleet create")
        return 0

    return _with_client(work, as_json=as_json)


def show(name: str | None, *, as_json: bool) -> int:
    """Show a fleet and its VMs."""

    async def work(client: DstackClient, settings: Settings) -> int:
        found = await _found(client, settings.fleet_name)
        if as_json:
            print_json(_fields(found))
            return 0
        print(_summary(found))
        if found.instances:
            heading = ("NUM", "STATUS", "HOST", "REGION", "$/H", "WHY")
            print_columns([heading, *map(_instance_row, found.instances)])
        else:
            print(NORMAL)
        return 0

    return _with_client(work, over=_named(name), as_json=as_json)


def delete(name: str | None, *, yes: bool, as_json: bool) -> int:
    """Delete a fleet and end its VMs."""

    async def work(client: DstackClient, settings: Settings) -> int:
        found = await _found(client, settings.fleet_name)
        _confirm(
            f"Delete fleet {found.name} and end its VMs ({len(found.instances)}), whatever runs there?",
            yes=yes,
        )
        await fleet_setup.delete(client, found.name, within_s=settings.stop_lag_s)
        if as_json:
            print_json({"name": found.name, "deleted": True})
        else:
            print(f"Fleet {found.name} is gone, and so are its VMs.")
        return 0

    return _with_client(work, over=_named(name), as_json=as_json)


def print_configuration(kind: str) -> int:
    """Print the YAML that we would hand to dstack."""
    try:
        server_session.check_installed()
        print(to_yaml(configuration.of_kind(kind, configured.load())), end="")
    except WarmfrontError as error:
        return report(error, as_json=False)
    return 0


def to_yaml(value: Mapping[str, Any]) -> str:
    """As YAML, in the order in which it was written; text of several lines as such."""
    import yaml  # noqa: PLC0415 - it comes with dstack

    def text(dumper: Any, data: str) -> Any:  # noqa: ANN401 - PyYAML has no types
        style = "|" if "\n" in data else None
        return dumper.represent_scalar("tag:yaml.org,2002:str", data, style=style)

    class Dumper(yaml.SafeDumper):  # type: ignore[misc]  # PyYAML has no types
        """One of our own: a representer is added to a class."""

    Dumper.add_representer(str, text)
    return str(yaml.dump(dict(value), Dumper=Dumper, sort_keys=False, allow_unicode=True, width=110))


async def _agreed(
    client: DstackClient, proposal: FleetProposal, settings: Settings, asked: Asked
) -> FleetProposal:
    """The proposal that someone has said yes to. To replace a fleet is a question of its own."""
    name = settings.fleet_name
    if not proposal.must_be_replaced:
        _confirm(f"{'Change' if proposal.plan.current else 'Create'} fleet {name}?", yes=asked.yes)
        return proposal
    if not asked.replace and not (sys.stdin.isatty() and not asked.as_json):
        raise fleet_setup.cannot_change(name, proposal.differences)
    if not asked.as_json:
        print(fleet_setup.cannot_change(name, proposal.differences).message)
    # Only --replace says yes to ending VMs; --yes alone was said to creating.
    _confirm(f"Delete fleet {name}, end its VMs, and create it again?", yes=asked.replace and asked.yes)
    await fleet_setup.delete(client, name, within_s=settings.stop_lag_s)
    return await fleet_setup.propose(client, settings)


def _confirm(question: str, *, yes: bool) -> None:
    if yes:
        return
    if not sys.stdin.isatty():
        raise NotConfirmed(
            f"{question} Nobody can answer: this is not a terminal.", hint="Add --yes if you mean it."
        )
    if input(f"{question} [y/N] ").strip().lower() not in {"y", "yes"}:
        raise NotConfirmed("Nothing was done.", hint="Answer y, or add --yes, if you mean it.")


def _with_client(
    work: Callable[[DstackClient, Settings], Awaitable[int]],
    *,
    over: Callable[[Settings], Settings] = lambda settings: settings,
    as_json: bool,
) -> int:
    async def opened(settings: Settings) -> int:
        client = await asyncio.to_thread(DstackClient.open, settings)
        try:
            return await work(client, settings)
        finally:
            await client.close()

    try:
        return asyncio.run(opened(over(configured.load())))
    except WarmfrontError as error:
        return report(error, as_json=as_json)


def _named(name: str | None) -> Callable[[Settings], Settings]:
    return lambda settings: configured.with_options(settings, {"fleet_name": ("NAME", name)})


async def _found(client: DstackClient, name: str) -> DstackFleet:
    found = await client.fleet(name)
    if found is None:
        raise FleetNotFound(
            f"Project {client.project} has no fleet {name!r}.", hint="`warmfront fleet list` has all of them."
        )
    return found


def _print_proposal(client: DstackClient, proposal: FleetProposal, settings: Settings) -> None:
    print(to_yaml(proposal.configuration))
    print(f"Offers to project {client.project} at {client.url}:")
    heading = ("BACKEND", "REGION", "TYPE", "RESOURCES", "$/H", "AVAILABILITY")
    rows = [
        (
            offer.backend,
            offer.region,
            offer.instance_type,
            offer.resources,
            str(offer.price_usd_per_h),
            offer.availability,
        )
        for offer in proposal.plan.offers
    ]
    print_columns([heading, *rows])
    if proposal.plan.total_offers > len(rows):
        print(f"and {proposal.plan.total_offers - len(rows)} more")
    print(
        "\nNo VM starts now. In the worst case all that it may have run all day: "
        f"{settings.fleet_max_nodes} x ${proposal.hourly_usd} x 24 h = "
        f"${proposal.worst_case_usd_per_day:.2f} a day."
    )
    for difference in proposal.differences:
        print(f"Now {difference}.")
    if proposal.is_there:
        print("The fleet is there already, just so.")
    found = fleet_setup.obstacle(proposal.plan)
    if found is not None:
        print(f"Note: {found.message}\n  → {found.hint}")


def _end_dry_run(proposal: FleetProposal, *, as_json: bool) -> int:
    if as_json:
        print_json({**_proposed(proposal), "created": False, "fleet": None})
    else:
        print("Dry run: nothing was created.")
    return 0


def _proposed(proposal: FleetProposal) -> dict[str, Any]:
    return {
        "configuration": proposal.configuration,
        "offers": [_offer_fields(offer) for offer in proposal.plan.offers],
        "hourly_usd": str(proposal.hourly_usd),
        "worst_case_usd_per_day": str(proposal.worst_case_usd_per_day),
        "differences": [str(difference) for difference in proposal.differences],
    }


def _offer_fields(offer: Any) -> dict[str, Any]:  # noqa: ANN401 - a dataclass
    return {**asdict(offer), "price_usd_per_h": str(offer.price_usd_per_h)}


def _summary(found: DstackFleet) -> str:
    name, status, nodes, vms, idle, backends = _row(found)
    return f"Fleet {name} is {status}: nodes {nodes}, {vms} VMs, idle_duration {idle}, {backends}."


def _row(found: DstackFleet) -> tuple[str, ...]:
    nodes = "SSH" if found.min_nodes is None else f"{found.min_nodes}..{found.max_nodes or ''}"
    idle = "default" if found.idle_s is None else configuration.duration(found.idle_s)
    backends = ", ".join(found.backends) or "any backend"
    return (found.name, found.status, nodes, str(len(found.instances)), idle, backends)


def _instance_row(instance: DstackInstance) -> tuple[str, ...]:
    why = INSTANCE_REASONS.get(instance.termination_reason or "", instance.termination_reason or "")
    status = f"{instance.status}, unreachable" if instance.is_unreachable else instance.status
    price = "" if instance.price_usd_per_h is None else str(instance.price_usd_per_h)
    return (str(instance.num), status, instance.hostname or "", instance.region or "", price, why)


def _fields(found: DstackFleet) -> dict[str, Any]:
    """For programs: dollars as text, exact."""
    instances = [
        {**asdict(one), "price_usd_per_h": None if one.price_usd_per_h is None else str(one.price_usd_per_h)}
        for one in found.instances
    ]
    price = None if found.max_price_usd_per_h is None else str(found.max_price_usd_per_h)
    return {**asdict(found), "max_price_usd_per_h": price, "instances": instances}
