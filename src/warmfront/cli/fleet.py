"""`warmfront fleet`: print the fleet as text, tables or JSON, and ask for confirmation before costs arise.

The operations themselves are in `warmfront.providers.dstack.fleet_setup`.
"""

from __future__ import annotations

import asyncio
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from warmfront import settings as configured
from warmfront.cli.error_report import report
from warmfront.cli.formatting import print_columns, print_json
from warmfront.cli.hints import as_typed_here
from warmfront.cli.yaml_text import to_yaml
from warmfront.errors import FleetNotFound, NotConfirmed, WarmfrontError
from warmfront.providers.dstack import configuration, fleet_setup, listener_bundle
from warmfront.providers.dstack.client import DstackClient
from warmfront.providers.dstack.configuration import parse_run_name
from warmfront.providers.dstack.fleet_terms import in_terms_of
from warmfront.providers.dstack.host_requirements import check_hosts
from warmfront.providers.dstack.preflight import UNKNOWN_ON_HOSTS, what_is_unknown
from warmfront.providers.dstack.run_outcome import INSTANCE_REASONS
from warmfront.providers.dstack.tenancy import TenancyIndex
from warmfront.store.sql_database import open_store
from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from warmfront.providers.dstack.fleet_setup import FleetProposal
    from warmfront.providers.dstack.resources import DstackFleet, DstackInstance
    from warmfront.providers.dstack.ssh_fleet import HostState
    from warmfront.settings import Settings

NO_VMS = "It has no VMs, which is normal: dstack starts one when it is needed and ends it when it is idle."


#: The prefix of the owner of a foreign VM.
_FOREIGN = "foreign:"


@dataclass(frozen=True, kw_only=True)
class CreateOptions:
    """The options of `create`. Each takes precedence over its environment variable."""

    cpu: bool
    name: str | None
    nodes: str | None
    idle_duration: str | None
    backend: str | None
    spot_policy: str | None
    yes: bool
    dry_run: bool
    replace: bool
    as_json: bool

    def apply(self, settings: Settings) -> Settings:
        """Return the settings with these options applied."""
        return configured.with_options(
            configuration.require_cpu_fleet(settings) if self.cpu else settings,
            {
                "fleet_name": ("--name", self.name),
                "fleet_max_nodes": ("--nodes", self.nodes),
                "fleet_idle_s": ("--idle-duration", self.idle_duration),
                "backend": ("--backend", self.backend),
                "spot_policy": ("--spot-policy", self.spot_policy),
            },
        )


def create(options: CreateOptions) -> int:
    """Show the plan, ask for confirmation, create the fleet and read it back."""

    async def work(client: DstackClient, settings: Settings) -> int:
        proposal = await fleet_setup.propose(client, settings)
        if not options.as_json:
            _print_proposal(client, proposal, settings)
            for host, problem in (await check_hosts(settings)).items():
                print(f"Note: dstack may not be able to prepare {host}: {problem}.")
        if options.dry_run or settings.fleet_dry_run:
            return _end_dry_run(proposal, as_json=options.as_json)
        if not proposal.is_current:
            proposal = await _confirmed(client, proposal, settings, options)
        created = await fleet_setup.create(client, proposal, settings)
        if options.as_json:
            print_json({**_proposed(proposal), "created": not proposal.is_current, "fleet": _fields(created)})
        elif settings.fleet_hosts:
            print(
                "The fleet exists. dstack is preparing its hosts, which takes a minute or more.", flush=True
            )
            await fleet_setup.wait_for_hosts(client, settings)
            _print_hosts(*await fleet_setup.verify_hosts(client, settings), as_json=False)
            _print_next_step(settings)
        else:
            print(_summary(created))
            _print_next_step(settings)
        return 0

    return _with_client(work, with_options=options.apply, as_json=options.as_json)


def _print_next_step(settings: Settings) -> None:
    setting = "" if settings.provider == "dstack" else "set WARMFRONT_PROVIDER=dstack, then "
    print(as_typed_here(f"  → {setting}run `warmfront serve`"))


