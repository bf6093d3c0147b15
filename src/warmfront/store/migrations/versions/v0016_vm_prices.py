"""Store the price of each VM."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    """Add the columns; earlier VMs keep the configured rate."""
    op.add_column("vms", sa.Column("rate_usd_per_h", sa.BigInteger))
    op.add_column("vms", sa.Column("minimum_s", sa.Double))
