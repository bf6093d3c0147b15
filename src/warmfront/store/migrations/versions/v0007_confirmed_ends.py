"""Store the cloud's id of a VM, when its end was requested, and whether the cloud confirmed the end."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Add the columns; the values are unknown for earlier VMs."""
    op.add_column("vms", sa.Column("machine_id", sa.Text))
    op.add_column("vms", sa.Column("release_requested_at", sa.Double))
    op.add_column("vms", sa.Column("end_confirmed", sa.Boolean))
