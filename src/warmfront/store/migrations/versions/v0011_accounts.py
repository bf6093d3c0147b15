"""Give keys the roles reader, author, operator and admin."""

from __future__ import annotations

from alembic import op

revision = "0011"
down_revision = "0009"


def upgrade() -> None:
    """Rename the role `user`, which is `author` now."""
    op.execute("UPDATE api_keys SET role = 'author' WHERE role = 'user'")
