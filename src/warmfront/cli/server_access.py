"""What the commands against a server have in common: one connection, and ids by their beginning.

Nothing here knows a command.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from warmfront.cli.error_report import report
from warmfront.client import AsyncClient
from warmfront.errors import NotFound, SubmissionNotFound, UsageError, WarmfrontError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from warmfront.client import Submission

#: Submissions a request, and how far back a shortened id is looked for.
PAGE = 100
_MOST_PAGES = 50


def ask(work: Callable[[AsyncClient], Awaitable[int]], *, as_json: bool) -> int:
    """Do the work with a client; the exit code. What went wrong is said to a person or a program."""

    async def connected() -> int:
        async with AsyncClient() as client:
            return await work(client)

    try:
        return asyncio.run(connected())
    except WarmfrontError as error:
        return report(error, as_json=as_json)


async def find(client: AsyncClient, beginning: str) -> Submission:
    """The submission whose id is that or, alone, begins with it."""
    try:
        return await client.submission(beginning)
    except NotFound:
        found = [item async for item in listed(client) if _begins(item.id, beginning)]
    if not found:
        raise SubmissionNotFound(beginning)
    if len(found) > 1:
        some = ", ".join(item.id for item in found[:4])
        raise UsageError(f"{beginning!r} begins {len(found)} ids: {some}.", hint="Give more of it.")
    return found[0]


async def listed(
    client: AsyncClient, *, state: str | None = None, everyone: bool = False
) -> AsyncIterator[Submission]:
    """Submissions, newest first, as far back as anyone scrolls."""
    cursor = None
    for _ in range(_MOST_PAGES):
        page = await client.submissions(state=state, limit=PAGE, cursor=cursor, everyone=everyone)
        for item in page.items:
            yield item
        cursor = page.next_cursor
        if cursor is None:
            return


def _begins(identity: str, beginning: str) -> bool:
    """What all ids begin with may be left out."""
    return identity.startswith(beginning) or identity.partition("_")[2].startswith(beginning)
