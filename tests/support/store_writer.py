"""A process that writes to a store until it is killed, and prints each write after it was acknowledged.

Run as `python -m tests.support.store_writer DATA_DIR [DATABASE_URL]`.
"""

from __future__ import annotations

import asyncio
import itertools
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tests.support.store_samples import IN_QUEUE, new_submission
from warmfront.settings import Settings
from warmfront.store import event_queries, submission_queries
from warmfront.store.sql_database import open_store

if TYPE_CHECKING:
    from warmfront.store.store import Store

TASKS = 8


async def main(data_dir: str, database_url: str | None = None) -> None:
    """Write in several tasks at once, so that the process is killed during a write."""
    store = await open_store(Settings(data_dir=Path(data_dir), database_url=database_url))
    await asyncio.gather(*(_submit(store, task) for task in range(TASKS)))


async def _submit(store: Store, task: int) -> None:
    for number in itertools.count(1):
        submission_id = f"s{task}-{number}"
        await store.database.write(submission_queries.create, new_submission(submission_id), IN_QUEUE)
        print(submission_id, 1, flush=True)
        for _ in range(5):
            event = await store.database.write(
                event_queries.append, submission_id, {"status": "CHECKING"}, 1.0
            )
            print(submission_id, event.id if event else "none", flush=True)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
