"""The fake cloud for synchronous tests: it runs in its own thread.

It adds no behavior; every call is forwarded to `FakeCloud`.
"""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any, Self

from tests.support.fake_cloud.cloud import FakeCloud

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from tests.support.fake_cloud.bill import BillEntry
    from tests.support.fake_cloud.switches import Switches
    from tests.support.fake_cloud.vm import FakeVM

#: Only a call that hangs takes this long: the cloud removes the files of all VMs when it closes, which takes
#: minutes on a busy machine.
_CALL_TIMEOUT_S = 900.0


class FakeCloudThread:
    """A context manager for a cloud and its event loop."""

    backends = FakeCloud.backends

    def __init__(self, switches: Switches | None = None) -> None:
        self._cloud = FakeCloud(switches)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="fake cloud", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self._call(self._cloud.__aenter__())
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._call(self._cloud.__aexit__())
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()

    @property
    def switches(self) -> Switches:
        """The cloud's switches, which a test may change at any time."""
        return self._cloud.switches

    @property
    def environment(self) -> dict[str, str]:
        """Variables for the dstack server."""
        return self._cloud.environment

    @property
    def droplets(self) -> dict[str, FakeVM]:
        """The existing VMs, by id."""
        return self._cloud.droplets

    def bill(self) -> list[BillEntry]:
        """Return the bill entries of all VMs, oldest first."""
        return self._cloud.bill()

    def billed(self, vm_id: str) -> BillEntry:
        """Return the bill entry of one VM."""
        return self._cloud.billed(vm_id)

    @property
    def waiting(self) -> int:
        """The number of requests that a silent API has not answered."""
        return self._cloud.waiting

    @property
    def refused_at(self) -> dict[str, float]:
        """When the switch `broken` first failed a request of each method, by the cloud's clock."""
        return self._cloud.refused_at

    def now(self) -> float:
        """Return the time of the cloud's clock."""
        return self._cloud.now()

    def add_own_host(self, key: str, *, gpus: int = 1) -> str:
        """Add a host for an SSH fleet, and return its address."""
        return str(self._call(self._cloud.add_own_host(key, gpus=gpus)))

    def lose_own_host(self, address: str) -> None:
        """Switch off a host of an SSH fleet."""
        self._call(self._cloud.lose_own_host(address))

    @property
    def own_hosts(self) -> dict[str, FakeVM]:
        """The hosts of SSH fleets, by address."""
        return self._cloud.own_hosts

    def vanish(self, vm_id: str) -> None:
        """Lose a VM."""
        self._call(self._cloud.vanish(vm_id))

    def interrupt(self, vm_id: str) -> None:
        """Reclaim a spot VM."""
        self._call(self._cloud.interrupt(vm_id))

    def _call(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(_CALL_TIMEOUT_S)
