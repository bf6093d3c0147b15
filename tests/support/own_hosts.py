"""Hosts for an SSH fleet, and the settings with which dstack and the service use them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import asyncssh

from tests.support.services import Service

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tests.dstack.harness import Stack


def add_hosts(stack: Stack, folder: Path, count: int, *, gpus: int = 1) -> dict[str, str]:
    """Add hosts that accept a new key, and return the variables that describe them to Warmfront."""
    key = asyncssh.generate_private_key("ssh-ed25519")
    file = folder / "host-key"
    key.write_private_key(file)
    public = key.export_public_key().decode()
    addresses = [stack.cloud.add_own_host(public, gpus=gpus) for _ in range(count)]
    return {"AMD_FLEET_HOSTS": ",".join(addresses), "AMD_FLEET_SSH_KEY": str(file)}


def create_fleet(stack: Stack, folder: Path, name: str, hosts: Mapping[str, str]) -> str:
    """Create an SSH fleet with our command, wait until its hosts are idle, and return its output."""
    commands = Service(
        folder,
        HOME=str(stack.server.home),
        DSTACK_SERVER_URL=stack.server.url,
        DSTACK_TOKEN=stack.server.token,
        DSTACK_PROJECT=stack.server.project,
        AMD_FLEET_NAME=name,
        **hosts,
    )
    created = commands.run("fleet", "create", "--yes")
    assert created.returncode == 0, created.stderr
    assert {instance.status.value for instance in stack.instances(name)} == {"idle"}
    return created.stdout
