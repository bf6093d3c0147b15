"""A service with data for every view: several verdicts, usage history, and a leaderboard with GPU results.

The GPU results are written to the store before the service starts, since the tests have no GPU.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import statistics
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from tests.browser.usage_history import write_failed_vm, write_usage_history
from tests.support.services import EXAMPLE, REHEARSAL, ROOT, serving
from warmfront.gpus import MI300X
from warmfront.judge.statistics import geometric_mean, mean_interval
from warmfront.settings import Settings
from warmfront.store import event_queries, submission_queries
from warmfront.store.sql_database import open_store
from warmfront.submission import NewSubmission

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sqlalchemy import Connection

    from tests.support.services import Service

MATMUL = (ROOT / "examples" / "matmul.hip").read_text()

#: The same kernel with smaller blocks, to compare with.
VARIANT = EXAMPLE.replace("256", "128")
#: Correct for the first 512 elements; then every fourth is not computed, which gives the error map a pattern.
WRONG = EXAMPLE.replace("leak(x.w, alpha)", "begin < 512 ? leak(x.w, alpha) : x.w").replace(
    "const size_t count = n * m;", 'const size_t count = n * m; printf("%zu elements\\n", count);'
)
BROKEN = EXAMPLE.replace("threadIdx.x", "threadIdx.q")

#: Cases of the GPU results: name, floating-point operations and bytes.
_CASES = (
    ("n = 4096, m = 4096", 2**24, 2**27),
    ("n = 8192, m = 8192", 2**26, 2**29),
    ("n = 131072, m = 512", 2**26, 2**29),
)
#: Users, and their times as multiples of the roofline floor; the time of one is noisy.
_USERS = {"ada": 1.21, "grace": 1.212, "alan": 1.15, "edsger": 1.7, "barbara": 3.9}
_NOISY_USER = "alan"


@dataclass(frozen=True, kw_only=True)
class PopulatedService:
    """The service and the ids of its submissions."""

    service: Service
    accepted: str
    other: str  #: another accepted submission for the same problem
    wrong: str
    broken: str
    on_gpu: str

    @property
    def views(self) -> dict[str, str]:
        """The path of every view, by a short name."""
        return {
            "problems": "/problems",
            "problem": "/problems/leaky-relu",
            "submissions": "/submissions",
            "submission": f"/submissions/{self.accepted}",
            "submission-gpu": f"/submissions/{self.on_gpu}",
            "submission-events": f"/submissions/{self.accepted}?tab=events",
            "submission-xray": f"/submissions/{self.accepted}?tab=xray",
            "submission-code": f"/submissions/{self.accepted}?tab=code",
            "submission-wrong": f"/submissions/{self.wrong}",
            "submission-noisy": "/submissions/sub_gpu_alan",
            "compare": f"/compare/{self.accepted}/{self.other}",
            "compare-gpu": "/compare/sub_gpu_ada/sub_gpu_edsger",
            "leaderboard": "/leaderboard/leaky-relu",
            "operations": "/operations",
            "operators": "/operators",
            "red-team": "/red-team",
            "scratch": "/scratch",
            "shared-list": "/shared",
            "settings": "/settings",
            "not-found": "/problems/unknown",
        }


@contextlib.contextmanager
def populated_service(data_dir: Path) -> Iterator[PopulatedService]:
    """Run a populated service until the end of the block."""
    write_gpu_results(data_dir)
    write_usage_history(data_dir)
    write_failed_vm(data_dir)
    with serving(data_dir, **REHEARSAL) as service:
        yield fill(service)


def fill(service: Service) -> PopulatedService:
    """Submit a few kernels and wait for their verdicts."""
    submission_ids = {
        "accepted": service.submit(EXAMPLE),
        "other": service.submit(VARIANT),
        "wrong": service.submit(WRONG, endpoint="checker"),
        "broken": service.submit(BROKEN, endpoint="checker"),
    }
    verdicts = {
        name: service.events(submission_id)[-1]["status"] for name, submission_id in submission_ids.items()
    }
    expected = {
        "accepted": "ACCEPTED",
        "other": "ACCEPTED",
        "wrong": "WRONG_ANSWER",
        "broken": "COMPILE_ERROR",
    }
    assert verdicts == expected, verdicts
    return PopulatedService(service=service, on_gpu="sub_gpu_ada", **submission_ids)


def write_gpu_results(data_dir: Path) -> None:
    """Write the GPU results of five users, three of them too close to distinguish."""

    async def write() -> None:
        store = await open_store(Settings(data_dir=data_dir))
        chance = random.Random(7)  # noqa: S311 - the same charts every time
        try:
            for user, factor in _USERS.items():
                await store.database.write(
                    _accepted, user, _timings(factor, chance, noisy=user == _NOISY_USER)
                )
        finally:
            await store.close()

    # In a thread, since Playwright's event loop may run in this one.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, write()).result()


def _accepted(c: Connection, user: str, timings: list[dict[str, Any]]) -> None:
    now = time.time()
    new = NewSubmission(
        id=f"sub_gpu_{user}",
        owner=user,
        problem="leaky-relu",
        gpu=MI300X.name,
        dtype="float32",
        language="hip",
        endpoint="submit",
        file_name="solution.hip",
        code=VARIANT if user == "edsger" else EXAMPLE,
        created_at=now - 60,
    )
    queue = {"status": "IN_QUEUE", "submission_id": new.id, "position": 0, "quote": {"wait_s": 0.0}}
    submission_queries.create(c, new, queue)
    for timing in timings:
        found = {
            "status": "BENCHMARK_RESULT",
            "result": timing,
            "total_tests": len(timings),
            "simulated": False,
        }
        event_queries.append(c, new.id, found, now - 30)
    verdict = {
        "status": "ACCEPTED",
        "passed_tests": len(timings),
        "total_tests": len(timings),
        "test_results": [
            {"test_id": each["test_id"], "name": each["name"], "status": "PASSED"} for each in timings
        ],
        "benchmark_results": timings,
        "avg_runtime_ms": geometric_mean([each["runtime_ms"] for each in timings]),
        "avg_ci": mean_interval([each["ci"] for each in timings]),
        "noisy": any(each["noisy"] for each in timings),
        "avg_gflops": geometric_mean([each["gflops"] for each in timings]),
        "simulated": False,
        "cost_usd": 0.0042,
        "receipt": {},
    }
    event_queries.complete(c, new.id, verdict, now, cost_usd=Decimal("0.0042"))


def _timings(factor: float, chance: random.Random, *, noisy: bool) -> list[dict[str, Any]]:
    spread, width = (0.1, 0.25) if noisy else (0.01, 0.008)
    found = []
    for number, (name, flops, moved) in enumerate(_CASES, 1):
        floor_ms = 1e3 * moved / MI300X.bandwidth_bytes_per_s
        runs = [floor_ms * factor * chance.lognormvariate(0.01, spread) for _ in range(14)]
        ms = statistics.median(runs)
        found.append(
            {
                "test_id": number,
                "name": name,
                "runtime_ms": ms,
                "ci": [ms * (1 - width), ms * (1 + width)],
                "gflops": flops / ms / 1e6,
                "gbps": moved / ms / 1e6,
                "runs": runs,
                "outer_ms": ms,
                "pct_of_floor": 100 * floor_ms / ms,
                "note": "",
                "windows": _windows(runs),
                "overhead_ms": 0.05,
                "noisy": noisy,
                "discarded_windows": 3,
                "self_reported_ms": ms * 0.9,
                "missing_guarantees": ["No freezer: the program is stopped by signals."] if noisy else [],
            }
        )
    return found


def _windows(runs: list[float]) -> list[dict[str, Any]]:
    """Return a pair of windows per run, and three that were left out."""
    pairs = [(calls, 0.05 + calls * ms) for ms in runs for calls in (2, 16)]
    disturbed = [(2, 40.0), (16, 90.0), (2, 35.0)]
    return [
        {
            "calls": calls,
            "time_ms": ms,
            "wall_ms": ms,
            "cpu_ms": None,
            "waited_ms": 20.0 * (index >= len(pairs)),
            "discarded": index >= len(pairs),
        }
        for index, (calls, ms) in enumerate([*pairs, *disturbed])
    ]