def verify(name: str | None, *, cpu: bool = False, as_json: bool) -> int:
    """Check whether the fleet (with `cpu`, the fleet of CPU nodes) matches the settings and has a VM."""

    async def work(client: DstackClient, settings: Settings) -> int:
        if settings.fleet_hosts:
            return _print_hosts(*await fleet_setup.verify_hosts(client, settings), as_json=as_json)
        fleet, plan = await fleet_setup.verify(client, settings)
        unknown = what_is_unknown(settings, plan)
        if as_json:
            print_json(
                {
                    "fleet": _fields(fleet),
                    "offers": [_offer_fields(offer) for offer in plan.offers],
                    "unknown": unknown,
                }
            )
            return 0
        print(_summary(fleet))
        cheapest = min(offer.price_usd_per_h for offer in plan.offers)
        print(f"{plan.total_offers} offers, from ${cheapest} per hour.")
        if not fleet.instances:
            print(NO_VMS)
        elif fleet.is_full:
            variable = "AMD_CPU_FLEET_MAX_NODES" if cpu else "AMD_FLEET_MAX_NODES"
            print(f"It is full: another VM can start when one of these ends. {variable} sets the limit.")
        print("\n  - ".join(["Only a running VM will show:", *unknown]))
        return 0

    return _with_client(work, with_options=_named(name, cpu=cpu), as_json=as_json)


def _print_hosts(fleet: DstackFleet, states: list[HostState], *, as_json: bool) -> int:
    """Print the state of each host of an SSH fleet."""
    if as_json:
        hosts = [asdict(state) for state in states]
        print_json({"fleet": _fields(fleet), "hosts": hosts, "unknown": list(UNKNOWN_ON_HOSTS)})
        return 0
    print(_summary(fleet))
    rows = [(state.host, state.status, state.gpus, state.problem) for state in states]
    print_columns([("HOST", "STATUS", "GPUS", "PROBLEM"), *rows])
    print("\n  - ".join(["Only a running VM will show:", *UNKNOWN_ON_HOSTS]))
    return 0


def show_all(*, as_json: bool) -> int:
    """List the project's fleets."""

    async def work(client: DstackClient, _: Settings) -> int:
        fleets = await client.fleets()
        if as_json:
            print_json([_fields(fleet) for fleet in fleets])
        elif fleets:
            print_columns([("NAME", "STATUS", "NODES", "VMS", "IDLE", "BACKENDS"), *map(_row, fleets)])
        else:
            print(as_typed_here(f"Project {client.project} has no fleets.\n  → warmfront fleet create"))
        return 0

    return _with_client(work, as_json=as_json)


def show(name: str | None, *, as_json: bool) -> int:
    """Show a fleet and its VMs."""

    async def work(client: DstackClient, settings: Settings) -> int:
        fleet = await _get_fleet(client, settings.fleet_name)
        our_id = await _our_owner_id(settings)
        owners = {instance.id: await _owner(client, instance, our_id) for instance in fleet.instances}
        if as_json:
            print_json(_fields(fleet, owners))
            return 0
        print(_summary(fleet))
        if fleet.instances:
            heading = ("NUM", "STATUS", "HOST", "REGION", "$/H", "OWNER", "WHY")
            rows = [_instance_row(instance, owners[instance.id]) for instance in fleet.instances]
            print_columns([heading, *rows])
        else:
            print(NO_VMS)
        return 0

    return _with_client(work, with_options=_named(name), as_json=as_json)


def delete(name: str | None, *, yes: bool, as_json: bool) -> int:
    """Delete a fleet and end its VMs."""

    async def work(client: DstackClient, settings: Settings) -> int:
        fleet = await _get_fleet(client, settings.fleet_name)
        our_id = await _our_owner_id(settings)
        owners = [await _owner(client, instance, our_id) for instance in fleet.instances]
        foreign = sum(owner.startswith(_FOREIGN) for owner in owners)
        note = f", of which {foreign} belong to other services" if foreign else ""
        question = (
            f"Delete fleet {fleet.name} and end its VMs ({len(owners)}{note}), even if they are in use?"
        )
        if fleet.is_ssh:
            question = (
                f"Delete fleet {fleet.name} and stop the runs on its hosts ({len(owners)}{note})? The hosts "
                "themselves keep running."
            )
        # --yes confirms the end of our own VMs only.
        _confirm(question, yes=yes and not foreign)
        await fleet_setup.delete(client, fleet.name, within_s=settings.stop_lag_s)
        if as_json:
            print_json({"name": fleet.name, "deleted": True})
        elif fleet.is_ssh:
            print(
                f"Fleet {fleet.name} has been deleted. Its hosts keep running, with dstack's agent on them."
            )
        else:
            print(f"Fleet {fleet.name} and its VMs have been deleted.")
        return 0

    return _with_client(work, with_options=_named(name), as_json=as_json)


