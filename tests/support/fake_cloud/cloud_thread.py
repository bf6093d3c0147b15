"""A simulated cloud for tests that are not asynchronous: it runs in a thread of its own.

It adds no behaviour; every call is one of `FakeCloud`.
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

#: For anything that is asked of the cloud.
_PROMPT_S = 30.0


class FakeCloudThread:
    """A context manager around a cloud and the event loop that it lives in."""

    backends = FakeCloud.backends

    def __init__(self, switches: Switches | None = None) -> None:
        self._cloud = FakeCloud(switches)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="simulated cloud", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        self._do(self._cloud.__aenter__())
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._do(self._cloud.__aexit__())
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()

    @property
    def switches(self) -> Switches:
        """To be changed at will."""
        return self._cloud.switches

    @property
    def environment(self) -> dict[str, str]:
        """For a dstack server."""
        return self._cloud.environment

    @property
    def droplets(self) -> dict[str, FakeVM]:
        """The VMs that exist."""
        return self._cloud.droplets

    def bill(self) -> list[BillEntry]:
        """Every VM that there ever was."""
        return self._cloud.bill()

    def billed(self, vm_id: str) -> BillEntry:
        """The record of one VM."""
        return self._cloud.billed(vm_id)

    @property
    def waiting(self) -> int:
        """Requests that the silent API keeps waiting."""
        return self._cloud.waiting

    def vanish(self, vm_id: str) -> None:
        """Lose a VM."""
        self._do(self._cloud.vanish(vm_id))

    def _do(self, work: Coroutine[Any, Any, Any]) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(_PROMPT_S)
