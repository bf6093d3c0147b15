"""The cloud's bill: one entry per VM, from its creation to its end, by the cloud's own clock.

Tests compare our ledger with it, so it takes no input from dstack or from Warmfront.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, kw_only=True)
class BillEntry:
    """One VM on the bill. Times are in seconds since 1970."""

    id: str
    name: str
    backend: str  #: dstack's name of the cloud
    price: float  #: dollars per hour
    started_at: float
    ended_at: float | None = None  #: None: the VM still runs
    minimum_s: float = 0.0  #: the minimum time that is charged
    region: str = ""
    spot: bool = False

    def cost_usd(self, now: float | None = None) -> float:
        """Return the cost, up to now if the VM still runs."""
        until = self.ended_at if self.ended_at is not None else (now or time.time())
        return max(until - self.started_at, self.minimum_s) / 3600 * self.price


class Bill:
    """Entries for all VMs that the cloud ever had."""

    def __init__(self, now: Callable[[], float] = time.time) -> None:
        self._now = now
        self._entries: dict[str, BillEntry] = {}

    def open(
        self,
        *,
        vm_id: str,
        name: str,
        backend: str,
        price: float,
        minimum_s: float,
        region: str = "",
        spot: bool = False,
    ) -> None:
        """Start charging for a VM."""
        self._entries[vm_id] = BillEntry(
            id=vm_id,
            name=name,
            backend=backend,
            price=price,
            minimum_s=minimum_s,
            region=region,
            spot=spot,
            started_at=self._now(),
        )

    def close(self, vm_id: str) -> None:
        """Stop charging for a VM."""
        self._entries[vm_id] = replace(self._entries[vm_id], ended_at=self._now())

    def entry(self, vm_id: str) -> BillEntry:
        """Return the entry of one VM."""
        return self._entries[vm_id]

    def entries(self) -> list[BillEntry]:
        """Return all entries, oldest first."""
        return list(self._entries.values())
