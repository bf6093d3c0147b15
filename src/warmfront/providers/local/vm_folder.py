"""What the local provider knows of a VM, in a folder of its own: the stand-in for a cloud's account.

It outlives the service, so that a lease is found again with the times that it is billed by. Each change is
seen whole or not at all.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from warmfront.providers.base import Lease, Phase
from warmfront.providers.local.processes import Process

if TYPE_CHECKING:
    from pathlib import Path

#: How a cloud's boot divides: a machine is found, boots, pulls the image, starts the listener.
_SHARES = {Phase.QUEUED: 0.1, Phase.BOOTING: 0.3, Phase.PULLING: 0.5, Phase.STARTING: 0.1}
_ORDER = tuple(_SHARES)


@dataclass(frozen=True, kw_only=True)
class LocalVMRecord:
    """One VM, as it is written down."""

    vm_id: str
    gpu: str
    phase: Phase
    asked_at: float
    boot_s: float  #: how long the boot is drawn out; 0: as fast as it can be
    started_at: float | None = None  #: from when it is billed: when its machine boots
    ended_at: float | None = None
    address: str | None = None
    process: Process | None = None
    detail: str = ""

    @property
    def is_over(self) -> bool:
        """Whether its end is confirmed."""
        return self.phase is Phase.ENDED

    @property
    def boots(self) -> bool:
        """Whether it is in one of the phases that only time ends."""
        return self.phase in _ORDER[:-1]

    def begin_of(self, phase: Phase) -> float:
        """When this phase begins: READY at the earliest when the boot has taken its time."""
        shares = list(_SHARES.values())
        before = shares[: _ORDER.index(phase)] if phase in _ORDER else shares
        return self.asked_at + self.boot_s * sum(before)

    def at(self, now: float) -> LocalVMRecord:
        """The record as of `now`: a boot goes on whether or not anyone looks."""
        if self.phase not in _ORDER:
            return self
        phase = [each for each in _ORDER if self.begin_of(each) <= now or each is Phase.QUEUED][-1]
        started_at = None if phase is Phase.QUEUED else self.begin_of(Phase.BOOTING)
        return replace(self, phase=phase, started_at=started_at)

    @property
    def changes_at(self) -> float:
        """When the present phase of a boot is over."""
        following = (*_ORDER, Phase.READY)[_ORDER.index(self.phase) + 1]
        return self.begin_of(following)

    def lease(self) -> Lease:
        """What the rest of the program is told."""
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
    """The place of one VM: its record, its listener's log, and the address that the listener announced."""

    def __init__(self, vms: Path, vm_id: str) -> None:
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}", vm_id):
            raise ValueError(f"{vm_id!r} is no id of a VM")
        self._path = vms / vm_id
        self.log = self._path / "listener.log"
        self.announced = self._path / "listener.json"
        self._record = self._path / "lease.json"

    def load(self) -> LocalVMRecord | None:
        """The record, or None if there is none."""
        try:
            data: dict[str, Any] = json.loads(self._record.read_text())
        except FileNotFoundError:
            return None
        process = data.pop("process")
        return LocalVMRecord(
            **{**data, "phase": Phase(data["phase"]), "process": Process(**process) if process else None}
        )

    def save(self, record: LocalVMRecord) -> LocalVMRecord:
        """Write it down."""
        self._path.mkdir(mode=0o700, parents=True, exist_ok=True)
        draft = self._record.with_suffix(".new")
        draft.write_text(json.dumps(asdict(record), indent=1))
        draft.replace(self._record)
        return record

    def address(self) -> str | None:
        """Where the listener said that it listens; None until it does."""
        try:
            return str(json.loads(self.announced.read_text())["address"])
        except FileNotFoundError:
            return None

    def seen_alive(self, now: float) -> None:
        """Note that the VM was there at this time: should it be gone the next time, it was until now."""
        os.utime(self._record, (now, now))

    def last_sign_of_life(self) -> float:
        """When the VM last wrote anything, or was last seen."""
        return max(path.stat().st_mtime for path in (self._record, self.log, self.announced) if path.exists())

    def last_words(self) -> str:
        """The last line of the log, shortened."""
        try:
            lines = self.log.read_text(errors="replace").split("\n")
        except FileNotFoundError:
            return ""
        return next((line.strip()[:300] for line in reversed(lines) if line.strip()), "")
