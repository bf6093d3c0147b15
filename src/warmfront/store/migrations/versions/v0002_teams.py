"""Add the team of an API key, by which the daily spending of a team is summed."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Add the column; existing keys belong to no team."""
    op.add_column("api_keys", sa.Column("team", sa.Text))
