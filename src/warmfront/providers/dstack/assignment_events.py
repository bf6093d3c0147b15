"""Assignments of runs to instances, with their times. dstack records them only as events.

Only the types and ids of an event's targets are read; its text is meant for display.
"""

from __future__ import annotations

import re
import uuid
from typing import TYPE_CHECKING, Any

from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable

#: dstack names a job after its run, its replica and its number.
_JOB_NAME = re.compile(r"(?P<run>.+)-\d+-\d+")


@dataclass(frozen=True, kw_only=True)
class InstanceAssignment:
    """The assignment of a run to an instance."""

    at: float  #: seconds since 1970, UTC
    run: str  #: the run's name
    instance_id: str  #: dstack's id


def list_assignments(
    *, run: str | None = None, instance: str | None = None
) -> Callable[[Any], list[InstanceAssignment]]:
    """Return a call that lists the assignments of one run or instance, by id, oldest first."""

    def call(api: Any) -> list[InstanceAssignment]:
        filters: dict[str, list[uuid.UUID]] = {}
        if run is not None:
            filters["within_runs"] = [uuid.UUID(run)]
        if instance is not None:
            filters["target_instances"] = [uuid.UUID(instance)]
        events = api.events.list(**filters, ascending=True)
        return [assignment for event in events if (assignment := _read_assignment(event)) is not None]

    return call


def _read_assignment(event: Any) -> InstanceAssignment | None:
    """Return the assignment in an event; None unless the targets are a job and an instance."""
    targets = {target.type: target for target in event.targets}
    job, instance = targets.get("job"), targets.get("instance")
    if job is None or instance is None or (name := _JOB_NAME.fullmatch(job.name)) is None:
        return None
    return InstanceAssignment(at=event.recorded_at.timestamp(), run=name["run"], instance_id=str(instance.id))
