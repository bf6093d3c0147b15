"""Stores for `bench.page`: a long history of submissions, and a case with very many samples."""

from __future__ import annotations

import asyncio
import random
import statistics
import time
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from warmfront.settings import Settings
from warmfront.store import event_queries, submission_queries
from warmfront.store.sql_database import open_store
from warmfront.submission import NewSubmission

if TYPE_CHECKING:
    from pathlib import Path

    from sqlalchemy import Connection

#: The submission with many samples.
SAMPLED_ID = "sub_many_samples"
_FREE = Decimal(0)
_VERDICTS = ("ACCEPTED", "WRONG_ANSWER", "COMPILE_ERROR", "ACCEPTED")


def write_data(data_dir: Path, *, submissions: int, samples: int) -> None:
    """Write finished submissions of the user `local`, and one more with this many samples."""

    async def write() -> None:
        store = await open_store(Settings(data_dir=data_dir))
        try:
            await store.database.write(_write_history, submissions)
            await store.database.write(_write_samples, samples)
        finally:
            await store.close()

    # In a thread, since Playwright's event loop may run in this one.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, write()).result()


def _write_history(conn: Connection, count: int) -> None:
    start = time.time() - count
    for number in range(count):
        verdict = _VERDICTS[number % len(_VERDICTS)]
        _create(conn, f"sub_history_{number:06}", start + number, code=f"// version {number}\n")
        failed = {"status": verdict, "message": "", "hint": "", "details": {}}
        fields = _accepted([_timing(1.0 + number / count, 14)]) if verdict == "ACCEPTED" else failed
        event_queries.complete(conn, f"sub_history_{number:06}", fields, start + number, cost_usd=_FREE)


def _write_samples(conn: Connection, count: int) -> None:
    timing = _timing(1.0, count)
    _create(conn, SAMPLED_ID, time.time(), code="// many samples\n")
    found = {"status": "BENCHMARK_RESULT", "result": timing, "total_tests": 1, "simulated": True}
    event_queries.append(conn, SAMPLED_ID, found, time.time())
    event_queries.complete(conn, SAMPLED_ID, _accepted([timing]), time.time(), cost_usd=_FREE)


def _create(conn: Connection, submission_id: str, created_at: float, *, code: str) -> None:
    new = NewSubmission(
        id=submission_id,
        owner="local",
        problem="leaky-relu",
        gpu="MI300X",
        dtype="float32",
        language="hip",
        endpoint="submit",
        file_name="solution.hip",
        code=code,
        created_at=created_at,
    )
    queue = {"status": "IN_QUEUE", "submission_id": submission_id, "position": 0, "quote": {"wait_s": 0.0}}
    submission_queries.create(conn, new, queue)


def _timing(scale_ms: float, count: int) -> dict[str, Any]:
    rng = random.Random(count)  # noqa: S311 - the same samples every time
    runs = [scale_ms * rng.lognormvariate(0, 0.02) for _ in range(count)]
    ms = statistics.median(runs)
    window = {"calls": 1, "time_ms": ms, "wall_ms": ms, "cpu_ms": None, "waited_ms": 0.0, "discarded": False}
    return {
        "test_id": 1,
        "name": "n = 1",
        "runtime_ms": ms,
        "ci": [ms * 0.998, ms * 1.002],
        "gflops": 1.0,
        "gbps": 8.0,
        "runs": runs,
        "outer_ms": ms,
        "pct_of_floor": None,
        "note": "",
        "windows": [window],
    }


def _accepted(timings: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "status": "ACCEPTED",
        "passed_tests": 1,
        "total_tests": 1,
        "test_results": [{"test_id": 1, "name": "n = 1", "status": "PASSED"}],
        "benchmark_results": timings,
        "avg_runtime_ms": timings[0]["runtime_ms"],
        "avg_ci": timings[0]["ci"],
        "noisy": False,
        "avg_gflops": 1.0,
        "simulated": True,
        "cost_usd": 0.0,
        "receipt": {},
    }
