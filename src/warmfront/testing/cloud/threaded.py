"""A simulated cloud for tests that are not asynchronous: it runs in a thread of its own.

It adds no behaviour; every call is one of `SimulatedCloud`.
"""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any, Self

from warmfront.testing.cloud.simulated import SimulatedCloud

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from warmfront.testing.cloud.bill import Billed
    from warmfront.testing.cloud.switches import Switches
    from warmfront.testing.cloud.vm import VM

#: For anything that is asked of the cloud.
_PROMPT_S = 30.0


class CloudThread:
    """A context manager around a cloud and the event loop that it lives in."""

    backends = SimulatedCloud.backends

    def __init__(self, switches: Switches | None = None) -> None:
        self._cloud = SimulatedCloud(switches)
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
    def droplets(self) -> dict[str, VM]:
        """The VMs that exist."""
        return self._cloud.droplets

    def bill(self) -> list[Billed]:
        """Every VM that there ever was."""
        return self._cloud.bill()

    def billed(self, vm_id: str) -> Billed:
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
