"""Store how many GPUs and slots a VM has, and which slot an attempt uses."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    """Add the columns; earlier VMs had one GPU and one slot."""
    for name in ("gpu_count", "slots"):
        op.add_column("vms", sa.Column(name, sa.Integer, nullable=False, server_default="1"))
    op.add_column("attempts", sa.Column("slot", sa.Integer, nullable=False, server_default="0"))
