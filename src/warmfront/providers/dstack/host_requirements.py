"""Log in to the hosts of an SSH fleet and check the requirements of dstack and of VMs.

dstack itself reports only after ten minutes that it could not prepare a host, and does not say why.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from warmfront.errors import DstackFailed
from warmfront.providers.dstack.ssh_fleet import configured_hosts, ssh_hop
from warmfront.providers.dstack.ssh_tunnel import SSHRoute, run_ssh_command

if TYPE_CHECKING:
    from warmfront.settings import Settings

#: The shell commands that must succeed on a host, and the problem if one fails.
_REQUIREMENTS = {
    "sudo -n true": "its user may not use sudo without a password",
    "sudo -n docker info": "Docker is not installed, or is not running",
    "test -e /dev/kfd": "/dev/kfd does not exist: AMD's driver is not installed",
    "command -v curl": "curl is not installed",
    "command -v systemctl": "systemd is not installed",
}


async def check_hosts(settings: Settings) -> dict[str, str]:
    """Return the problem of each unusable host in AMD_FLEET_HOSTS."""
    hosts, jump_host = configured_hosts(settings)
    key = settings.fleet_ssh_key
    if key is None or not hosts:
        return {}
    private_key = await asyncio.to_thread(key.read_text)
    jump = (ssh_hop(jump_host),) if jump_host else ()
    routes = [
        SSHRoute(hops=(*jump, ssh_hop(host, is_dstack_host=True)), private_key=private_key, jump_key=key)
        for host in hosts
    ]
    problems = zip(hosts, await asyncio.gather(*map(_problem, routes)), strict=True)
    return {host.host: problem for host, problem in problems if problem}


async def _problem(route: SSHRoute) -> str:
    """Return the problem of the last server of a route; empty if it has none."""
    # Each failed command prints its number.
    script = "\n".join(
        f"({command}) >/dev/null 2>&1 || echo {number}" for number, command in enumerate(_REQUIREMENTS)
    )
    try:
        printed = await run_ssh_command(route, script)
    except DstackFailed as error:
        return error.message.rstrip(".")
    failed = {int(word) for word in printed.split() if word.isdigit()}
    return "; ".join(message for number, message in enumerate(_REQUIREMENTS.values()) if number in failed)
