"""What a cloud charges: one record a VM, by the cloud's own clock, from its creation to its end.

It is what a ledger is held against, so it learns nothing from dstack or from us.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace


@dataclass(frozen=True, kw_only=True)
class BillEntry:
    """One VM on the bill. Times are in seconds since 1970."""

    id: str
    name: str
    backend: str  #: as dstack calls it
    price: float  #: dollars an hour
    started_at: float
    ended_at: float | None = None  #: None: it still runs
    minimum_s: float = 0.0  #: is paid for in any case

    def cost_usd(self, now: float | None = None) -> float:
        """What it costs, until now if it still runs."""
        until = self.ended_at if self.ended_at is not None else (now or time.time())
        return max(until - self.started_at, self.minimum_s) / 3600 * self.price


class Bill:
    """Every VM that a cloud ever had."""

    def __init__(self) -> None:
        self._records: dict[str, BillEntry] = {}

    def open(self, *, vm_id: str, name: str, backend: str, price: float, minimum_s: float) -> None:
        """From now on the VM is charged for."""
        self._records[vm_id] = BillEntry(
            id=vm_id, name=name, backend=backend, price=price, minimum_s=minimum_s, started_at=time.time()
        )

    def close(self, vm_id: str) -> None:
        """Until now it was."""
        self._records[vm_id] = replace(self._records[vm_id], ended_at=time.time())

    def record(self, vm_id: str) -> BillEntry:
        """Of one VM."""
        return self._records[vm_id]

    def records(self) -> list[BillEntry]:
        """All records, the oldest first."""
        return list(self._records.values())
