"""The machines of a simulated cloud, whichever API sold them: created, billed, lost and ended.

Every VM is on the bill from the moment that it is created to the moment that it is gone, however it went.
"""

from __future__ import annotations

import itertools
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
    """All VMs of one cloud."""

    def __init__(self, folder: Path, switches: Switches) -> None:
        self._folder = folder
        self._numbers = itertools.count(1)
        self._addresses = AddressBlock()
        self._host_key = asyncssh.generate_private_key("ssh-ed25519")
        self.switches = switches
        self.bill = Bill()
        self.waiting = 0  #: requests that the APIs have not answered yet, because they are silent
        self.vms: dict[str, FakeVM] = {}  #: those that exist, by id

    def is_full(self) -> bool:
        """Whether another VM cannot be had."""
        return self.switches.capacity is not None and len(self.vms) >= self.switches.capacity

    def next_number(self) -> int:
        """A number that no VM had before."""
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
    ) -> FakeVM:
        """A VM that begins to boot, and to cost."""
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
        )
        self.vms[vm_id] = vm
        self.bill.open(vm_id=vm_id, name=name, backend=backend, price=price, minimum_s=minimum_s)
        return vm

    async def end(self, vm_id: str) -> bool:
        """End a VM and all that runs on it; False if there is none."""
        vm = self.vms.pop(vm_id, None)
        if vm is None:
            return False
        self.bill.close(vm_id)
        await vm.end()
        return True

    async def close(self) -> None:
        """End every VM."""
        for vm_id in list(self.vms):
            await self.end(vm_id)
        self._addresses.close()
