"""The part of the store for users, sessions and invitations: one named method per transition or query."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warmfront.roles import Role
from warmfront.store import invitation_queries, operator_queries, profile_queries, user_queries

if TYPE_CHECKING:
    from decimal import Decimal

    from warmfront.audit_chain import Actor
    from warmfront.store.account_records import Identity, Invitation, Session, SignUpPolicy, User
    from warmfront.store.database import Database
    from warmfront.store.profile_queries import UserProfile


class AccountStore:
    """Named transactions and queries on accounts.

    Example:
        >>> user, token = await store.accounts.sign_in(identity, policy, clock.now(), session_s=86_400)
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def sign_in(
        self, identity: Identity, policy: SignUpPolicy, now: float, *, session_s: float
    ) -> tuple[User, str]:
        """Find or create the user behind an identity, and begin a session; return the user and its token.

        Raises:
            NotInvited: the person is not a user yet, and nothing allows them to become one.
            InvitationRejected: the invitation is unknown, used, expired or revoked.
            SignInRejected: an admin has disabled the user.
        """
        return await self._database.write(user_queries.sign_in, identity, policy, now, session_s=session_s)

    async def find_session(self, token: str, now: float) -> Session | None:
        """Return the session with this token; None if it is unknown or has expired."""
        return await self._database.read(user_queries.find_session, token, now)

    async def end_session(self, session_id: str) -> None:
        """End a session."""
        await self._database.write(user_queries.end_session, session_id)

    async def active_session_ids(self, now: float) -> frozenset[str]:
        """Return the ids of the sessions that have not expired."""
        return await self._database.read(user_queries.active_session_ids, now)

    async def find_user(self, name: str) -> User | None:
        """Return the user with this name."""
        return await self._database.read(user_queries.find, name)

    async def list_users(self) -> list[User]:
        """Return every user, by name."""
        return await self._database.read(user_queries.all_users)

    async def has_admin(self) -> bool:
        """Return whether there is a user with the role admin who is not disabled."""
        return any(user.role is Role.ADMIN and user.disabled_at is None for user in await self.list_users())

    async def change_user(
        self,
        name: str,
        now: float,
        *,
        role: Role,
        team: str | None,
        manages_team: bool,
        daily_budget_usd: Decimal | None,
        disabled: bool,
        by: Actor,
    ) -> User | None:
        """Change a user's role, team, budget or access, for an admin; None if there is no such user."""
        return await self._database.write(
            operator_queries.change_user,
            name,
            now,
            role=role,
            team=team,
            manages_team=manages_team,
            daily_budget_usd=daily_budget_usd,
            disabled=disabled,
            by=by,
        )

    async def claim_local_history(self, name: str) -> int:
        """Transfer the finished submissions of `local` to a user, with costs and shares; return how many."""
        return await self._database.write(user_queries.claim_local_history, name)

    async def count_local_history(self) -> int:
        """Return how many finished submissions `local` owns."""
        return await self._database.read(user_queries.count_local_history)

    async def profile(self, user: str, since: float) -> UserProfile:
        """Return the profile of a user, with the activity since `since`."""
        return await self._database.read(profile_queries.profile, user, since)

    async def create_invitation(
        self,
        *,
        role: Role,
        by: Actor,
        now: float,
        expires_at: float,
        team: str | None = None,
        manages_team: bool = False,
        daily_budget_usd: Decimal | None = None,
        note: str = "",
    ) -> tuple[Invitation, str]:
        """Create an invitation; return it with its secret, which cannot be retrieved later."""
        return await self._database.write(
            operator_queries.create_invitation,
            now,
            role=role,
            expires_at=expires_at,
            team=team,
            manages_team=manages_team,
            daily_budget_usd=daily_budget_usd,
            note=note,
            by=by,
        )

    async def list_invitations(self) -> list[Invitation]:
        """Return every invitation, newest first."""
        return await self._database.read(invitation_queries.all_invitations)

    async def require_usable_invitation(self, secret: str, now: float) -> Invitation:
        """Return the unused invitation with this secret, or raise `InvitationRejected`."""
        return await self._database.read(invitation_queries.require_usable, secret, now)

    async def revoke_invitation(self, invitation_id: str, now: float, *, by: Actor) -> bool:
        """Revoke an invitation; return False if there is no unused one with this id."""
        return await self._database.write(operator_queries.revoke_invitation, invitation_id, now, by=by)
