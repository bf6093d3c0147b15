"""Which VM of dstack's a run of ours is on, and from when to when that VM's time is the run's.

dstack may put a run on a VM that an earlier one left, so the bill of one VM can belong to several leases;
cut here, they add up to it. Nothing is started or ended from here.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warmfront.providers.dstack.assignment_events import InstanceAssignment
    from warmfront.providers.dstack.client import DstackClient
    from warmfront.providers.dstack.resources import DstackInstance, DstackRun


@dataclass(frozen=True, kw_only=True)
class Tenancy:
    """A run's time on a VM. Times are dstack's own, in seconds since 1970."""

    instance: DstackInstance
    since: float | None  #: from when it is billed; None: dstack has no VM yet, only a place for one
    until: float | None  #: until when; None: it goes on
    is_last: bool  #: no other run came after it


class TenancyIndex:
    """Remembers where runs are: that does not change once it is known."""

    def __init__(self, client: DstackClient, prefix: str) -> None:
        """Runs are leases of VMs if their names begin with `prefix`; others only pass through."""
        self._client = client
        self._prefix = prefix
        self._instance_ids: dict[str, str] = {}  # by the run's id

    async def stay(self, run: DstackRun, *, is_over: bool) -> Tenancy | None:
        """Where it is or was; None if it has no VM."""
        instance_id = self._instance_ids.get(run.id) or await self._find(run)
        if instance_id is None:
            return None
        instance = await self._record(instance_id)
        if instance is None:
            return None
        if not is_over and instance.created_at >= run.submitted_at:
            return cut(instance, run.name, [])  # made for it, and still its own
        return cut(instance, run.name, await self._leases_of(instance_id))

    async def last_tenants(self, instances: Sequence[DstackInstance]) -> list[str]:
        """The names of the runs that were last on these VMs."""
        names = []
        for instance in instances:
            found = await self._leases_of(instance.id)
            names += [max(found, key=lambda each: each.at).run] if found else []
        return names

    async def _record(self, instance_id: str) -> DstackInstance | None:
        """Most that are asked for still live, and those that ended become ever more."""
        for only_active in (True, False):
            for instance in await self._client.instances(only_active=only_active):
                if instance.id == instance_id:
                    return instance
        return None

    async def _leases_of(self, instance_id: str) -> list[InstanceAssignment]:
        found = await self._client.assignments(instance=instance_id)
        return [each for each in found if each.run.startswith(self._prefix)]

    async def _find(self, run: DstackRun) -> str | None:
        found = await self._client.assignments(run=run.id)
        if not found:
            return None
        instance_id = max(found, key=lambda each: each.at).instance_id
        self._instance_ids[run.id] = instance_id
        return instance_id


def cut(instance: DstackInstance, run: str, found: Sequence[InstanceAssignment]) -> Tenancy:
    """The first run has the VM from its beginning, and each until the next one came."""
    tenants = [
        next(group)
        for _, group in itertools.groupby(sorted(found, key=lambda each: each.at), key=lambda each: each.run)
    ]
    number = next((number for number, tenant in enumerate(tenants) if tenant.run == run), 0)
    following = tenants[number + 1 :]
    is_billed = instance.price_usd_per_h is not None and instance.status != "pending"
    since = tenants[number].at if number else instance.created_at
    return Tenancy(
        instance=instance,
        since=since if is_billed else None,
        until=following[0].at if following else instance.finished_at if instance.is_over else None,
        is_last=not following,
    )
