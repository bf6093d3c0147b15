"""Tenancies: the dstack instance of a run, and the part of the instance's time that is billed to the run.

dstack may reuse the instance of an earlier run, so one instance's bill can belong to several leases. The
tenancies of an instance divide its billed time without gaps. On a host of an SSH fleet, which exists before
and after its runs, a tenancy lasts as long as the run. This module only reads.
"""

from __future__ import annotations

import asyncio
import itertools
from operator import attrgetter
from typing import TYPE_CHECKING

from warmfront.providers.dstack.configuration import parse_run_name
from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warmfront.providers.dstack.assignment_events import InstanceAssignment
    from warmfront.providers.dstack.client import DstackClient
    from warmfront.providers.dstack.resources import DstackInstance, DstackRun


@dataclass(frozen=True, kw_only=True)
class Tenancy:
    """A run's time on an instance. Times are dstack's own, in seconds since 1970."""

    instance: DstackInstance
    started_at: float | None  #: start of the billed interval; None while the instance has no VM yet
    ended_at: float | None  #: end of the billed interval; None while the tenancy lasts
    handed_over: bool = False  #: another run has the instance now, which ended this tenancy

    @property
    def leaves_machine(self) -> bool:
        """Whether the machine outlives the tenancy: another run uses it, or it is a host of an SSH fleet."""
        return self.handed_over or self.instance.is_own_host


class TenancyIndex:
    """The tenancies of runs, with a cache of each run's assignment, which never changes."""

    def __init__(self, client: DstackClient) -> None:
        self._client = client
        self._assigned: dict[str, InstanceAssignment] = {}  # by the run's id

    async def tenancy(self, run: DstackRun, *, has_ended: bool) -> Tenancy | None:
        """Return the tenancy of a run; None if the run has no instance."""
        assigned = self._assigned.get(run.id) or await self._find_assignment(run)
        if assigned is None:
            return None
        instance = await self._client.instance(assigned.instance_id)
        if instance is None:
            return None
        if instance.is_own_host:
            ended_at = (run.finished_at or assigned.at) if has_ended else None
            return Tenancy(instance=instance, started_at=assigned.at, ended_at=ended_at)
        if not has_ended and instance.created_at >= run.submitted_at:
            return divide(instance, run.name, [])  # created for this run, and still used by it
        return divide(instance, run.name, await self._tenant_assignments(instance.id))

    async def last_tenant(self, instance: DstackInstance) -> str | None:
        """Return the name of the current or last run on this instance; None if there was none."""
        assignments = await self._tenant_assignments(instance.id)
        return max(assignments, key=attrgetter("at")).run if assignments else None

    async def last_tenants(
        self, instances: Sequence[DstackInstance], active: Sequence[DstackRun]
    ) -> dict[DstackInstance, str]:
        """Return the names of the current or last runs on these instances, where there was one.

        An instance is not looked up if it is known to have one of the active runs.
        """
        assigned = ((self._assigned.get(run.id), run.name) for run in active)
        known = {assignment.instance_id: name for assignment, name in assigned if assignment is not None}
        unknown = [instance for instance in instances if instance.id not in known]
        last = await asyncio.gather(*map(self.last_tenant, unknown))
        tenants = {instance: known.get(instance.id) for instance in instances} | dict(
            zip(unknown, last, strict=True)
        )
        return {instance: name for instance, name in tenants.items() if name is not None}

    async def _tenant_assignments(self, instance_id: str) -> list[InstanceAssignment]:
        """Return the assignments of tenants: all runs, including those of other services, except attempts."""
        assignments = await self._client.assignments(instance=instance_id)
        return [assignment for assignment in assignments if not _is_attempt(assignment.run)]

    async def _find_assignment(self, run: DstackRun) -> InstanceAssignment | None:
        assignments = await self._client.assignments(run=run.id)
        if not assignments:
            return None
        last = max(assignments, key=attrgetter("at"))  # dstack also records when a run leaves an instance
        on_last = (assigned for assigned in assignments if assigned.instance_id == last.instance_id)
        self._assigned[run.id] = min(on_last, key=attrgetter("at"))
        return self._assigned[run.id]


def _is_attempt(run: str) -> bool:
    """Return whether a run is an attempt of direct mode, which has no tenancy."""
    label = parse_run_name(run)
    return label is not None and label.is_attempt


def divide(instance: DstackInstance, run: str, assignments: Sequence[InstanceAssignment]) -> Tenancy:
    """Return a run's share of the instance's time.

    The first tenant's share starts when the instance was created; each share ends when the next tenant was
    assigned, and the last one when the instance ended.
    """
    in_order = sorted(assignments, key=attrgetter("at"))
    tenants = [next(group) for _, group in itertools.groupby(in_order, key=attrgetter("run"))]
    index = next((index for index, tenant in enumerate(tenants) if tenant.run == run), 0)
    is_billed = instance.price_usd_per_h is not None and instance.status != "pending"
    started_at = tenants[index].at if index else instance.created_at
    handed_over = index + 1 < len(tenants)
    if handed_over:
        ended_at: float | None = tenants[index + 1].at
    else:
        ended_at = instance.finished_at if instance.has_ended else None
    return Tenancy(
        instance=instance,
        started_at=started_at if is_billed else None,
        ended_at=ended_at,
        handed_over=handed_over,
    )
