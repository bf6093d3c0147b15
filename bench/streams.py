"""1,000 event streams at once: from an event's time, taken before it is stored, to its arrival.

Server and client are two processes on the two cores of one machine, so both ends share the clock.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import time
from datetime import datetime

from bench.service import trivial
from tests.support.services import EXAMPLE

STREAMS = 1000
FEW = 10
EVENTS = 10
PAUSE_S = 3.0
#: Of a stream's length: over it they begin, so that all are open at once for the rest.
RAMP = 2 / 3


async def delays_ms(url: str, streams: int) -> list[float]:
    """Return the delay of each event, over all streams."""
    late: list[float] = []
    # They begin one after the other, slower than submissions can be taken: what is measured is the way of
    # an event to its readers, not a queue of submissions.
    begins_s = (number * PAUSE_S * EVENTS * RAMP / streams for number in range(streams))
    await asyncio.gather(*(_follow(url, number, begin_s, late) for number, begin_s in enumerate(begins_s)))
    return late


async def _follow(url: str, number: int, begin_s: float, late: list[float]) -> None:
    """Submit, and read the stream with as little work as can be: the client must not be what is measured."""
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
            late.append((time.time() - stored_at) * 1e3)
    writer.close()
    await writer.wait_closed()


def main() -> None:
    """Measure few and many."""
    medians = []
    for streams in (FEW, STREAMS):
        with trivial(str(streams), str(EVENTS), str(PAUSE_S)) as url:
            late = sorted(asyncio.run(delays_ms(url, streams)))
        assert len(late) >= streams * (EVENTS + 4), "some were cut"
        p50, p99 = statistics.median(late), late[int(0.99 * len(late))]
        print(f"  {streams:5,} streams, {len(late):6,} events: p50 {p50:7.1f} ms, p99 {p99:7.1f} ms")
        medians.append(p50)
    print(f"  median with {STREAMS:,} streams over that with {FEW}: {medians[1] / medians[0]:.1f}")


if __name__ == "__main__":
    main()
