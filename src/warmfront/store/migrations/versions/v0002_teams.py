"""Keys may belong to a team, whose dollars a day are counted together."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Those that there are belong to none."""
    op.add_column("api_keys", sa.Column("team", sa.Text))
