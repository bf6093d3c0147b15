"""Store which VMs are spot VMs, and which of them were preempted."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Add the columns; earlier VMs count as on-demand VMs."""
    for name in ("spot", "preempted"):
        op.add_column("vms", sa.Column(name, sa.Boolean, nullable=False, server_default=sa.false()))
