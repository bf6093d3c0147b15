"""Determine which dstack runs and instances are ours when several services share a project or a fleet.

The name of a run contains the owner id of its service. A run is ours if it has our id and is on one of our
fleets. It is also ours if its VM is in our records, which covers VMs that were leased before runs had owner
ids, or on another fleet. All other runs are foreign: they are reported and never touched.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from warmfront.providers.dstack.configuration import parse_run_name, run_name
from warmfront.providers.ownership import ForeignVM

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from warmfront.providers.dstack.client import DstackClient
    from warmfront.providers.dstack.resources import DstackInstance, DstackRun
    from warmfront.providers.ownership import Ownership


class OwnedRuns:
    """The runs of our VMs, as opposed to foreign ones."""

    def __init__(self, client: DstackClient, ownership: Ownership, fleets: Collection[str]) -> None:
        self._client = client
        self._ownership = ownership
        self._fleets = frozenset(fleets)
        self._unlabeled: set[str] = set()  # our ids whose runs are older than owner ids

    def name(self, our_id: str) -> str:
        """Return the run name of one of our VMs or attempts. The run may not exist yet."""
        return run_name(our_id, None if our_id in self._unlabeled else self._ownership.id)

    async def find(self, our_id: str) -> DstackRun | None:
        """Return the run of one of our VMs or attempts; None if dstack does not have it."""
        run = await self._client.run(self.name(our_id))
        if run is None and our_id not in self._unlabeled:
            run = await self._client.run(run_name(our_id))
            if run is not None:
                self._unlabeled.add(our_id)
        return run

    async def is_ours(self, name: str, fleets: Collection[str]) -> bool:
        """Return whether a run with this name on one of these fleets is one of our VMs."""
        label = parse_run_name(name)
        if label is None or not label.is_vm or label.owner not in {None, self._ownership.id}:
            return False
        if label.owner is not None and not self._fleets.isdisjoint(fleets):
            return True
        return await self._ownership.has_record(label.our_id)

    async def split(
        self, active: Iterable[DstackRun], last_tenants: Mapping[DstackInstance, str]
    ) -> tuple[list[str], list[ForeignVM]]:
        """Return the ids of our VMs, and the foreign VMs.

        Args:
            active: The active runs of all services in the project.
            last_tenants: The instances of our fleets, with the names of the runs that used them last.
        """
        our_ids, foreign = set(), []
        on_fleet = {name: instance for instance, name in last_tenants.items()}
        for run in active:
            label = parse_run_name(run.name)
            if await self.is_ours(run.name, run.fleets):
                our_ids.add(label.our_id if label else "")
            elif run.name not in on_fleet and label is not None and label.is_vm:
                foreign.append(_foreign_run(run))
        for instance, name in last_tenants.items():
            label = parse_run_name(name)
            if await self.is_ours(name, [instance.fleet or ""]):
                our_ids.add(label.our_id if label else "")
            else:
                foreign.append(_foreign_instance(instance, name))
        return sorted(our_ids), foreign


def _foreign_run(run: DstackRun) -> ForeignVM:
    label = parse_run_name(run.name)
    return ForeignVM(
        name=run.name,
        owner=label.owner if label else None,
        used_by=run.name,
        fleet=run.fleet or next(iter(run.fleets), None),
        status=run.status,
        hostname=run.hostname,
        backend=run.backend,
        rate_usd_per_h=run.price_usd_per_h,
        created_at=run.submitted_at,
    )


def _foreign_instance(instance: DstackInstance, used_by: str) -> ForeignVM:
    label = parse_run_name(used_by)
    return ForeignVM(
        name=instance.name,
        owner=label.owner if label else None,
        used_by=used_by,
        fleet=instance.fleet,
        status=instance.status,
        hostname=instance.hostname,
        backend=instance.backend,
        rate_usd_per_h=instance.price_usd_per_h,
        created_at=instance.created_at,
    )
