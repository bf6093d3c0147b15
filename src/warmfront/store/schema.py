"""The tables, as SQLAlchemy definitions. The migrations create them in a database.

SQLite and PostgreSQL share one schema, which uses only text, doubles, integers and booleans.
"""

from __future__ import annotations

import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from sqlalchemy import (
    DDL,
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    TypeDecorator,
    event,
    false,
    or_,
)

from warmfront.store.append_only import audit_log_triggers

if TYPE_CHECKING:
    from collections.abc import Collection

    from sqlalchemy import ColumnElement, Connection, Dialect

    from warmfront.submission import SubmissionState

#: The migration that creates the tables below.
REVISION = "0017"


class Usd(TypeDecorator[Decimal]):
    """Dollars, stored as whole billionths, so that sums are exact on every database."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: Decimal | None, dialect: Dialect) -> int | None:
        """Convert to billionths; a finer amount is a bug in the caller."""
        del dialect
        if value is None:
            return None
        billionths = Decimal(value).scaleb(9)
        whole = int(billionths)
        if whole != billionths:
            raise ValueError(f"${value} is not a whole number of billionths of a dollar")
        return whole

    def process_result_value(self, value: Any | None, dialect: Dialect) -> Decimal | None:  # noqa: ANN401 - int, or Decimal for a SUM
        """Convert from billionths; PostgreSQL returns a SUM of them as a Decimal."""
        del dialect
        return None if value is None else Decimal(value).scaleb(-9)


class Json(TypeDecorator[dict[str, Any]]):
    """An object, stored as JSON text that keeps the order of its keys."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: dict[str, Any] | None, dialect: Dialect) -> str:
        """Convert to text."""
        del dialect
        text = _encode(value)
        try:
            text.encode()
        except UnicodeEncodeError:  # an unpaired surrogate is valid in Python and JSON, not in UTF-8
            return _encode_ascii(value)
        return text

    def process_result_value(self, value: Any | None, dialect: Dialect) -> dict[str, Any]:  # noqa: ANN401 - text
        """Convert from text."""
        del dialect
        return json.loads(value or "{}")  # type: ignore[no-any-return]  # an object was stored


_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
_encode_ascii = json.JSONEncoder(allow_nan=False, separators=(",", ":")).encode

#: Every constraint has a name, so that a later migration can refer to it.
metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    }
)

