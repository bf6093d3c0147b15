"""Add roles, users, sessions, invitations, shared results and assignments."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0009"

_USD = sa.BigInteger


def upgrade() -> None:
    """Create the tables; the role `user` of earlier keys is `author` now."""
    op.execute("UPDATE api_keys SET role = 'author' WHERE role = 'user'")
    op.add_column("submissions", sa.Column("daily_budget_usd", _USD))
    _create_users()
    _create_invitations()
    _create_shares()
    _create_assignments()


def _create_users() -> None:
    op.create_table(
        "users",
        sa.Column("name", sa.Text, nullable=False),
        sa.Column("issuer", sa.Text, nullable=False),
        sa.Column("subject", sa.Text, nullable=False),
        sa.Column("display_name", sa.Text, nullable=False),
        sa.Column("email", sa.Text),
        sa.Column("role", sa.Text, nullable=False),
        sa.Column("team", sa.Text),
        sa.Column("manages_team", sa.Boolean, nullable=False),
        sa.Column("daily_budget_usd", _USD),
        sa.Column("created_at", sa.Double, nullable=False),
        sa.Column("last_sign_in_at", sa.Double, nullable=False),
        sa.Column("disabled_at", sa.Double),
        sa.PrimaryKeyConstraint("name", name="pk_users"),
    )
    op.create_index("ix_users_issuer_subject", "users", ["issuer", "subject"], unique=True)
    op.create_index("ix_users_team", "users", ["team"])
    op.create_table(
        "sessions",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column(
            "user_name", sa.Text, sa.ForeignKey("users.name", name="fk_sessions_user_name"), nullable=False
        ),
        sa.Column("token_sha256", sa.Text, nullable=False),
        sa.Column("created_at", sa.Double, nullable=False),
        sa.Column("expires_at", sa.Double, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_sessions"),
    )
    op.create_index("ix_sessions_user_name", "sessions", ["user_name"])
    op.create_index("ix_sessions_expires_at", "sessions", ["expires_at"])


def _create_invitations() -> None:
    op.create_table(
        "invitations",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("secret_sha256", sa.Text, nullable=False),
        sa.Column("role", sa.Text, nullable=False),
        sa.Column("team", sa.Text),
        sa.Column("manages_team", sa.Boolean, nullable=False),
        sa.Column("daily_budget_usd", _USD),
        sa.Column("note", sa.Text, nullable=False),
        sa.Column("created_by", sa.Text, nullable=False),
        sa.Column("created_at", sa.Double, nullable=False),
        sa.Column("expires_at", sa.Double, nullable=False),
        sa.Column("used_by", sa.Text),
        sa.Column("used_at", sa.Double),
        sa.Column("revoked_at", sa.Double),
        sa.PrimaryKeyConstraint("id", name="pk_invitations"),
    )


def _create_shares() -> None:
    op.create_table(
        "shares",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("kind", sa.Text, nullable=False),
        sa.Column("owner", sa.Text, nullable=False),
        sa.Column("visibility", sa.Text, nullable=False),
        sa.Column("submission_id", sa.Text, sa.ForeignKey("submissions.id", name="fk_shares_submission_id")),
        sa.Column("problem", sa.Text),
        sa.Column("content", sa.Text, nullable=False),
        sa.Column("created_at", sa.Double, nullable=False),
        sa.Column("changed_at", sa.Double, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_shares"),
    )
    op.create_index("ix_shares_submission_id", "shares", ["submission_id"], unique=True)
    op.create_index("ix_shares_owner_created_at", "shares", ["owner", "created_at"])
    op.create_index("ix_shares_visibility_created_at", "shares", ["visibility", "created_at"])


def _create_assignments() -> None:
    op.create_table(
        "assignments",
        sa.Column("id", sa.Text, nullable=False),
        sa.Column("team", sa.Text, nullable=False),
        sa.Column("problem", sa.Text, nullable=False),
        sa.Column("title", sa.Text, nullable=False),
        sa.Column("deadline_at", sa.Double, nullable=False),
        sa.Column("created_by", sa.Text, nullable=False),
        sa.Column("created_at", sa.Double, nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_assignments"),
    )
    op.create_index("ix_assignments_team_deadline_at", "assignments", ["team", "deadline_at"])
