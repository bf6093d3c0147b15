"""1,000 event streams at once: from an event's time, taken before it is stored, to its arrival.

Server and client are two processes on the two cores of one machine, so both ends share the clock.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import time
from datetime import datetime

import httpx

from bench.service import trivial
from tests.acceptance.services import EXAMPLE

STREAMS = 1000
FEW = 10
EVENTS = 10
PAUSE_S = 1.0


async def delays_ms(url: str, streams: int) -> list[float]:
    """How late each event came, over all streams."""
    late: list[float] = []
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
    async with httpx.AsyncClient(base_url=url, timeout=120.0, limits=limits) as client:

        async def follow(number: int) -> None:
            body = {
                "solution_code": f"// {number}\n{EXAMPLE}",
                "problem": "leaky-relu",
                "endpoint": "checker",
            }
            # They begin one after the other, so that what is measured is the steady state.
            await asyncio.sleep(number * PAUSE_S * EVENTS / 2 / streams)
            async with client.stream("POST", "/api/amd/submit", json=body) as answer:
                async for line in answer.aiter_lines():
                    if line.startswith("data:"):
                        stored_at = datetime.fromisoformat(json.loads(line[5:])["time"]).timestamp()
                        late.append((time.time() - stored_at) * 1e3)

        await asyncio.gather(*map(follow, range(streams)))
    return late


def main() -> None:
    """Measure few and many."""
    medians = []
    for streams in (FEW, STREAMS):
        with trivial(str(streams), str(EVENTS), str(PAUSE_S)) as url:
            late = sorted(asyncio.run(delays_ms(url, streams)))
        p50, p99 = statistics.median(late), late[int(0.99 * len(late))]
        print(f"  {streams:5,} streams, {len(late):6,} events: p50 {p50:7.1f} ms, p99 {p99:7.1f} ms")
        medians.append(p50)
    print(f"  median with {STREAMS:,} streams over that with {FEW}: {medians[1] / medians[0]:.1f}")


if __name__ == "__main__":
    main()
