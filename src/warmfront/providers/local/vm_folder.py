"""A local VM's folder: its lease record, and its listener's log, socket and announced address.

The folders correspond to a cloud account: they outlive the service, so that a lease and its billed interval
are found again. Each update of a record is atomic.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from warmfront.providers.base import Lease, Phase
from warmfront.providers.local.processes import Process
from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from pathlib import Path

#: The phases' shares of a boot in a rehearsal: find a machine, boot it, pull the image, start the listener.
_SHARES = {Phase.QUEUED: 0.1, Phase.BOOTING: 0.3, Phase.PULLING: 0.5, Phase.STARTING: 0.1}
_BOOT_PHASES = tuple(_SHARES)


@dataclass(frozen=True, kw_only=True)
class LocalVMRecord:
    """One VM, as stored in its folder."""

    vm_id: str
    gpu: str
    phase: Phase
    asked_at: float  #: when it was requested
    boot_s: float  #: duration of the boot in a rehearsal; 0 for as fast as possible
    started_at: float | None = None  #: start of the billed interval: the beginning of BOOTING
    ended_at: float | None = None
    address: str | None = None
    process: Process | None = None
    detail: str = ""

    @property
    def has_ended(self) -> bool:
        """Whether its end is confirmed."""
        return self.phase is Phase.ENDED

    @property
    def is_waiting(self) -> bool:
        """Whether the VM is in a phase that ends after a fixed time."""
        return self.phase in _BOOT_PHASES[:-1]

    def begin_of(self, phase: Phase) -> float:
        """Return when this phase begins; for READY, the earliest time."""
        shares = list(_SHARES.values())
        before = shares[: _BOOT_PHASES.index(phase)] if phase in _BOOT_PHASES else shares
        return self.asked_at + self.boot_s * sum(before)

    def at(self, now: float) -> LocalVMRecord:
        """Return the record as of `now`. A boot continues even while no service is running."""
        if self.phase not in _BOOT_PHASES:
            return self
        begun = [phase for phase in _BOOT_PHASES if self.begin_of(phase) <= now]
        phase = begun[-1] if begun else Phase.QUEUED
        started_at = None if phase is Phase.QUEUED else self.begin_of(Phase.BOOTING)
        return replace(self, phase=phase, started_at=started_at)

    @property
    def changes_at(self) -> float:
        """When the current phase of the boot ends."""
        following = (*_BOOT_PHASES, Phase.READY)[_BOOT_PHASES.index(self.phase) + 1]
        return self.begin_of(following)

    def lease(self) -> Lease:
        """Return the lease that the provider reports."""
        return Lease(
            vm_id=self.vm_id,
            phase=self.phase,
            gpu=self.gpu,
            started_at=self.started_at,
            ended_at=self.ended_at,
            address=self.address,
            detail=self.detail,
        )


class VMFolder:
    """The folder of one VM."""

    def __init__(self, vms: Path, vm_id: str) -> None:
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}", vm_id):
            raise ValueError(f"{vm_id!r} is not a valid VM id")
        self._path = vms / vm_id
        self.log = self._path / "listener.log"
        self.announcement = self._path / "listener.json"
        self.socket = self._path / "listener.sock"  #: only this user can connect to it
        self._record = self._path / "lease.json"

    def load(self) -> LocalVMRecord | None:
        """Read the record; None if there is none."""
        try:
            data: dict[str, Any] = json.loads(self._record.read_text())
        except FileNotFoundError:
            return None
        process = data.pop("process")
        return LocalVMRecord(
            **{**data, "phase": Phase(data["phase"]), "process": Process(**process) if process else None}
        )

    def save(self, record: LocalVMRecord) -> LocalVMRecord:
        """Replace the record atomically and return it."""
        self._path.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = self._record.with_suffix(".new")
        draft.write_text(json.dumps(asdict(record), indent=1))
        draft.replace(self._record)
        return record

    def address(self) -> str | None:
        """Return the address that the listener announced; None until it listens."""
        try:
            return str(json.loads(self.announcement.read_text())["address"])
        except FileNotFoundError:
            return None

    def note_alive(self, now: float) -> None:
        """Record that the VM was alive at this time, in case it has ended at the next check."""
        os.utime(self._record, (now, now))

    def last_alive_at(self) -> float:
        """Return when the VM last wrote a file or was last seen alive."""
        files = (self._record, self.log, self.announcement)
        return max(path.stat().st_mtime for path in files if path.exists())

    def last_log_line(self) -> str:
        """Return the last line of the listener's log, shortened."""
        try:
            lines = self.log.read_text(errors="replace").split("\n")
        except FileNotFoundError:
            return ""
        return next((line.strip()[:300] for line in reversed(lines) if line.strip()), "")
