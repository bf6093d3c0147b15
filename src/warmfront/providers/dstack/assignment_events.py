"""Which run was put on which VM, and when: dstack writes it down as events, and nowhere else.

By their targets' types and ids alone; the events' texts are for people.
"""

from __future__ import annotations

import re
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

#: dstack names a job after its run, its replica and its number.
_JOB_NAME = re.compile(r"(?P<run>.+)-\d+-\d+")


@dataclass(frozen=True, kw_only=True)
class InstanceAssignment:
    """A run came to a VM."""

    at: float  #: in seconds since 1970, UTC
    run: str  #: its name
    instance_id: str  #: dstack's


def listing(
    *, run: str | None = None, instance: str | None = None
) -> Callable[[Any], list[InstanceAssignment]]:
    """What asks dstack's client for all of one run, by its id, or of one VM; oldest first."""

    def work(api: Any) -> list[InstanceAssignment]:
        wanted: dict[str, list[uuid.UUID]] = {}
        if run is not None:
            wanted["within_runs"] = [uuid.UUID(run)]
        if instance is not None:
            wanted["target_instances"] = [uuid.UUID(instance)]
        events = api.events.list(**wanted, ascending=True)
        return [found for event in events if (found := _assignment(event)) is not None]

    return work


def _assignment(event: Any) -> InstanceAssignment | None:
    """An event that has a job and a VM as its targets is about the one coming to the other."""
    targets = {target.type: target for target in event.targets}
    job, instance = targets.get("job"), targets.get("instance")
    if job is None or instance is None or (name := _JOB_NAME.fullmatch(job.name)) is None:
        return None
    return InstanceAssignment(at=event.recorded_at.timestamp(), run=name["run"], instance_id=str(instance.id))
