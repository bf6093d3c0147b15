"""Add the audit log, which is append-only."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from warmfront.store.append_only import audit_log_triggers

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    """Create the table, its indexes and its triggers."""
    texts = ("actor", "via", "action", "subject", "before", "after", "outcome", "detail")
    op.create_table(
        "audit_log",
        sa.Column("seq", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("time", sa.Double, nullable=False),
        *(sa.Column(name, sa.Text, nullable=False) for name in texts),
        sa.Column("previous_sha256", sa.Text, nullable=False),
        sa.Column("sha256", sa.Text, nullable=False),
    )
    for name in ("actor", "action", "subject"):
        op.create_index(f"ix_audit_log_{name}_seq", "audit_log", [name, "seq"])
    for statement in audit_log_triggers(op.get_bind().dialect.name):
        op.execute(statement)
