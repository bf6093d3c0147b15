"""Find the next VM to use and the next to release without scanning the pool.

Both indexes are heaps with lazy deletion: an entry is valid only if its VM still has the values of the entry,
so nothing is removed when a VM changes.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from warmfront.orchestrator.pooled_vm import PooledVM


class FreeVMIndex:
    """VMs of one GPU type that can take an attempt.

    Busy VMs come first, so that the others become idle and are released: the busiest, then the VM with the
    fewest slots, then the VM that has been ready longest.
    """

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, float, str]] = []
        self._vms: dict[str, PooledVM] = {}

    def add(self, pooled: PooledVM) -> None:
        """Add a VM if it can take an attempt."""
        if pooled.accepts_attempts:
            self._vms[pooled.vm.id] = pooled
            heapq.heappush(self._heap, self._entry(pooled))

    def take(self) -> PooledVM | None:
        """Remove and return the next VM; add it again if it can take more attempts."""
        while self._heap:
            entry = heapq.heappop(self._heap)
            pooled = self._vms.get(entry[-1])
            if pooled is None:
                continue
            if not pooled.accepts_attempts:
                del self._vms[entry[-1]]
            elif entry == self._entry(pooled):
                return pooled
        return None

    @staticmethod
    def _entry(pooled: PooledVM) -> tuple[int, int, float, str]:
        vm = pooled.vm
        return -len(pooled.running), vm.slots, vm.ready_at or 0.0, vm.id


class DeadlineIndex:
    """Free VMs by their release deadline."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, str]] = []
        self._vms: dict[str, PooledVM] = {}

    def add(self, pooled: PooledVM) -> None:
        """Add a VM if it has a deadline."""
        if pooled.vm.deadline_at is not None:
            self._vms[pooled.vm.id] = pooled
            heapq.heappush(self._heap, (pooled.vm.deadline_at, pooled.vm.id))

    def next_at(self) -> float | None:
        """Return the earliest valid deadline."""
        while self._heap:
            deadline_at, vm_id = self._heap[0]
            pooled = self._vms.get(vm_id)
            if pooled is not None and pooled.vm.deadline_at == deadline_at and pooled.is_free:
                return deadline_at
            heapq.heappop(self._heap)
        return None

    def pop_expired(self, now: float) -> list[PooledVM]:
        """Remove and return the VMs whose deadline has passed."""
        expired = []
        while (deadline_at := self.next_at()) is not None and deadline_at <= now:
            expired.append(self._vms.pop(heapq.heappop(self._heap)[1]))
        return expired
