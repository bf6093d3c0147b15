"""Whether this machine can reach VMs through SSH, tested with VMs and hosts of a real dstack server."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from tests.dstack.test_provider import _home, new_id, provision, with_provider
from tests.dstack.test_ssh_fleet import create_fleet
from tests.support.own_hosts import add_hosts
from warmfront.errors import ProviderError
from warmfront.providers.dstack import fleet_setup, tunnels
from warmfront.providers.dstack.preflight import PreflightCheck, run_preflight
from warmfront.provisioning import FailureKind

if TYPE_CHECKING:
    from pathlib import Path

    from tests.dstack.conftest import MakeFleet
    from tests.dstack.harness import Stack
    from tests.support.fake_cloud import Switches
    from warmfront.providers.dstack.pool_mode import DstackProvider
    from warmfront.settings import Settings

pytestmark = pytest.mark.slow  # the real dstack server is slow


__all__ = ["_home"]  # a fixture for these tests, too


async def ssh_check(settings: Settings) -> PreflightCheck:
    """Return the line of `warmfront doctor` about SSH to VMs."""
    return next(check for check in await run_preflight(settings) if check.name == "ssh to VMs")


def test_connection_to_a_running_vm(stack: Stack, fleet: MakeFleet, switches: Switches) -> None:
    """Without a VM nothing can be tested; with one, the connection and the key are."""

    async def scenario(provider: DstackProvider) -> None:
        untested = await ssh_check(provider.settings)
        assert (untested.works, "no VM is running" in untested.detail) == (True, True)
        vm_id = new_id()
        await provision(provider, vm_id)
        reached = await ssh_check(provider.settings)
        assert (reached.works, reached.detail) == (True, "tested with 1 running VM")
        switches.rejects_user_keys = True
        refused = await ssh_check(provider.settings)
        assert not refused.works
        assert "Permission denied" in refused.detail
        assert "WARMFRONT_DSTACK_MODE=direct" in refused.hint
        direct = await ssh_check(replace(provider.settings, dstack_mode="direct"))
        assert (direct.works, "Direct mode works without it" in direct.detail) == (True, True)
        await provider.release(vm_id)

    with_provider(stack, fleet(), scenario)


def test_a_vm_that_only_dstack_reaches(
    stack: Stack, fleet: MakeFleet, switches: Switches, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Provisioning fails with a reason that opens the circuit breaker, instead of waiting for its timeout."""
    monkeypatch.setattr(tunnels, "GIVE_UP_FAILURES", 3)
    monkeypatch.setattr(tunnels, "GIVE_UP_S", 0.0)
    switches.rejects_user_keys = True

    async def scenario(provider: DstackProvider) -> None:
        vm_id = new_id()
        with pytest.raises(ProviderError, match=r"this machine cannot reach it.*Permission denied") as raised:
            await provision(provider, vm_id)
        assert raised.value.kind is FailureKind.NO_SSH
        assert raised.value.kind.repeats
        assert "WARMFRONT_DSTACK_MODE=direct" in (raised.value.hint or "")
        await provider.release(vm_id)

    with_provider(stack, fleet(), scenario)


def test_connection_to_hosts_of_an_ssh_fleet(stack: Stack, tmp_path: Path) -> None:
    """Hosts are tested before a VM is on them; one that does not respond is named."""
    hosts: dict[str, Any] = dict(add_hosts(stack, tmp_path, 2))

    async def scenario(provider: DstackProvider) -> None:
        await create_fleet(provider)
        reached = await ssh_check(provider.settings)
        assert (reached.works, reached.detail) == (True, "tested with 2 hosts, without logging in")
        lost = provider.settings.fleet_hosts[0].host
        stack.cloud.lose_own_host(lost)
        refused = await ssh_check(provider.settings)
        assert not refused.works
        assert f"Cannot open an SSH connection to root@{lost}:22" in refused.detail
        assert "run the service on a machine that can reach the hosts" in refused.hint
        await fleet_setup.delete(provider.client, provider.settings.fleet_name, within_s=600)

    with_provider(stack, "reached-hosts", scenario, **hosts)
