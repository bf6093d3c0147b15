"""Keep with each submission what it is expected to cost, so that daily caps count unfinished submissions."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Add the columns; submissions from before are expected to cost nothing and pay for no boot."""
    op.add_column("submissions", sa.Column("team", sa.Text))
    op.add_column(
        "submissions", sa.Column("expected_usd", sa.BigInteger, nullable=False, server_default=sa.text("0"))
    )
    op.add_column(
        "submissions", sa.Column("pays_boot", sa.Boolean, nullable=False, server_default=sa.false())
    )
