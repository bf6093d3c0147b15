"""Add the column `failed` to VMs, and rename `boots_for` to `provisioned_for`."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

#: How earlier versions marked the reason of a VM that was shutting down because it failed.
_PREFIX = "failed: "


def upgrade() -> None:
    """Move the mark from the text of `reason` into `failed`, and set it for VMs that ended as FAILED."""
    op.execute("ALTER TABLE vms RENAME COLUMN boots_for TO provisioned_for")
    op.add_column("vms", sa.Column("failed", sa.Boolean, nullable=False, server_default=sa.false()))
    vms = sa.table("vms", sa.column("state"), sa.column("reason"), sa.column("failed", sa.Boolean))
    marked = vms.c.reason.like(f"{_PREFIX}%")
    op.execute(sa.update(vms).where(sa.or_(marked, vms.c.state == "FAILED")).values(failed=True))
    op.execute(sa.update(vms).where(marked).values(reason=sa.func.substr(vms.c.reason, len(_PREFIX) + 1)))
