"""Store whether a check continues after a wrong answer."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    """Add the column; earlier checks ended with their first wrong answer."""
    op.add_column("sources", sa.Column("all_cases", sa.Boolean, nullable=False, server_default=sa.false()))