def print_configuration(kind: str) -> int:
    """Print a configuration as YAML for dstack."""
    try:
        settings = configured.load()
        bundle = listener_bundle.pack_for_upload(settings.cache_dir) if kind in {"worker", "direct"} else None
        print(to_yaml(configuration.example_configuration(kind, settings, bundle=bundle)), end="")
    except WarmfrontError as error:
        return report(error, as_json=False)
    return 0


async def _confirmed(
    client: DstackClient, proposal: FleetProposal, settings: Settings, options: CreateOptions
) -> FleetProposal:
    """Ask for confirmation of the proposal; replacing a fleet is confirmed separately."""
    name = settings.fleet_name
    if not proposal.must_be_replaced:
        _confirm(f"{'Change' if proposal.plan.current else 'Create'} fleet {name}?", yes=options.yes)
        return proposal
    if not options.replace and not (sys.stdin.isatty() and not options.as_json):
        raise fleet_setup.cannot_change(name, proposal.differences)
    if not options.as_json:
        print(fleet_setup.cannot_change(name, proposal.differences).message)
    # --yes alone confirms creating a fleet, not ending the VMs of an existing one.
    _confirm(f"Delete fleet {name}, end its VMs, and create it again?", yes=options.replace and options.yes)
    await fleet_setup.delete(client, name, within_s=settings.stop_lag_s)
    return await fleet_setup.propose(client, settings)


def _confirm(question: str, *, yes: bool) -> None:
    if yes:
        return
    if not sys.stdin.isatty():
        raise NotConfirmed(
            f"{question} Cannot ask for confirmation: standard input is not a terminal.",
            hint="Add --yes to confirm.",
        )
    if input(f"{question} [y/N] ").strip().lower() not in {"y", "yes"}:
        raise NotConfirmed("Cancelled; nothing was changed.", hint="Answer y, or add --yes, to confirm.")


def _with_client(
    work: Callable[[DstackClient, Settings], Awaitable[int]],
    *,
    with_options: Callable[[Settings], Settings] = lambda settings: settings,
    as_json: bool,
) -> int:
    async def call(settings: Settings) -> int:
        client = await asyncio.to_thread(DstackClient.open, settings)
        try:
            return await work(client, settings)
        except WarmfrontError as error:
            raise in_terms_of(settings, error) from None
        finally:
            await client.close()

    try:
        return asyncio.run(call(with_options(configured.load())))
    except WarmfrontError as error:
        return report(error, as_json=as_json)


def _named(name: str | None, *, cpu: bool = False) -> Callable[[Settings], Settings]:
    def apply(settings: Settings) -> Settings:
        settings = configuration.require_cpu_fleet(settings) if cpu else settings
        return configured.with_options(settings, {"fleet_name": ("NAME", name)})

    return apply


async def _our_owner_id(settings: Settings) -> str | None:
    """Return the owner id in the service's database; None if this machine has no access to it."""
    if settings.database_url is None and not (settings.data_dir / "warmfront.db").exists():
        return None
    try:
        store = await open_store(settings, exclusive=False)
    except WarmfrontError:
        return None
    try:
        return await store.find_owner_id()
    finally:
        await store.close()


async def _owner(client: DstackClient, instance: DstackInstance, our_id: str | None) -> str:
    """Return the owner of a VM, from its current or last run: `ours`, or the other service."""
    if instance.is_own_host:
        return _tenant_owner(await _run_on(client, instance), our_id)
    return _tenant_owner(await TenancyIndex(client).last_tenant(instance), our_id)


async def _run_on(client: DstackClient, host: DstackInstance) -> str | None:
    """Return the name of the active run on a host of an SSH fleet; None if there is none."""
    runs = (run for run in await client.runs() if run.backend == host.backend)
    return next((run.name for run in runs if run.hostname == host.hostname), None)