submissions = Table(
    "submissions",
    metadata,
    Column("id", Text, primary_key=True),
    Column("owner", Text, nullable=False),
    Column("problem", Text, nullable=False),
    Column("gpu", Text, nullable=False),
    Column("dtype", Text, nullable=False),
    Column("language", Text, nullable=False),
    Column("endpoint", Text, nullable=False),
    Column("file_name", Text, nullable=False),
    Column("code_sha256", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("finished_at", Double),
    Column("verdict", Text),
    Column("vm_id", Text),
    Column("attempt_id", Text),
    Column("attempts", Integer, nullable=False),
    Column("cancel_requested", Boolean, nullable=False),
    Column("simulated", Boolean, nullable=False),
    Column("cost_usd", Usd),
    Column("team", Text),
    Column("daily_budget_usd", Usd),
    Column("expected_usd", Usd, nullable=False),
    Column("pays_boot", Boolean, nullable=False),
    Column("avg_runtime_ms", Double),
    Column("avg_ci_low_ms", Double),
    Column("avg_ci_high_ms", Double),
    Column("noisy", Boolean, nullable=False),
    Column("avg_gflops", Double),
    Column("last_event_id", Integer, nullable=False),
    Column("idempotency_key", Text),
    Column("request_sha256", Text, nullable=False),
    Index(None, "owner", "idempotency_key", unique=True),
    Index(None, "created_at", "id"),
    Index(None, "owner", "created_at", "id"),
    Index(None, "state", "created_at"),
    Index(None, "verdict", "attempts"),
    Index(None, "problem", "verdict"),
    Index(None, "finished_at"),
)

#: Separate from `submissions`, whose rows change with every event: SQLite would rewrite the code each time.
sources = Table(
    "sources",
    metadata,
    Column("submission_id", Text, ForeignKey("submissions.id"), primary_key=True),
    Column("code", Text, nullable=False),
    Column("problem_def", Text),
    Column("own_cases", Text),
    Column("launch", Text),
    Column("all_cases", Boolean, nullable=False, server_default=false()),
)

events = Table(
    "events",
    metadata,
    Column("submission_id", Text, ForeignKey("submissions.id"), primary_key=True),
    Column("id", Integer, primary_key=True, autoincrement=False),
    Column("time", Double, nullable=False),
    Column("body", Json, nullable=False),
)

attempts = Table(
    "attempts",
    metadata,
    Column("id", Text, primary_key=True),
    Column("submission_id", Text, ForeignKey("submissions.id"), nullable=False),
    Column("vm_id", Text, nullable=False),
    Column("number", Integer, nullable=False),
    Column("started_at", Double, nullable=False),
    Column("last_seq", Integer, nullable=False),
    Column("ended_at", Double),
    Column("outcome", Text, nullable=False),
    Column("cold", Boolean, nullable=False),
    Column("reason", Text, nullable=False),
    Column("slot", Integer, nullable=False),
    Index(None, "submission_id", "number"),
    Index(None, "outcome", "started_at"),
)

vms = Table(
    "vms",
    metadata,
    Column("id", Text, primary_key=True),
    Column("provider", Text, nullable=False),
    Column("gpu", Text, nullable=False),
    Column("state", Text, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("started_at", Double),
    Column("ready_at", Double),
    Column("deadline_at", Double),
    Column("ended_at", Double),
    Column("address", Text),
    Column("simulated", Boolean, nullable=False),
    Column("escrow_usd", Usd, nullable=False),
    Column("metered_until", Double),
    Column("provisioned_for", Text),
    Column("tasks_done", Integer, nullable=False),
    Column("failed", Boolean, nullable=False),
    Column("reason", Text, nullable=False),
    Column("machine_id", Text),
    Column("release_requested_at", Double),
    Column("end_confirmed", Boolean),
    Column("spot", Boolean, nullable=False),
    Column("preempted", Boolean, nullable=False),
    Column("gpu_count", Integer, nullable=False),
    Column("slots", Integer, nullable=False),
    Column("draining", Boolean, nullable=False),
    Column("pinned_until", Double),
    Column("rate_usd_per_h", Usd),
    Column("minimum_s", Double),
    Column("report", Json, nullable=False),
    Index(None, "state", "created_at"),
    Index(None, "created_at"),
)

#: No foreign key: a bill is recorded even for a VM that is otherwise unknown.
ledger = Table(
    "ledger",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("vm_id", Text, nullable=False),
    Column("meter", Text, nullable=False),
    Column("started_at", Double, nullable=False),
    Column("ended_at", Double, nullable=False),
    Column("day", Integer, nullable=False),
    Column("amount_usd", Usd, nullable=False),
    Column("submission_id", Text),
    Column("owner", Text),
    Index(None, "vm_id", "started_at"),
    Index(None, "submission_id"),
    Index(None, "owner", "started_at"),
    Index(None, "day"),
)

api_keys = Table(
    "api_keys",
    metadata,
    Column("id", Text, primary_key=True),
    Column("user_name", Text, nullable=False),
    Column("role", Text, nullable=False),
    Column("secret_sha256", Text, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("revoked_at", Double),
    Column("team", Text),
)

users = Table(
    "users",
    metadata,
    Column("name", Text, primary_key=True),
    Column("issuer", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("display_name", Text, nullable=False),
    Column("email", Text),
    Column("role", Text, nullable=False),
    Column("team", Text),
    Column("manages_team", Boolean, nullable=False),
    Column("daily_budget_usd", Usd),
    Column("created_at", Double, nullable=False),
    Column("last_sign_in_at", Double, nullable=False),
    Column("disabled_at", Double),
    Index(None, "issuer", "subject", unique=True),
    Index(None, "team"),
)

sessions = Table(
    "sessions",
    metadata,
    Column("id", Text, primary_key=True),
    Column("user_name", Text, ForeignKey("users.name"), nullable=False),
    Column("token_sha256", Text, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("expires_at", Double, nullable=False),
    Index(None, "user_name"),
    Index(None, "expires_at"),
)

invitations = Table(
    "invitations",
    metadata,
    Column("id", Text, primary_key=True),
    Column("secret_sha256", Text, nullable=False),
    Column("role", Text, nullable=False),
    Column("team", Text),
    Column("manages_team", Boolean, nullable=False),
    Column("daily_budget_usd", Usd),
    Column("note", Text, nullable=False),
    Column("created_by", Text, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("expires_at", Double, nullable=False),
    Column("used_by", Text),
    Column("used_at", Double),
    Column("revoked_at", Double),
)

shares = Table(
    "shares",
    metadata,
    Column("id", Text, primary_key=True),
    Column("kind", Text, nullable=False),
    Column("owner", Text, nullable=False),
    Column("visibility", Text, nullable=False),
    Column("submission_id", Text, ForeignKey("submissions.id")),
    Column("problem", Text),
    Column("content", Json, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("changed_at", Double, nullable=False),
    Index(None, "submission_id", unique=True),
    Index(None, "owner", "created_at"),
    Index(None, "visibility", "created_at"),
)

team_budgets = Table(
    "team_budgets",
    metadata,
    Column("team", Text, primary_key=True),
    Column("daily_budget_usd", Usd, nullable=False),
)

assignments = Table(
    "assignments",
    metadata,
    Column("id", Text, primary_key=True),
    Column("team", Text, nullable=False),
    Column("problem", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("deadline_at", Double, nullable=False),
    Column("created_by", Text, nullable=False),
    Column("created_at", Double, nullable=False),
    Index(None, "team", "deadline_at"),
)

usage = Table(
    "usage",
    metadata,
    Column("user_name", Text, primary_key=True),
    Column("kind", Text, primary_key=True),
    Column("window_start", Double, primary_key=True),
    Column("taken", Integer, nullable=False),
)

marks = Table(
    "marks",
    metadata,
    Column("name", Text, primary_key=True),
    Column("value", Text, nullable=False),
    Column("time", Double, nullable=False),
)

#: Append-only: triggers refuse every other change.
audit_log = Table(
    "audit_log",
    metadata,
    Column("seq", Integer, primary_key=True, autoincrement=False),
    Column("time", Double, nullable=False),
    Column("actor", Text, nullable=False),
    Column("via", Text, nullable=False),
    Column("action", Text, nullable=False),
    Column("subject", Text, nullable=False),
    Column("before", Json, nullable=False),
    Column("after", Json, nullable=False),
    Column("outcome", Text, nullable=False),
    Column("detail", Text, nullable=False),
    Column("previous_sha256", Text, nullable=False),
    Column("sha256", Text, nullable=False),
    Index(None, "actor", "seq"),
    Index(None, "action", "seq"),
    Index(None, "subject", "seq"),
)
for _statement in audit_log_triggers("sqlite"):  # databases on disk are migrated instead
    event.listen(audit_log, "after_create", DDL(_statement))  # type: ignore[no-untyped-call]


def state_in(states: Collection[SubmissionState]) -> ColumnElement[bool]:
    """Return the condition that a submission is in one of these states.

    It uses equality tests, because SQLAlchemy renders `in_` again for every execution.
    """
    return or_(*(submissions.c.state == state for state in sorted(states)))


def create_all(connection: Connection) -> None:
    """Create every table in an empty in-memory database. Databases on disk are migrated instead."""
    metadata.create_all(connection, checkfirst=False)
