"""The hash chain of the audit log."""

from __future__ import annotations

from dataclasses import replace

import pytest

from warmfront.audit_chain import Actor, AuditAction, AuditEntry, chained, check_chain

ADA = Actor(name="ada", via="key1")


def _log(number: int = 4) -> list[AuditEntry]:
    entries: list[AuditEntry] = []
    for seq in range(1, number + 1):
        record = ADA.record(AuditAction.VM_DRAIN, f"vm_{seq}", before={"draining": False}, detail="é")
        previous = entries[-1].sha256 if entries else ""
        entries.append(chained(record, seq=seq, time=1000.1239 + seq, previous_sha256=previous))
    return entries


def test_an_unchanged_log_is_intact() -> None:
    """The check returns the number of entries and the hash of the last."""
    entries = _log()
    result = check_chain(entries)
    assert (result.broken_at, result.entries, result.head_sha256) == (None, 4, entries[-1].sha256)
    assert check_chain([]).broken_at is None


@pytest.mark.parametrize(
    "change",
    [
        {"actor": "eve"},
        {"time": 999.0},
        {"subject": "vm_9"},
        {"before": {"draining": True}},
        {"after": {"draining": True}},
        {"outcome": "REFUSED"},
        {"detail": ""},
        {"via": "local"},
        {"action": "vm.pin"},
    ],
)
def test_a_changed_entry_is_found(change: dict[str, object]) -> None:
    """Every fact of an entry is part of its hash."""
    entries = _log()
    entries[1] = replace(entries[1], **change)  # type: ignore[arg-type]  # fields of an entry
    result = check_chain(entries)
    assert (result.broken_at, result.entries) == (2, 1)
    assert "entry 2 was changed" in result.problem


def test_a_removed_or_replaced_entry_is_found() -> None:
    """An entry cannot be removed, or replaced by another one that has a valid hash."""
    entries = _log()
    assert check_chain(entries[:1] + entries[2:]).problem.startswith("entry 2 is missing")
    forged = chained(
        ADA.record(AuditAction.VM_PIN, "vm_2"), seq=2, time=1.0, previous_sha256=entries[0].sha256
    )
    result = check_chain([entries[0], forged, *entries[2:]])
    assert (result.broken_at, result.head_sha256) == (3, forged.sha256)
    assert "does not follow" in result.problem
