"""Store which VMs operators have drained or pinned."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    """Add the columns; earlier VMs are neither drained nor pinned."""
    op.add_column("vms", sa.Column("draining", sa.Boolean, nullable=False, server_default=sa.false()))
    op.add_column("vms", sa.Column("pinned_until", sa.Double))
