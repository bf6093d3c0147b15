"""Time of a takeover: `kill -9` of the active service with 50 submissions in flight, and a standby.

Both services use one PostgreSQL database and the real judge. The time of a restart of the same service, which
is what happens without a standby, is printed beside it, from the same run.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from tests.support.databases import private_postgres
from tests.support.standby_pair import Pair, Takeover, kill_with_submissions, standby_pair

SUBMISSIONS = 50
SETTINGS = {"WARMFRONT_BUG_FINDER": "false", "AMD_VM_MAX_CONCURRENT": "2"}


def check(takeover: Takeover) -> None:
    """Check that every submission has its verdict, and that no event was lost or received twice."""
    assert len(takeover.events) == SUBMISSIONS
    for events in takeover.events.values():
        assert [event.id for event in events] == list(range(1, len(events) + 1)), events
        assert events[-1].status == "CHECKED", events[-1]


def restart_s(pair: Pair) -> float:
    """Return the time from `kill -9` of the only service until it listens again."""
    pair.standby.kill()
    started_at = time.monotonic()
    pair.standby.start()
    return time.monotonic() - started_at


def main() -> None:
    """Measure a takeover and a restart, and print the results."""
    with tempfile.TemporaryDirectory() as folder, private_postgres() as postgres:
        with standby_pair(Path(folder), postgres.new_database(tables=False), **SETTINGS) as pair:
            takeover = kill_with_submissions(pair, SUBMISSIONS)
            restarted_s = restart_s(pair)
        check(takeover)
        total = sum(map(len, takeover.events.values()))
        print(f"  submissions in flight at the kill: {takeover.in_flight} of {SUBMISSIONS}")
        print(f"  verdicts: {SUBMISSIONS}; events: {total}, none lost, none received twice")
        print(
            f"  takeover, from the kill until the standby accepts submissions: {takeover.accepting_s:.2f} s"
        )
        print(
            f"  takeover, from the kill until the first event on a stream:     {takeover.streaming_s:.2f} s"
        )
        print(f"  restart of the same service instead, until it listens:         {restarted_s:.2f} s")
        print(f"  takeover relative to a restart: {takeover.accepting_s / restarted_s:.2f}")


if __name__ == "__main__":
    main()
