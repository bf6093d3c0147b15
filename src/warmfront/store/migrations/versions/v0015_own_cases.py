"""Store the author's own cases of a check, and the launch of a scratch kernel."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    """Add the columns; earlier submissions have neither."""
    for name in ("own_cases", "launch"):
        op.add_column("sources", sa.Column(name, sa.Text))
