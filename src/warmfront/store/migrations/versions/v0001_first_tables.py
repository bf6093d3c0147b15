"""Create the first tables: submissions and their events, attempts, VMs, the ledger, keys and counters."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create the tables, referenced tables first."""
    _submissions()
    _sources()
    _events()
    _attempts()
    _vms()
    _ledger()
    _api_keys()
    _usage()
    _marks()


def _submissions() -> None:
    op.create_table(
        "submissions",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("owner", sa.Text, nullable=False),
        sa.Column("problem", sa.Text, nullable=False),
        sa.Column("gpu", sa.Text, nullable=False),
        sa.Column("dtype", sa.Text, nullable=False),
        sa.Column("language", sa.Text, nullable=False),
        sa.Column("endpoint", sa.Text, nullable=False),
        sa.Column("file_name", sa.Text, nullable=False),
        sa.Column("code_sha256", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("created_at", sa.Double, nullable=False),
        sa.Column("finished_at", sa.Double),
        sa.Column("verdict", sa.Text),
        sa.Column("vm_id", sa.Text),
        sa.Column("attempt_id", sa.Text),
        sa.Column("attempts", sa.Integer, nullable=False),
        sa.Column("cancel_requested", sa.Boolean, nullable=False),
        sa.Column("simulated", sa.Boolean, nullable=False),
        sa.Column("cost_usd", sa.BigInteger),
        sa.Column("avg_runtime_ms", sa.Double),
        sa.Column("avg_gflops", sa.Double),
        sa.Column("last_event_id", sa.Integer, nullable=False),
        sa.Column("idempotency_key", sa.Text),
        sa.Column("request_sha256", sa.Text, nullable=False),
    )
    op.create_index("ix_submissions_created_at_id", "submissions", ["created_at", "id"])
    op.create_index("ix_submissions_finished_at", "submissions", ["finished_at"])
    op.create_index("ix_submissions_owner_created_at_id", "submissions", ["owner", "created_at", "id"])
    op.create_index(
        "ix_submissions_owner_idempotency_key", "submissions", ["owner", "idempotency_key"], unique=True
    )
    op.create_index("ix_submissions_problem_verdict", "submissions", ["problem", "verdict"])
    op.create_index("ix_submissions_state_created_at", "submissions", ["state", "created_at"])
    op.create_index("ix_submissions_verdict_attempts", "submissions", ["verdict", "attempts"])


def _sources() -> None:
    op.create_table(
        "sources",
        sa.Column("submission_id", sa.Text, sa.ForeignKey("submissions.id"), primary_key=True),
        sa.Column("code", sa.Text, nullable=False),
        sa.Column("problem_def", sa.Text),
    )


def _events() -> None:
    op.create_table(
        "events",
        sa.Column("submission_id", sa.Text, sa.ForeignKey("submissions.id"), primary_key=True),
        sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("time", sa.Double, nullable=False),
        sa.Column("body", sa.Text, nullable=False),
    )


def _attempts() -> None:
    op.create_table(
        "attempts",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("submission_id", sa.Text, sa.ForeignKey("submissions.id"), nullable=False),
        sa.Column("vm_id", sa.Text, nullable=False),
        sa.Column("number", sa.Integer, nullable=False),
        sa.Column("started_at", sa.Double, nullable=False),
        sa.Column("last_seq", sa.Integer, nullable=False),
        sa.Column("ended_at", sa.Double),
        sa.Column("outcome", sa.Text, nullable=False),
        sa.Column("cold", sa.Boolean, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
    )
    op.create_index("ix_attempts_outcome_started_at", "attempts", ["outcome", "started_at"])
    op.create_index("ix_attempts_submission_id_number", "attempts", ["submission_id", "number"])


def _vms() -> None:
    op.create_table(
        "vms",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("provider", sa.Text, nullable=False),
        sa.Column("gpu", sa.Text, nullable=False),
        sa.Column("state", sa.Text, nullable=False),
        sa.Column("created_at", sa.Double, nullable=False),
        sa.Column("started_at", sa.Double),
        sa.Column("ready_at", sa.Double),
        sa.Column("deadline_at", sa.Double),
        sa.Column("ended_at", sa.Double),
        sa.Column("address", sa.Text),
        sa.Column("simulated", sa.Boolean, nullable=False),
        sa.Column("escrow_usd", sa.BigInteger, nullable=False),
        sa.Column("metered_until", sa.Double),
        sa.Column("boots_for", sa.Text),
        sa.Column("tasks_done", sa.Integer, nullable=False),
        sa.Column("reason", sa.Text, nullable=False),
    )
    op.create_index("ix_vms_created_at", "vms", ["created_at"])
    op.create_index("ix_vms_state_created_at", "vms", ["state", "created_at"])


def _ledger() -> None:
    op.create_table(
        "ledger",
        sa.Column("id", sa.Integer, primary_key=True),
        sa.Column("vm_id", sa.Text, nullable=False),
        sa.Column("meter", sa.Text, nullable=False),
        sa.Column("started_at", sa.Double, nullable=False),
        sa.Column("ended_at", sa.Double, nullable=False),
        sa.Column("day", sa.Integer, nullable=False),
        sa.Column("amount_usd", sa.BigInteger, nullable=False),
        sa.Column("submission_id", sa.Text),
        sa.Column("owner", sa.Text),
    )
    op.create_index("ix_ledger_day", "ledger", ["day"])
    op.create_index("ix_ledger_owner_started_at", "ledger", ["owner", "started_at"])
    op.create_index("ix_ledger_submission_id", "ledger", ["submission_id"])
    op.create_index("ix_ledger_vm_id_started_at", "ledger", ["vm_id", "started_at"])


def _api_keys() -> None:
    op.create_table(
        "api_keys",
        sa.Column("id", sa.Text, primary_key=True),
        sa.Column("user_name", sa.Text, nullable=False),
        sa.Column("role", sa.Text, nullable=False),
        sa.Column("secret_sha256", sa.Text, nullable=False),
        sa.Column("created_at", sa.Double, nullable=False),
        sa.Column("revoked_at", sa.Double),
    )


def _usage() -> None:
    op.create_table(
        "usage",
        sa.Column("user_name", sa.Text, primary_key=True),
        sa.Column("kind", sa.Text, primary_key=True),
        sa.Column("window_start", sa.Double, primary_key=True),
        sa.Column("taken", sa.Integer, nullable=False),
    )


def _marks() -> None:
    op.create_table(
        "marks",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("value", sa.Text, nullable=False),
        sa.Column("time", sa.Double, nullable=False),
    )
