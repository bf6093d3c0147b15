"""The data center: the VMs behind both APIs, from creation to end, and their bill.

Every VM is billed from its creation until it no longer exists, however it ended.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from typing import TYPE_CHECKING

import asyncssh

from tests.support.fake_cloud.bill import Bill
from tests.support.fake_cloud.network import AddressBlock
from tests.support.fake_cloud.vm import FakeVM

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from tests.support.fake_cloud.switches import Switches


class DataCenter:
    """The VMs of one fake cloud."""

    def __init__(self, folder: Path, switches: Switches) -> None:
        self._folder = folder
        self._numbers = itertools.count(1)
        self._addresses = AddressBlock()
        self._host_key = asyncssh.generate_private_key("ssh-ed25519")
        self.switches = switches
        self.bill = Bill(self.now)
        self._reclaims: set[asyncio.Task[None]] = set()
        self.waiting = 0  #: requests that silent APIs have not answered
        self.refused_at: dict[str, float] = {}  #: when a request was first failed by `broken`, per method
        self.vms: dict[str, FakeVM] = {}  #: existing VMs, by id
        self.own_hosts: dict[str, FakeVM] = {}  #: hosts of SSH fleets, by address; they are not billed

    def now(self) -> float:
        """Return the time of the cloud's clock."""
        return time.time() + self.switches.clock_skew_s

    def is_full(self, region: str = "") -> bool:
        """Return whether the capacity of the cloud, or of a region, is exhausted."""
        limit = self.switches.regions.get(region)
        in_region = sum(vm.region == region for vm in self.vms.values())
        return _reached(len(self.vms), self.switches.capacity) or _reached(in_region, limit)

    def next_number(self) -> int:
        """Return a number that no VM has had."""
        return next(self._numbers)

    def create(
        self,
        *,
        vm_id: str,
        number: int,
        name: str,
        backend: str,
        price: float,
        keys: Sequence[str],
        minimum_s: float = 0.0,
        shim_by_command: bool = False,
        region: str = "",
        spot: bool = False,
    ) -> FakeVM:
        """Create a VM, which starts to boot and to be billed."""
        folder = self._folder / vm_id
        folder.mkdir()
        vm = FakeVM(
            vm_id=vm_id,
            name=name,
            backend=backend,
            address=self._addresses.address(number),
            folder=folder,
            keys=keys,
            host_key=self._host_key,
            switches=self.switches,
            shim_by_command=shim_by_command,
            region=region,
            spot=spot,
            created_at=self.now(),
        )
        self.vms[vm_id] = vm
        self.bill.open(
            vm_id=vm_id,
            name=name,
            backend=backend,
            price=price,
            minimum_s=minimum_s,
            region=region,
            spot=spot,
        )
        if spot and self.switches.reclaims_spot_after_s is not None:
            reclaim = asyncio.create_task(self._reclaim(vm_id, self.switches.reclaims_spot_after_s))
            self._reclaims.add(reclaim)
            reclaim.add_done_callback(self._reclaims.discard)
        return vm

    def add_own_host(self, *, key: str, gpus: int) -> FakeVM:
        """Add a host for an SSH fleet, which accepts this public key."""
        number = self.next_number()
        folder = self._folder / f"host{number}"
        folder.mkdir()
        host = FakeVM(
            vm_id=f"host{number}",
            name=f"host{number}",
            backend="remote",
            address=self._addresses.address(number),
            folder=folder,
            keys=[key],
            host_key=self._host_key,
            switches=self.switches,
            shim_by_command=True,
            region="",
            spot=False,
            created_at=self.now(),
            own_host_gpus=gpus,
        )
        self.own_hosts[host.address] = host
        return host

    async def _reclaim(self, vm_id: str, after_s: float) -> None:
        await asyncio.sleep(after_s)
        await self.end(vm_id)

    async def end(self, vm_id: str) -> bool:
        """End a VM and everything on it; return False if it does not exist."""
        vm = self.vms.pop(vm_id, None)
        if vm is None:
            return False
        self.bill.close(vm_id)
        await vm.end()
        return True

    async def close(self) -> None:
        """End every VM."""
        for reclaim in list(self._reclaims):
            reclaim.cancel()
        for vm_id in list(self.vms):
            await self.end(vm_id)
        for host in self.own_hosts.values():
            await host.end()
        self._addresses.close()


def _reached(count: int, limit: int | None) -> bool:
    return limit is not None and count >= limit
