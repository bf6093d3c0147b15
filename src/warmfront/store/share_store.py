"""The part of the store for shared submissions and X-rays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from warmfront.store import share_queries

if TYPE_CHECKING:
    from warmfront.store.account_records import Share, Visibility
    from warmfront.store.database import Database

#: How many shares a list has.
_LISTED = 100


class ShareStore:
    """Named transactions and queries on shared results."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def share_submission(self, share: Share) -> Share:
        """Share a submission; if it was shared before, change the visibility and keep its link."""
        return await self._database.write(share_queries.share_submission, share)

    async def create(self, share: Share) -> Share:
        """Store a new share."""
        return await self._database.write(share_queries.create, share)

    async def find(self, share_id: str) -> Share | None:
        """Return the share with this id."""
        return await self._database.read(share_queries.find, share_id)

    async def of_submission(self, submission_id: str) -> Share | None:
        """Return the share of a submission; None if it was never shared."""
        return await self._database.read(share_queries.of_submission, submission_id)

    async def set_visibility(self, share_id: str, visibility: Visibility, now: float) -> Share | None:
        """Change who may open a shared result; None if there is no such share."""
        return await self._database.write(share_queries.set_visibility, share_id, visibility, now)

    async def of_owner(self, owner: str) -> list[Share]:
        """Return the latest shares of a user, newest first, without the reports of X-rays."""
        return await self._database.read(share_queries.of_owner, owner, _LISTED)

    async def public(self) -> list[Share]:
        """Return the latest public shares, newest first, without the reports of X-rays."""
        return await self._database.read(share_queries.public, _LISTED)
