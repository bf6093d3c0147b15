"""The hash chain of the audit log: every entry contains the hash of the one before it.

With the hash of one entry, a reader can check that no earlier entry was changed, removed or inserted. The
store appends entries; the command line checks the chain itself, without trusting the service.
"""

from __future__ import annotations

import hashlib
from dataclasses import field
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from warmfront.events import format_time
from warmfront.receipts.canonical import canonical_json
from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable

#: The hash before the first entry.
NO_HASH = ""


class AuditAction(StrEnum):
    """The kind of an action. Its values are stable, because programs may match on them."""

    VM_RELEASE = "vm.release"
    VM_DRAIN = "vm.drain"
    VM_PIN = "vm.pin"
    VM_UNPIN = "vm.unpin"
    INTAKE_PAUSE = "intake.pause"
    INTAKE_RESUME = "intake.resume"
    LIMITS_CHANGE = "limits.change"
    SUBMISSION_CANCEL = "submission.cancel"
    PROVISIONING_RESET = "provisioning.reset"
    KEY_CREATE = "key.create"
    KEY_REVOKE = "key.revoke"
    USER_CHANGE = "user.change"
    INVITATION_CREATE = "invitation.create"
    INVITATION_REVOKE = "invitation.revoke"
    TEAM_BUDGET = "team.budget"
    ALERT_TEST = "alert.test"


class AuditOutcome(StrEnum):
    """Whether the action took effect."""

    DONE = "DONE"
    REFUSED = "REFUSED"


@dataclass(frozen=True, kw_only=True)
class AuditRecord:
    """An action, to be appended to the audit log."""

    actor: str  #: the user who acted
    via: str  #: how they acted: the id of an API key, `session`, `local` without either, or `command line`
    action: str  #: an `AuditAction`
    subject: str  #: what was acted on, such as the id of a VM
    before: dict[str, Any] = field(default_factory=dict, hash=False)
    after: dict[str, Any] = field(default_factory=dict, hash=False)
    outcome: str = AuditOutcome.DONE.value  #: an `AuditOutcome`
    detail: str = ""  #: the actor's reason, or why the action was refused


@dataclass(frozen=True, kw_only=True)
class Actor:
    """The user who acts, and how they were identified."""

    name: str
    via: str  #: as in `AuditRecord`

    def record(
        self,
        action: AuditAction,
        subject: str,
        *,
        before: dict[str, Any] | None = None,
        after: dict[str, Any] | None = None,
        detail: str = "",
    ) -> AuditRecord:
        """Return the record of an action that takes effect."""
        return AuditRecord(
            actor=self.name,
            via=self.via,
            action=action.value,
            subject=subject,
            before=before or {},
            after=after or {},
            detail=detail,
        )

    def refused(self, action: AuditAction, subject: str, why: str) -> AuditRecord:
        """Return the record of an action that was refused."""
        return AuditRecord(
            actor=self.name,
            via=self.via,
            action=action.value,
            subject=subject,
            outcome=AuditOutcome.REFUSED.value,
            detail=why,
        )


@dataclass(frozen=True, kw_only=True)
class AuditEntry(AuditRecord):
    """An entry of the audit log."""

    seq: int  #: from 1, without gaps
    time: float  #: seconds since 1970, whole milliseconds
    previous_sha256: str
    sha256: str


@dataclass(frozen=True, kw_only=True)
class ChainCheck:
    """The result of checking the chain."""

    entries: int  #: how many entries were checked
    head_sha256: str  #: the hash of the last valid entry
    broken_at: int | None = None  #: the first invalid entry; None if the chain is intact
    problem: str = ""  #: what is wrong with it


def chained(record: AuditRecord, *, seq: int, time: float, previous_sha256: str) -> AuditEntry:
    """Return the entry of a record that follows the entry with the hash `previous_sha256`."""
    time = round(time, 3)
    facts = {name: getattr(record, name) for name in AuditRecord.__dataclass_fields__}
    digest = _digest(facts, seq=seq, time=time, previous_sha256=previous_sha256)
    return AuditEntry(**facts, seq=seq, time=time, previous_sha256=previous_sha256, sha256=digest)


def check_chain(entries: Iterable[AuditEntry]) -> ChainCheck:
    """Check the entries of an audit log, oldest first, up to the first invalid one."""
    count, previous_sha256 = 0, NO_HASH
    for entry in entries:
        problem = _problem(entry, seq=count + 1, previous_sha256=previous_sha256)
        if problem:
            return ChainCheck(
                entries=count, head_sha256=previous_sha256, broken_at=count + 1, problem=problem
            )
        count, previous_sha256 = count + 1, entry.sha256
    return ChainCheck(entries=count, head_sha256=previous_sha256)


def _problem(entry: AuditEntry, *, seq: int, previous_sha256: str) -> str:
    """Return why an entry does not continue the chain; empty if it does."""
    if entry.seq != seq:
        return f"entry {seq} is missing; the next one is {entry.seq}"
    if entry.previous_sha256 != previous_sha256:
        return f"entry {seq} does not follow entry {seq - 1}: the entries before it were replaced"
    facts = {name: getattr(entry, name) for name in AuditRecord.__dataclass_fields__}
    if entry.sha256 != _digest(facts, seq=seq, time=entry.time, previous_sha256=previous_sha256):
        return f"entry {seq} was changed: its hash does not match its content"
    return ""


def _digest(facts: dict[str, Any], *, seq: int, time: float, previous_sha256: str) -> str:
    moment = format_time(datetime.fromtimestamp(time, UTC))
    content = {**facts, "seq": seq, "time": moment, "previous_sha256": previous_sha256}
    return hashlib.sha256(canonical_json(content)).hexdigest()
