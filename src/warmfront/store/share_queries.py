"""Queries on shared submissions and X-rays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import bindparam, insert, select, update

from warmfront.store import schema
from warmfront.store.account_records import Share, SharedKind, Visibility

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

_T = schema.shares.c
_NAMES = tuple(Share.__dataclass_fields__)
_SHARES = select(*[_T[name] for name in _NAMES])


def share_submission(conn: Connection, share: Share) -> Share:
    """Share a submission; if it was shared before, change the visibility and keep its link."""
    row = conn.execute(_OF_SUBMISSION, {"submission_id": share.submission_id}).first()
    if row is None:
        return create(conn, share)
    earlier = _share(row)
    return set_visibility(conn, earlier.id, share.visibility, share.changed_at) or earlier


def create(conn: Connection, share: Share) -> Share:
    """Store a new share."""
    conn.execute(_CREATE, {name: getattr(share, name) for name in _NAMES})
    return share


_CREATE = insert(schema.shares)


def find(conn: Connection, share_id: str) -> Share | None:
    """Return the share with this id."""
    row = conn.execute(_FIND, {"id": share_id}).first()
    return None if row is None else _share(row)


_FIND = _SHARES.where(_T.id == bindparam("id"))


def of_submission(conn: Connection, submission_id: str) -> Share | None:
    """Return the share of a submission; None if it was never shared."""
    row = conn.execute(_OF_SUBMISSION, {"submission_id": submission_id}).first()
    return None if row is None else _share(row)


_OF_SUBMISSION = _SHARES.where(_T.submission_id == bindparam("submission_id"))


def set_visibility(conn: Connection, share_id: str, visibility: Visibility, now: float) -> Share | None:
    """Change who may open a shared result; None if there is no such share."""
    conn.execute(_SET, {"this": share_id, "to_visibility": visibility, "to_changed_at": now})
    return find(conn, share_id)


_SET = (
    update(schema.shares)
    .where(_T.id == bindparam("this"))
    .values(visibility=bindparam("to_visibility"), changed_at=bindparam("to_changed_at"))
)


def of_owner(conn: Connection, owner: str, limit: int) -> list[Share]:
    """Return the latest shares of a user, newest first, without the reports of X-rays."""
    return [_listed(row) for row in conn.execute(_OF_OWNER, {"owner": owner, "most": limit})]


def public(conn: Connection, limit: int) -> list[Share]:
    """Return the latest public shares, newest first, without the reports of X-rays."""
    return [_listed(row) for row in conn.execute(_PUBLIC, {"most": limit})]


_LISTED = select(*[_T[name] for name in _NAMES if name != "content"])
_NEWEST = (_T.created_at.desc(), _T.id)
_OF_OWNER = _LISTED.where(_T.owner == bindparam("owner")).order_by(*_NEWEST).limit(bindparam("most"))
_PUBLIC = _LISTED.where(_T.visibility == Visibility.PUBLIC).order_by(*_NEWEST).limit(bindparam("most"))


def _share(values: Sequence[Any]) -> Share:
    return _from_row(dict(zip(_NAMES, values, strict=True)))


def _listed(values: Sequence[Any]) -> Share:
    names = [name for name in _NAMES if name != "content"]
    return _from_row({**dict(zip(names, values, strict=True)), "content": {}})


def _from_row(row: dict[str, Any]) -> Share:
    row["kind"] = SharedKind(row["kind"])
    row["visibility"] = Visibility(row["visibility"])
    return Share(**row)
