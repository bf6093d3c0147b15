"""Record when a machine was in the cloud's own list and when it no longer was: evidence of a VM's end.

The list is read again if it is older than the caller accepts. It takes precedence over dstack: a machine in
the list exists, whatever dstack reports, and a machine that is no longer in the list is no longer billed.
"""

from __future__ import annotations

import asyncio
import logging
import re
from typing import TYPE_CHECKING

from warmfront.errors import ProviderError
from warmfront.providers.dstack.configuration import PREFIX
from warmfront.providers.ownership import OWNER_ID_DIGITS
from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from warmfront.providers.clouds.base import Cloud, CloudMachine, Lifetime

#: Names of droplets are truncated to this length, without the random part that dstack appends.
_NAME_LENGTH = 51
#: dstack records an end within this time after the cloud has deleted the machine.
_RECORDING_S = 10.0
#: The name of a VM's run within the name of a machine; a long project name truncates it.
_VM_RUN = re.compile(rf"{PREFIX}(?:[0-9a-f]{{{OWNER_ID_DIGITS}}}-)?vm-[0-9a-f]{{24}}")
_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Absence:
    """A machine that the cloud does not have. Times are seconds since 1970."""

    last_seen_at: float | None  #: when it was last in the list; None if it never was
    missing_at: float  #: when it was first found missing

    def end(self, recorded_at: float | None) -> tuple[float, float | None]:
        """Return the end of the machine, and its lower bound if it is known only as an interval.

        Args:
            recorded_at: The end that dstack recorded, which is exact unless the list contradicts it.
        """
        if recorded_at is None:
            return self.missing_at, self.last_seen_at
        if self.last_seen_at is None:
            return min(recorded_at, self.missing_at), None
        if self.last_seen_at <= recorded_at <= self.missing_at + _RECORDING_S:
            return recorded_at, None
        return self.missing_at, self.last_seen_at


class CloudPresence:
    """The latest lists of the clouds' machines, and when each was seen. Empty without clouds."""

    def __init__(self, clouds: Sequence[Cloud], project: str, now: Callable[[], float]) -> None:
        self._clouds = clouds
        self._prefix = f"dstack-{project}-"
        self._now = now
        self._reading: asyncio.Task[bool] | None = None
        self._read_at: float | None = None
        self._failing_since: float | None = None
        self._last_seen: dict[str, float] = {}
        self._missing: dict[str, float] = {}
        self.machines: dict[str, CloudMachine] = {}  #: by id, as of the last list

    @property
    def backends(self) -> frozenset[str]:
        """The backends whose machines are listed."""
        return frozenset(cloud.backend for cloud in self._clouds)

    @property
    def unavailable_s(self) -> float:
        """How long a cloud has not responded; 0 if all responded the last time."""
        return 0.0 if self._failing_since is None else self._now() - self._failing_since

    async def read(self, max_age_s: float, *, wait_s: float | None = None) -> bool:
        """Read the lists, unless the last ones are recent enough; return False if a cloud does not respond.

        Callers share a request that is in progress, and its failure, so that they do not wait for several
        failures.

        Args:
            max_age_s: The oldest acceptable list.
            wait_s: How long to wait for the response; None to wait until the request fails.
        """
        if self._read_at is not None and self._now() - self._read_at <= max_age_s:
            return True
        if self._reading is None:
            self._reading = asyncio.create_task(self._read())
        reading = self._reading
        await asyncio.wait([reading], timeout=wait_s)
        return reading.done() and reading.result()

    async def _read(self) -> bool:
        asked_at = self._now()
        try:
            lists = await asyncio.gather(*(cloud.machines() for cloud in self._clouds))
        except ProviderError as error:
            if self._failing_since is None:
                self._failing_since = asked_at
                _log.warning("cannot list the clouds' machines; retrying at the next read: %s", error.message)
            return False
        finally:
            self._reading = None
        self._failing_since = None
        machines = {machine.id: machine for listed in lists for machine in listed}
        self._record(machines, asked_at, self._now())
        return True

    def find(self, run_name: str, machine_id: str | None) -> CloudMachine | None:
        """Return the machine of a run, by its id or by the name that dstack gives to droplets."""
        if machine_id is not None and machine_id in self.machines:
            return self.machines[machine_id]
        prefix = f"{self._prefix}{run_name}"[:_NAME_LENGTH]
        return next((machine for machine in self.machines.values() if machine.name.startswith(prefix)), None)

    def run_name(self, machine: CloudMachine) -> str | None:
        """Return the name of the run that is part of a machine's name; None if there is none."""
        run = _VM_RUN.match(machine.name.removeprefix(self._prefix))
        return run[0] if run and machine.name.startswith(self._prefix) else None

    def absence(self, machine_id: str | None) -> Absence:
        """Return when a machine was first missing from the list."""
        assert self._read_at is not None  # noqa: S101 - the caller has read the list
        return Absence(
            last_seen_at=self._last_seen.get(machine_id or ""),
            missing_at=self._missing.get(machine_id or "", self._read_at),
        )

    async def lifetime(self, machine_id: str) -> Lifetime | None:
        """Return a cloud's own record of the lifetime of an ended machine; None if it has none."""
        for cloud in self._clouds:
            try:
                lifetime = await cloud.lifetime(machine_id)
            except ProviderError as error:
                _log.info("cannot read when machine %s ended: %s", machine_id, error.message)
                continue
            if lifetime is not None:
                return lifetime
        return None

    async def close(self) -> None:
        """Close the connections to the clouds."""
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.wait([self._reading])
        for cloud in self._clouds:
            await cloud.close()

    def _record(self, machines: dict[str, CloudMachine], asked_at: float, answered_at: float) -> None:
        for machine_id in machines:
            self._last_seen[machine_id] = asked_at
            self._missing.pop(machine_id, None)
        for machine_id in self._last_seen:
            if machine_id not in machines:
                self._missing.setdefault(machine_id, answered_at)
        self.machines = machines
        self._read_at = answered_at
