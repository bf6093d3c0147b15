"""Which VM is next to be used and which to be released, without looking at all of them.

Both are heaps with stale entries among the true ones: an entry counts only if its VM is still as it was
noted, so nothing needs to be taken out when a VM changes.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from warmfront.orchestrator.state import Machine


class FreeVMs:
    """VMs that can take an attempt: the emptiest first, then the one that is warm longest."""

    def __init__(self) -> None:
        self._heap: list[tuple[int, float, str]] = []
        self._machines: dict[str, Machine] = {}

    def offer(self, machine: Machine) -> None:
        """It may have become free."""
        if machine.takes_more:
            self._machines[machine.vm.id] = machine
            heapq.heappush(self._heap, self._entry(machine))

    def take(self) -> Machine | None:
        """The next one; it is offered again when it can take more."""
        while self._heap:
            entry = heapq.heappop(self._heap)
            machine = self._machines.get(entry[2])
            if machine is None:
                continue
            if not machine.takes_more:
                del self._machines[entry[2]]
            elif entry == self._entry(machine):
                return machine
        return None

    @staticmethod
    def _entry(machine: Machine) -> tuple[int, float, str]:
        return len(machine.running), machine.vm.ready_at or 0.0, machine.vm.id


class Deadlines:
    """VMs that have nothing to do, by the time at which they are released."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, str]] = []
        self._machines: dict[str, Machine] = {}

    def note(self, machine: Machine) -> None:
        """It may have a new deadline."""
        if machine.vm.deadline_at is not None:
            self._machines[machine.vm.id] = machine
            heapq.heappush(self._heap, (machine.vm.deadline_at, machine.vm.id))

    def next_at(self) -> float | None:
        """The first deadline that holds."""
        while self._heap:
            deadline_at, vm_id = self._heap[0]
            machine = self._machines.get(vm_id)
            if (
                machine is not None
                and machine.vm.deadline_at == deadline_at
                and not machine.running
                and not machine.going
            ):
                return deadline_at
            heapq.heappop(self._heap)
        return None

    def passed(self, now: float) -> list[Machine]:
        """Those whose deadline has come."""
        over = []
        while (deadline_at := self.next_at()) is not None and deadline_at <= now:
            over.append(self._machines.pop(heapq.heappop(self._heap)[1]))
        return over
