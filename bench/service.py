"""Latency of a warm submission over HTTP relative to `warmfront run`, and submissions per second.

The throughput of one machine is measured with the real judge and with a judge that does nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import httpx

from bench.timing import medians_s, print_bars
from tests.support.services import EXAMPLE, Service, serving

if TYPE_CHECKING:
    from collections.abc import Iterator

ROUNDS = 15
TRIVIAL = 2000
REAL = 40
CONCURRENT = 50
TIMEOUT_S = 600.0


def warm(service: Service) -> None:
    """Compare a submission to a warm VM with a run on the command line, alternating."""
    example = Path(__file__).parent.parent / "examples" / "leaky_relu.hip"
    program = Path(sys.executable).parent / "warmfront"
    command = [str(program), "run", str(example), "--problem", "leaky-relu", "--endpoint", "checker"]

    def by_http() -> None:
        last = service.judged(endpoint="checker")[-1]
        assert last["status"] == "CHECKED", last

    def by_run() -> None:
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)

    seconds = medians_s({"over HTTP, warm": by_http, "warmfront run": by_run}, ROUNDS)
    print_bars(seconds)
    ratio = seconds["over HTTP, warm"] / seconds["warmfront run"]
    print(f"  submit to verdict over HTTP, relative to `warmfront run`: {ratio:.2f} (goal: 1.15 or less)")


async def rate(url: str, count: int) -> float:
    """Return the submissions per second, from the first request to the last verdict."""
    limits, slots = httpx.Limits(max_connections=CONCURRENT), asyncio.Semaphore(CONCURRENT)
    async with httpx.AsyncClient(base_url=url, timeout=TIMEOUT_S, limits=limits) as client:

        async def submit(number: int) -> None:
            body = {
                "solution_code": f"// {number}\n{EXAMPLE}",
                "problem": "leaky-relu",
                "endpoint": "checker",
            }
            async with slots:
                response = await client.post("/api/amd/submit", json=body)
            assert response.text.rstrip().rpartition("event: ")[2].startswith("CHECKED"), response.text[-300:]

        start = time.perf_counter()
        await asyncio.gather(*map(submit, range(count)))
        return count / (time.perf_counter() - start)


@contextlib.contextmanager
def trivial_service(*arguments: str) -> Iterator[str]:
    """Run a service whose judge does nothing, and yield its address."""
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen(
            [sys.executable, "-m", "bench.trivial", folder, *arguments], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.kill()
            process.wait()


def main() -> None:
    """Measure latency and throughput, and print the results."""
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder), AMD_VM_MAX_CONCURRENT="2") as service:
        warm(service)
        real = asyncio.run(rate(service.url, REAL))
    with trivial_service() as url:
        bare = asyncio.run(rate(url, TRIVIAL))
    print(f"  submissions per second, judge that does nothing: {bare:7.1f}")
    print(f"  submissions per second, real judge:              {real:7.1f}")
    print(f"  share of the service in a real submission: {real / bare:.1%}")


if __name__ == "__main__":
    main()
