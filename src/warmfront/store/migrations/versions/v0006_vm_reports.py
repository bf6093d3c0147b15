"""Keep what the listener of a VM reports about its GPUs and their health."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Add the column; earlier VMs reported nothing."""
    op.add_column("vms", sa.Column("report", sa.Text, nullable=False, server_default="{}"))
