"""A warm submission over HTTP to its verdict, over the same kernel by `warmfront run`; and how many a second.

The first is what an author waits for. The second is what two cores hold, with a judge that does nothing
and with the real one.
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
AT_ONCE = 50
PATIENCE_S = 600.0


def warm(service: Service) -> None:
    """Print the time of a submission on a warm VM next to a run on the command line."""
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
    print(f"  submit to verdict over HTTP, over `warmfront run`: {ratio:.2f} (goal: 1.15 or less)")


async def rate(url: str, count: int) -> float:
    """Return the submissions per second, from the first request to the last verdict."""
    limits, gate = httpx.Limits(max_connections=AT_ONCE), asyncio.Semaphore(AT_ONCE)
    async with httpx.AsyncClient(base_url=url, timeout=PATIENCE_S, limits=limits) as client:

        async def one(number: int) -> None:
            body = {
                "solution_code": f"// {number}\n{EXAMPLE}",
                "problem": "leaky-relu",
                "endpoint": "checker",
            }
            async with gate:
                answer = await client.post("/api/amd/submit", json=body)
            assert answer.text.rstrip().rpartition("event: ")[2].startswith("CHECKED"), answer.text[-300:]

        start = time.perf_counter()
        await asyncio.gather(*map(one, range(count)))
        return count / (time.perf_counter() - start)


@contextlib.contextmanager
def trivial(*words: str) -> Iterator[str]:
    """Yield the address of a service whose judge does nothing."""
    with tempfile.TemporaryDirectory() as folder:
        process = subprocess.Popen(
            [sys.executable, "-m", "bench.trivial", folder, *words], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.kill()
            process.wait()


def main() -> None:
    """Measure each."""
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder), AMD_VM_MAX_CONCURRENT="2") as service:
        warm(service)
        real = asyncio.run(rate(service.url, REAL))
    with trivial() as url:
        bare = asyncio.run(rate(url, TRIVIAL))
    print(f"  submissions per second, a judge that does nothing: {bare:7.1f}")
    print(f"  submissions per second, the real judge:            {real:7.1f}")
    print(f"  the service's own share of a real submission: {real / bare:.1%}")


if __name__ == "__main__":
    main()
