"""Check everything that a VM needs before the first one is requested, and list what cannot be checked."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING

from warmfront.errors import DstackUnreachable, NoCapacity, ProviderError, WarmfrontError
from warmfront.providers.dstack import fleet_setup
from warmfront.providers.dstack.boot_errors import require_ssh
from warmfront.providers.dstack.client import DstackClient
from warmfront.providers.dstack.configuration import IMAGE_HINT, unpinned_image
from warmfront.providers.dstack.fleet_terms import in_terms_of
from warmfront.providers.dstack.server_session import MIN_VERSION
from warmfront.providers.dstack.ssh_fleet import summarize
from warmfront.providers.dstack.ssh_reachability import check_reachability
from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from warmfront.providers.dstack.resources import FleetPlan
    from warmfront.settings import Settings

#: Facts that are unknown until a VM is requested.
UNKNOWN = (
    "whether the cloud accepts the key of the dstack server now: dstack caches offers for some minutes",
    "whether the VM can pull the image of WARMFRONT_WORKER_IMAGE",
    "whether this machine can reach the VM with ssh",
)
#: Facts that are unknown until a VM is requested on a host of an SSH fleet.
UNKNOWN_ON_HOSTS = (
    "whether the host can pull the image of WARMFRONT_WORKER_IMAGE",
    "whether its GPUs work: the listener checks them before it takes a submission",
)
_NO_AVAILABILITY = "whether a VM is free now: {backend} lists its offers without their availability"


@dataclass(frozen=True, kw_only=True)
class PreflightCheck:
    """The result of one check."""

    name: str
    works: bool
    detail: str
    hint: str = ""  #: what to do if it failed


async def run_preflight(settings: Settings) -> list[PreflightCheck]:
    """Check ssh, the image's name, the server, its version and project, the fleet, and the way to its VMs."""
    checks = [_ssh(), _image(settings)]
    try:
        client = await asyncio.to_thread(DstackClient.open, settings)
    except WarmfrontError as error:
        return [*checks, _failed("dstack server", error)]
    try:
        return [*checks, *[check async for check in _server_checks(client, settings)]]
    finally:
        await client.close()


def what_is_unknown(settings: Settings, plan: FleetPlan) -> list[str]:
    """Return the reasons why the first VM may still fail, which the checks cannot detect."""
    if any(offer.availability == "available" for offer in plan.offers):
        return list(UNKNOWN)
    return [_NO_AVAILABILITY.format(backend=settings.backend), *UNKNOWN]


async def _server_checks(client: DstackClient, settings: Settings) -> AsyncIterator[PreflightCheck]:
    yield await _version(client)
    if settings.fleet_hosts:
        yield await _hosts(client, settings)
    else:
        yield await _fleet(client, settings, "dstack fleet")
    if settings.has_cpu_nodes:
        yield await _fleet(client, settings.of_cpu_fleet(), "fleet of CPU nodes")
    yield await _ssh_to_vms(client, settings)


async def _fleet(client: DstackClient, settings: Settings, name: str) -> PreflightCheck:
    try:
        fleet, plan = await fleet_setup.verify(client, settings)
    except NoCapacity as error:
        return PreflightCheck(name=name, works=True, detail=f"{settings.fleet_name}; {error.message}")
    except WarmfrontError as error:
        return _failed(name, in_terms_of(settings, error))
    cheapest = min(offer.price_usd_per_h for offer in plan.offers)
    full = "; it is full" if fleet.is_full else ""
    detail = f"{fleet.name} on {settings.backend}, from ${cheapest} per hour{full}"
    return PreflightCheck(name=name, works=True, detail=detail)


async def _hosts(client: DstackClient, settings: Settings) -> PreflightCheck:
    try:
        fleet, states = await fleet_setup.verify_hosts(client, settings)
    except WarmfrontError as error:
        return _failed("dstack fleet", error)
    return PreflightCheck(name="dstack fleet", works=True, detail=f"{fleet.name}: {summarize(states)}")


async def _ssh_to_vms(client: DstackClient, settings: Settings) -> PreflightCheck:
    try:
        result = await check_reachability(client, settings)
    except WarmfrontError as error:
        return _failed("ssh to VMs", error)
    return PreflightCheck(name="ssh to VMs", works=result.works, detail=result.detail, hint=result.hint)


async def _version(client: DstackClient) -> PreflightCheck:
    try:
        version = await client.server_version()
    except DstackUnreachable as error:
        return _failed("dstack server", error)
    numbers = tuple(map(int, re.findall(r"\d+", version)[:2]))
    wanted = ".".join(map(str, MIN_VERSION))
    return PreflightCheck(
        name="dstack server",
        works=not numbers or numbers >= MIN_VERSION,
        detail=f"{client.url}, version {version or 'unknown'}, project {client.project}",
        hint=f"Update the dstack server to {wanted} or newer.",
    )


def _ssh() -> PreflightCheck:
    try:
        require_ssh()
    except ProviderError as error:
        return _failed("ssh", error)
    return PreflightCheck(name="ssh", works=True, detail="asyncssh is installed")


def _image(settings: Settings) -> PreflightCheck:
    problem = unpinned_image(settings)
    works = problem is None or not settings.require_digests
    detail = problem or "named by digest"
    return PreflightCheck(name="image of VMs", works=works, detail=detail, hint=IMAGE_HINT)


def _failed(name: str, error: WarmfrontError) -> PreflightCheck:
    return PreflightCheck(name=name, works=False, detail=error.message, hint=error.hint or "")
