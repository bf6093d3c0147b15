"""Delay of events over 1,000 concurrent streams, from the time in the event to its arrival.

The time is taken before the event is stored. Server and client run on the same machine and share its clock.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import time
from datetime import datetime

from bench.service import trivial_service
from tests.support.services import EXAMPLE

STREAMS = 1000
FEW = 10
EVENTS = 10
PAUSE_S = 3.0
#: The streams begin within this share of a stream's duration, so that all are open for the rest.
RAMP = 2 / 3


async def delays_ms(url: str, streams: int) -> list[float]:
    """Return the delay of each event, over all streams."""
    delays: list[float] = []
    # The streams begin more slowly than submissions can be processed, so that the delay of events is
    # measured, not the time in a queue of submissions.
    begins_s = (number * PAUSE_S * EVENTS * RAMP / streams for number in range(streams))
    await asyncio.gather(*(_follow(url, number, begin_s, delays) for number, begin_s in enumerate(begins_s)))
    return delays


async def _follow(url: str, number: int, begin_s: float, delays: list[float]) -> None:
    """Submit and read the stream, with little work in the client, which must not be the bottleneck."""
    await asyncio.sleep(begin_s)
    reader, writer = await asyncio.open_connection("127.0.0.1", int(url.rpartition(":")[2]))
    code = f"// {number}\n{EXAMPLE}"
    body = json.dumps({"solution_code": code, "problem": "leaky-relu", "endpoint": "checker"}).encode()
    writer.write(
        b"POST /api/amd/submit HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        b"Connection: close\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
    )
    while line := await reader.readline():
        if line.startswith(b"data:"):
            stored_at = datetime.fromisoformat(json.loads(line[5:])["time"]).timestamp()
            delays.append((time.time() - stored_at) * 1e3)
    writer.close()
    await writer.wait_closed()


def main() -> None:
    """Measure with few and with many streams, and print the results."""
    medians = []
    for streams in (FEW, STREAMS):
        with trivial_service(str(streams), str(EVENTS), str(PAUSE_S)) as url:
            delays = sorted(asyncio.run(delays_ms(url, streams)))
        assert len(delays) >= streams * (EVENTS + 4), "a stream was interrupted"
        p50, p99 = statistics.median(delays), delays[int(0.99 * len(delays))]
        print(f"  {streams:5,} streams, {len(delays):6,} events: p50 {p50:7.1f} ms, p99 {p99:7.1f} ms")
        medians.append(p50)
    print(f"  median with {STREAMS:,} streams relative to {FEW}: {medians[1] / medians[0]:.1f}")


if __name__ == "__main__":
    main()
