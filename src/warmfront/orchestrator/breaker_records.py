"""The records of circuit breakers in the store, so that a restart does not pay for the same failure again.

A record applies as long as the settings that VMs depend on are the same: an operator who corrects a setting
and restarts the service does not have to reset the circuit breaker. A failure is recorded shortly after it
happens, and is forgotten if the service crashes before that.
"""

from __future__ import annotations

import hashlib
import json
import logging
from typing import TYPE_CHECKING

from warmfront.orchestrator.provisioning_state import ProvisioningState

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from warmfront.clock import Clock
    from warmfront.orchestrator.tasks import TaskSupervisor
    from warmfront.settings import Settings
    from warmfront.store.store import Store

log = logging.getLogger(__name__)

#: The settings that determine which VM is requested, and where.
_SETTINGS_OF_VMS = (
    "provider",
    "dstack_url",
    "dstack_project",
    "backend",
    "region",
    "fleet_name",
    "gpu_type",
    "gpu_memory",
    "worker_image",
    "worker_toolchain",
    "rate_usd_per_h",
    "mi325x_rate_usd_per_h",
    "cpu_fleet_name",
    "cpu_backend",
    "cpu_cores",
    "cpu_memory",
    "cpu_disk",
    "cpu_image",
    "cpu_rate_usd_per_h",
)


class BreakerRecords:
    """The stored failures of each GPU type: written one at a time, and restored after a restart."""

    def __init__(self, *, store: Store, tasks: TaskSupervisor, settings: Settings, clock: Clock) -> None:
        self._store = store
        self._tasks = tasks
        self._clock = clock
        self._settings_digest = _digest(settings)
        self._stored: dict[str, str] = {}  # by GPU type
        self._unwritten: dict[str, str] = {}
        self._is_writing = False

    def restore(self, records: Mapping[str, str]) -> Iterator[ProvisioningState]:
        """Yield the state of each GPU type whose record applies."""
        for gpu, text in records.items():
            self._stored[gpu] = text
            record = json.loads(text) if text else {}
            if record.pop("settings", None) != self._settings_digest:
                continue
            state = ProvisioningState.restored(gpu, record)
            if state.breaker is not None and state.is_open(self._clock.now()):
                log.warning(
                    "the circuit breaker of %s is still open: %s", gpu, state.breaker.reason.rstrip(".")
                )
            yield state

    def save(self, state: ProvisioningState) -> None:
        """Write the state of a GPU type in the background, if it has changed."""
        record = state.record()
        text = json.dumps({"settings": self._settings_digest, **record}) if record else ""
        if self._unwritten.get(state.gpu, self._stored.get(state.gpu, "")) == text:
            return
        self._unwritten[state.gpu] = text
        if not self._is_writing:
            self._is_writing = True
            self._tasks.spawn(self._write())

    async def _write(self) -> None:
        try:
            while self._unwritten:
                gpu, text = self._unwritten.popitem()
                self._stored[gpu] = text
                await self._store.save_breaker(gpu, text, self._clock.now())
        finally:
            self._is_writing = False


def _digest(settings: Settings) -> str:
    values = [str(getattr(settings, name)) for name in _SETTINGS_OF_VMS]
    return hashlib.sha256("\n".join(values).encode()).hexdigest()[:16]
