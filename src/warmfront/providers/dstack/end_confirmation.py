"""Confirm the end of a VM with the cloud's list of machines and its record of ended machines.

dstack's report is not enough: it may report a VM as ended although the cloud refused to delete it, and it
takes minutes to notice that a VM has disappeared, such as a preempted spot VM. Without a key for the cloud,
dstack's report is the only source.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from warmfront.providers.base import Phase
from warmfront.providers.dstack.run_outcome import RunOutcome

if TYPE_CHECKING:
    from collections.abc import Mapping

    from warmfront.providers.base import Lease
    from warmfront.providers.clouds.base import CloudMachine
    from warmfront.providers.dstack.cloud_presence import Absence, CloudPresence
    from warmfront.providers.dstack.pool_mode import RunSnapshot
    from warmfront.settings import Settings

#: The cloud's list is read this often while it contains a VM that dstack reports as ended: a few seconds cost
#: less than a cent.
CONFIRM_POLL_S = 5.0
#: The oldest acceptable list while VMs end or do not respond, so that several such VMs share one request.
_RECENT_S = CONFIRM_POLL_S / 2
#: How long to wait for the list while a VM does not respond: a tunnel may have to be reopened.
_QUICK_S = 5.0
#: The oldest acceptable list otherwise.
_LIST_AGE_S = 120.0


class EndConfirmation:
    """The clouds' records of whether and when machines ended, and the machines that vanished."""

    def __init__(self, presence: CloudPresence, settings: Settings) -> None:
        self._presence = presence
        self._settings = settings
        self._vanished: dict[str, Absence] = {}  # by our id: VMs that ended without a request

    async def find_machine(self, run_name: str, machine_id: str | None) -> CloudMachine | None:
        """Return the machine of a run in the clouds' lists.

        None if there is none, or a cloud does not respond.
        """
        if not await self._presence.read(_LIST_AGE_S):
            return None
        return self._presence.find(run_name, machine_id)

    async def machines(self) -> Mapping[str, CloudMachine]:
        """Return the machines of all clouds by id; empty if a cloud does not respond."""
        return self._presence.machines if await self._presence.read(_LIST_AGE_S) else {}

    async def vanished(self, snapshot: RunSnapshot, running: Lease) -> Lease | None:
        """Return the ENDED lease of a VM that is not in the list although dstack counts its run as running.

        Only a run that has begun counts: a machine that is being created may not be in the list yet.
        """
        run = snapshot.run
        if snapshot.outcome is not RunOutcome.RUNNING or run.instance_id is None:
            return None
        if not self._is_listed(snapshot) or not await self._presence.read(_RECENT_S, wait_s=_QUICK_S):
            return None
        if self._presence.find(run.name, run.instance_id) is not None:
            return None
        absence = self._vanished.setdefault(running.vm_id, self._presence.absence(run.instance_id))
        ended_at, ended_after = absence.end(None)
        detail = "The cloud no longer has it."
        return replace(
            running,
            phase=Phase.ENDED,
            address=None,
            ended_at=ended_at,
            ended_after=ended_after,
            detail=detail,
        )

    async def confirm(self, ended: Lease, snapshot: RunSnapshot | None, run_name: str) -> Lease | None:
        """Return the lease of a VM that ended according to dstack; None while it is in the cloud's list.

        Args:
            ended: The lease according to dstack.
            snapshot: The VM's run; None if dstack has none.
            run_name: The name of its run.
        """
        machine_id = snapshot.run.instance_id if snapshot is not None else None
        if not await self._presence.read(_RECENT_S):
            unconfirmed = self._presence.unavailable_s >= self._settings.stop_lag_s
            return replace(ended, end_confirmed=False) if unconfirmed else None
        if self._presence.find(run_name, machine_id) is not None:
            return None
        if not self._is_listed(snapshot):
            return ended
        vanished = self._vanished.get(ended.vm_id)
        if vanished is not None:  # dstack recorded the time at which it noticed
            ended_at, ended_after = vanished.end(None)
        else:
            recorded_at = ended.ended_at if snapshot is not None else None
            ended_at, ended_after = self._presence.absence(machine_id).end(recorded_at)
        exact = await self._recorded_end(snapshot)
        if exact is not None:
            ended_at, ended_after = exact, None
        self._vanished.pop(ended.vm_id, None)
        return replace(ended, ended_at=ended_at, ended_after=ended_after, end_confirmed=True)

    async def _recorded_end(self, snapshot: RunSnapshot | None) -> float | None:
        """Return the end of a VM from the cloud's own record, on dstack's clock; None if there is no record.

        Only the lifetime in the record is used, because the clocks may differ.
        """
        if snapshot is None or snapshot.tenancy is None or snapshot.run.instance_id is None:
            return None
        lifetime = await self._presence.lifetime(snapshot.run.instance_id)
        if lifetime is None:
            return None
        return snapshot.tenancy.instance.created_at + max(0.0, lifetime.ended_at - lifetime.created_at)

    def _is_listed(self, snapshot: RunSnapshot | None) -> bool:
        """Return whether the lists cover the cloud of a VM.

        If its cloud is unknown, all clouds must be covered.
        """
        backends = set(self._settings.all_backends)
        if snapshot is not None and snapshot.run.backend is not None:
            backends = {snapshot.run.backend}
        return backends <= self._presence.backends
