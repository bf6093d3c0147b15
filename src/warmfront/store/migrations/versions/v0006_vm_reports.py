"""Store the report of a VM's listener about its GPUs and their health."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Add the column; earlier VMs have no report."""
    op.add_column("vms", sa.Column("report", sa.Text, nullable=False, server_default="{}"))