def _tenant_owner(tenant: str | None, our_id: str | None) -> str:
    label = parse_run_name(tenant) if tenant is not None else None
    if label is None:
        return f"{_FOREIGN} run {tenant}" if tenant is not None else "no run"
    if label.owner is None:
        return "a service that predates owner ids"
    if label.owner == our_id:
        return f"ours: {label.our_id}"
    return f"{_FOREIGN} service {label.owner}" if our_id else f"service {label.owner}"


async def _get_fleet(client: DstackClient, name: str) -> DstackFleet:
    fleet = await client.fleet(name)
    if fleet is None:
        raise FleetNotFound(
            f"Project {client.project} has no fleet {name!r}.",
            hint="`warmfront fleet list` shows the existing fleets.",
        )
    return fleet


def _print_proposal(client: DstackClient, proposal: FleetProposal, settings: Settings) -> None:
    print(to_yaml(proposal.configuration))
    if settings.fleet_hosts:
        _print_hosts_proposal(proposal, settings)
    else:
        _print_offers(client, proposal, settings)
    for difference in proposal.differences:
        print(f"The existing fleet differs: {difference}.")
    if proposal.is_current:
        print("The fleet exists and matches the settings.")
    unavailable = fleet_setup.unavailability(proposal.plan)
    if unavailable is not None:
        print(f"Note: {unavailable.message}\n  → {unavailable.hint}")


def _print_hosts_proposal(proposal: FleetProposal, settings: Settings) -> None:
    print(
        f"dstack connects to each host as user {settings.fleet_ssh_user} or the one given with the host, and "
        "installs its agent. The dstack server stores the private key."
    )
    cost = f"${proposal.hourly_usd} per hour while in use" if proposal.hourly_usd else "nothing"
    print(f"A host costs {cost} (AMD_HOST_HOURLY_RATE). Only the runs on it are ended, never the host.")


def _print_offers(client: DstackClient, proposal: FleetProposal, settings: Settings) -> None:
    print(f"Offers for project {client.project} at {client.url}:")
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
        "\nNo VM starts now. In the worst case, all nodes run all day: "
        f"{settings.max_fleet_vms} x ${proposal.hourly_usd} x 24 h = "
        f"${proposal.worst_case_usd_per_day:.2f} per day."
    )


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


def _summary(fleet: DstackFleet) -> str:
    if fleet.is_ssh:
        free = sum(instance.is_free for instance in fleet.instances)
        return f"Fleet {fleet.name} is {fleet.status}: {len(fleet.hosts)} SSH hosts, {free} of them free."
    name, status, nodes, vms, idle, backends = _row(fleet)
    return f"Fleet {name} is {status}: nodes {nodes}, {vms} VMs, idle_duration {idle}, {backends}."


def _row(fleet: DstackFleet) -> tuple[str, ...]:
    if fleet.is_ssh:
        nodes = f"{len(fleet.hosts)} SSH hosts"
        return (fleet.name, fleet.status, nodes, str(len(fleet.instances)), "never", "your own machines")
    nodes = f"{fleet.min_nodes or 0}..{fleet.max_nodes or ''}"
    idle = "default" if fleet.idle_s is None else configuration.duration(fleet.idle_s)
    backends = ", ".join(fleet.backends) or "any backend"
    return (fleet.name, fleet.status, nodes, str(len(fleet.instances)), idle, backends)


def _instance_row(instance: DstackInstance, owner: str) -> tuple[str, ...]:
    why = INSTANCE_REASONS.get(instance.termination_reason or "", instance.termination_reason or "")
    status = f"{instance.status}, unreachable" if instance.is_unreachable else instance.status
    price = "" if instance.price_usd_per_h is None else str(instance.price_usd_per_h)
    return (str(instance.num), status, instance.hostname or "", instance.region or "", price, owner, why)


def _fields(fleet: DstackFleet, owners: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Convert a fleet to JSON fields; dollars are strings, so that they stay exact."""
    owners = owners or {}
    instances = [
        {
            **asdict(instance),
            "price_usd_per_h": None if instance.price_usd_per_h is None else str(instance.price_usd_per_h),
            **({"owner": owners[instance.id]} if instance.id in owners else {}),
        }
        for instance in fleet.instances
    ]
    price = None if fleet.max_price_usd_per_h is None else str(fleet.max_price_usd_per_h)
    return {**asdict(fleet), "max_price_usd_per_h": price, "instances": instances}
