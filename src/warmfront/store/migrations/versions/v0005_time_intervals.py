"""Store the confidence interval of a time with its submission, and whether the time is noisy."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Add the columns. The intervals of earlier results are unknown: the stored ones are too narrow."""
    op.add_column("submissions", sa.Column("avg_ci_low_ms", sa.Double))
    op.add_column("submissions", sa.Column("avg_ci_high_ms", sa.Double))
    op.add_column("submissions", sa.Column("noisy", sa.Boolean, nullable=False, server_default=sa.false()))
