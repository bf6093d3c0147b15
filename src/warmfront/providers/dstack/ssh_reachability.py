"""Check whether this machine can reach VMs through SSH, before a submission depends on it.

The dstack server can reach every VM, but the service may run on another machine, which cannot. With a running
VM the whole path is tested, including the key. Without one, hosts of an SSH fleet can be tested up to the
login, and nothing is known about the VMs of a cloud.
"""

from __future__ import annotations

import asyncio
import ipaddress
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from warmfront.errors import DstackFailed
from warmfront.providers.dstack.boot_errors import ssh_hint
from warmfront.providers.dstack.configuration import PREFIX, parse_run_name
from warmfront.providers.dstack.run_outcome import RunOutcome, outcome_of
from warmfront.providers.dstack.ssh_fleet import configured_hosts, ssh_hop
from warmfront.providers.dstack.ssh_tunnel import check_ssh_route, check_ssh_server
from warmfront.providers.dstack.tunnels import ssh_route
from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import Awaitable, Iterable

    from warmfront.providers.dstack.client import DstackClient
    from warmfront.providers.dstack.ssh_tunnel import SSHRoute
    from warmfront.settings import Settings

#: The most VMs or hosts that are tested.
_MAX_TESTED = 16


@dataclass(frozen=True, kw_only=True)
class Reachability:
    """Whether this machine can reach VMs through SSH, as far as this can be tested."""

    works: bool
    detail: str
    hint: str = ""  #: what to do if it does not


async def check_reachability(client: DstackClient, settings: Settings) -> Reachability:
    """Connect to the running VMs of the fleet, or to the hosts of an SSH fleet.

    Raises:
        WarmfrontError: The dstack server does not respond.
    """
    try:
        routes = await _routes_to_vms(client, settings)
    except DstackFailed as error:
        return Reachability(works=False, detail=error.message, hint=error.hint or "")
    if routes:
        tested = await _errors(map(check_ssh_route, routes))
        what = f"{len(routes)} running VM{'s' if len(routes) > 1 else ''}"
    elif settings.fleet_hosts:
        hosts, jump_host = configured_hosts(settings)
        jump = ssh_hop(jump_host) if jump_host else None
        tested = await _errors(
            check_ssh_server(ssh_hop(host), jump=jump, jump_key=settings.fleet_ssh_key)
            for host in hosts[:_MAX_TESTED]
        )
        what = f"{len(hosts)} hosts, without logging in"
    else:
        return Reachability(works=True, detail=_untested(client.url))
    if not tested:
        return Reachability(works=True, detail=f"tested with {what}")
    if settings.dstack_mode == "direct":
        detail = f"{tested[0]} Direct mode works without it, but shows events some seconds later."
        return Reachability(works=True, detail=detail)
    return Reachability(works=False, detail=" ".join(tested), hint=ssh_hint(settings))


def is_remote(url: str) -> bool:
    """Return whether the address of a dstack server is on another machine."""
    host = urlsplit(url).hostname or ""
    try:
        return not ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host != "localhost"


def _untested(url: str) -> str:
    needed = "this machine must reach port 22 of each VM, or its jump host"
    if is_remote(url):
        needed = f"the dstack server is on another machine, {urlsplit(url).hostname}, and {needed}, as well"
    return f"not tested, because no VM is running; {needed}"


async def _routes_to_vms(client: DstackClient, settings: Settings) -> list[SSHRoute]:
    """Return the routes to the newest VMs on the fleet, except those of other users of the dstack server.

    Raises:
        DstackFailed: All VMs belong to other users.
    """
    routes: list[SSHRoute] = []
    other_user: DstackFailed | None = None
    for run in await client.runs(PREFIX):
        label = parse_run_name(run.name)
        if settings.fleet_name not in {run.fleet, *run.fleets} or label is None or not label.is_vm:
            continue
        if outcome_of(run) is not RunOutcome.RUNNING or not run.ssh_hops or len(routes) == _MAX_TESTED:
            continue
        try:
            routes.append(await ssh_route(client, run, settings.fleet_ssh_key))
        except DstackFailed as error:
            other_user = error
    if other_user is not None and not routes:
        raise other_user
    return routes


async def _errors(tests: Iterable[Awaitable[None]]) -> list[str]:
    """Return the reasons why tests failed."""
    results = await asyncio.gather(*tests, return_exceptions=True)
    failures = [result for result in results if result is not None]
    if unexpected := [failure for failure in failures if not isinstance(failure, DstackFailed)]:
        raise unexpected[0]
    return [failure.message for failure in failures if isinstance(failure, DstackFailed)]
