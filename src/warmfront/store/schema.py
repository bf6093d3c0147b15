"""The tables, for queries to name; a database gets them by the migrations beside this.

One shape for SQLite and PostgreSQL: text, doubles, integers and booleans only. Nothing here runs a query.
"""

from __future__ import annotations

import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from sqlalchemy import (
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
)

if TYPE_CHECKING:
    from sqlalchemy import Connection, Dialect

#: The migration that makes the tables below.
REVISION = "0002"


class Usd(TypeDecorator[Decimal]):
    """Dollars, kept as whole billionths: exact on every database, and summed exactly."""

    impl = BigInteger
    cache_ok = True

    def process_bind_param(self, value: Decimal | None, dialect: Dialect) -> int | None:
        """To billionths; a finer amount is a mistake of the caller."""
        del dialect
        if value is None:
            return None
        billionths = Decimal(value).scaleb(9)
        whole = int(billionths)
        if whole != billionths:
            raise ValueError(f"{value} dollars are not a whole number of billionths")
        return whole

    def process_result_value(self, value: Any | None, dialect: Dialect) -> Decimal | None:  # noqa: ANN401 - SUM's is wider
        """From billionths; PostgreSQL's SUM of them is a Decimal already."""
        del dialect
        return None if value is None else Decimal(value).scaleb(-9)


class Json(TypeDecorator[dict[str, Any]]):
    """An object, kept as JSON text with its keys in their order."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: dict[str, Any] | None, dialect: Dialect) -> str:
        """To text."""
        del dialect
        text = _encode(value)
        try:
            text.encode()
        except UnicodeEncodeError:  # half a surrogate pair is text in Python and in JSON, and in no database
            return _encode_ascii(value)
        return text

    def process_result_value(self, value: Any | None, dialect: Dialect) -> dict[str, Any]:  # noqa: ANN401 - text
        """From text."""
        del dialect
        return json.loads(value or "{}")  # type: ignore[no-any-return]  # it was an object


_encode = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode
_encode_ascii = json.JSONEncoder(allow_nan=False, separators=(",", ":")).encode

#: Names for every constraint, so that a later migration can speak of it.
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
    Column("avg_runtime_ms", Double),
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

#: Apart from `submissions`, whose rows change with every event: SQLite would write the code anew each time.
sources = Table(
    "sources",
    metadata,
    Column("submission_id", Text, ForeignKey("submissions.id"), primary_key=True),
    Column("code", Text, nullable=False),
    Column("problem_def", Text),
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
    Column("boots_for", Text),
    Column("tasks_done", Integer, nullable=False),
    Column("reason", Text, nullable=False),
    Index(None, "state", "created_at"),
    Index(None, "created_at"),
)

#: Without a foreign key: a bill is written down even for a VM that nothing else is known of.
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


def create_all(connection: Connection) -> None:
    """Make every table in an empty database at once, as a simulation in memory wants; others migrate."""
    metadata.create_all(connection, checkfirst=False)
