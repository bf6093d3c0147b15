"""`warmfront audit`: show the audit log of a server, and check its hash chain on this machine."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from warmfront.audit_chain import AuditEntry, check_chain
from warmfront.cli.formatting import print_columns, print_json
from warmfront.cli.server_access import with_client
from warmfront.errors import BadRequest

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from warmfront.client import AsyncClient, AuditLogEntry

#: The largest page that the service sends.
_PAGE = 500


def show(*, limit: int, actor: str | None, action: str | None, subject: str | None, as_json: bool) -> int:
    """Print the latest entries, newest first."""

    async def work(client: AsyncClient) -> int:
        entries = [
            entry async for entry in _newest_first(client, limit, actor=actor, action=action, subject=subject)
        ]
        if as_json:
            print_json([entry.to_json() for entry in entries])
        else:
            print_columns([_HEADING, *map(_row, entries)])
        return 0

    return with_client(work, as_json=as_json)


def check(*, expected: str | None, as_json: bool) -> int:
    """Download the whole log and check its chain here; `expected` is an entry noted earlier, `SEQ:SHA256`."""

    async def work(client: AsyncClient) -> int:
        noted = None if expected is None else _parse_noted(expected)
        entries = [_entry(entry) async for entry in _newest_first(client, None)][::-1]
        result = check_chain(entries)
        problem = result.problem or _contradiction(entries, noted)
        if as_json:
            print_json({**vars(result), "problem": problem, "intact": not problem})
        elif problem:
            print(f"The audit log was tampered with: {problem}.", file=sys.stderr)
        else:
            print(f"{result.entries} entries, chain intact.")
            print(f"head: {result.entries}:{result.head_sha256}")
        return 1 if problem else 0

    return with_client(work, as_json=as_json)


_HEADING = ("SEQ", "TIME", "ACTOR", "VIA", "ACTION", "SUBJECT", "OUTCOME", "CHANGE")


def _row(entry: AuditLogEntry) -> tuple[str, ...]:
    moment = datetime.fromtimestamp(entry.time, UTC).strftime("%Y-%m-%d %H:%M:%SZ")
    return (
        str(entry.seq),
        moment,
        entry.actor,
        entry.via,
        entry.action,
        entry.subject,
        entry.outcome.value,
        _change(entry),
    )


def _change(entry: AuditLogEntry) -> str:
    names = [*entry.before, *(name for name in entry.after if name not in entry.before)]
    parts = [f"{name}: {_value(entry.before, name)} → {_value(entry.after, name)}" for name in names]
    return "; ".join([*parts, *([entry.detail] if entry.detail else [])])


def _value(values: dict[str, Any], name: str) -> str:
    return str(values.get(name, "none"))


async def _newest_first(
    client: AsyncClient, limit: int | None, **filters: str | None
) -> AsyncIterator[AuditLogEntry]:
    """Yield entries, newest first; all of them if `limit` is None."""
    before, left = None, limit
    while left is None or left > 0:
        page = await client.audit(limit=_PAGE if left is None else min(left, _PAGE), before=before, **filters)
        for entry in page.items:
            yield entry
        if page.next_before is None:
            return
        before = page.next_before
        left = None if left is None else left - len(page.items)


def _entry(entry: AuditLogEntry) -> AuditEntry:
    return AuditEntry(**{name: getattr(entry, name) for name in AuditEntry.__dataclass_fields__})


def _parse_noted(text: str) -> tuple[int, str]:
    seq, _, digest = text.partition(":")
    if not seq.isdecimal() or len(digest) != 64:
        raise BadRequest(
            f"--head is {text[:80]!r}; allowed: SEQ:SHA256.", hint="Pass the `head` of an earlier check."
        )
    return int(seq), digest


def _contradiction(entries: list[AuditEntry], noted: tuple[int, str] | None) -> str:
    """Return how the log contradicts an entry that was noted earlier; empty if it does not."""
    if noted is None:
        return ""
    seq, digest = noted
    if len(entries) < seq:
        return f"it has {len(entries)} entries; entry {seq} was removed"
    return "" if not seq or entries[seq - 1].sha256 == digest else f"entry {seq} differs from the noted one"
