"""Store the expected cost of each submission, so that daily caps count unfinished submissions."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Add the columns; earlier submissions have an expected cost of 0 and do not pay for a boot."""
    op.add_column("submissions", sa.Column("team", sa.Text))
    op.add_column(
        "submissions", sa.Column("expected_usd", sa.BigInteger, nullable=False, server_default=sa.text("0"))
    )
    op.add_column(
        "submissions", sa.Column("pays_boot", sa.Boolean, nullable=False, server_default=sa.false())
    )
