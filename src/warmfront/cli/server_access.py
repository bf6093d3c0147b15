"""Access to a Warmfront server for the commands that need one: connect, and find ids by a prefix."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from warmfront.cli.error_report import report
from warmfront.client import AsyncClient
from warmfront.errors import NotFound, SubmissionNotFound, UsageError, WarmfrontError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from warmfront.client import Submission

#: Submissions per page, and the number of pages that are searched for an id's prefix.
PAGE_SIZE = 100
_MAX_PAGES = 50


def with_client(work: Callable[[AsyncClient], Awaitable[int]], *, as_json: bool) -> int:
    """Run `work` with a client and return its exit code; report an error as text or JSON."""

    async def connected() -> int:
        async with AsyncClient() as client:
            return await work(client)

    try:
        return asyncio.run(connected())
    except WarmfrontError as error:
        return report(error, as_json=as_json)


async def find_submission(client: AsyncClient, prefix: str) -> Submission:
    """Return the submission with this id, or the only one whose id starts with the prefix."""
    try:
        return await client.submission(prefix)
    except NotFound:
        matches = [item async for item in iterate_submissions(client) if _has_prefix(item.id, prefix)]
    if not matches:
        raise SubmissionNotFound(prefix)
    if len(matches) > 1:
        some = ", ".join(item.id for item in matches[:4])
        raise UsageError(
            f"{prefix!r} is a prefix of {len(matches)} ids: {some}.", hint="Give a longer prefix."
        )
    return matches[0]


async def iterate_submissions(
    client: AsyncClient, *, state: str | None = None, everyone: bool = False
) -> AsyncIterator[Submission]:
    """Yield submissions, newest first, up to `_MAX_PAGES` pages."""
    cursor = None
    for _ in range(_MAX_PAGES):
        page = await client.submissions(state=state, limit=PAGE_SIZE, cursor=cursor, everyone=everyone)
        for item in page.items:
            yield item
        cursor = page.next_cursor
        if cursor is None:
            return


def _has_prefix(submission_id: str, prefix: str) -> bool:
    """Return whether an id starts with a prefix, with or without the `sub_` that all ids share."""
    return submission_id.startswith(prefix) or submission_id.partition("_")[2].startswith(prefix)
