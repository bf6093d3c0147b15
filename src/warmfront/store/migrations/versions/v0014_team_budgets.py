"""Add the daily budgets of teams."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    """Create the table; earlier teams have the configured budget."""
    op.create_table(
        "team_budgets",
        sa.Column("team", sa.Text, nullable=False),
        sa.Column("daily_budget_usd", sa.BigInteger, nullable=False),
        sa.PrimaryKeyConstraint("team", name="pk_team_budgets"),
    )
