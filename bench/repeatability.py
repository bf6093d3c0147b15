"""Submit one honest file many times while the load of the machine changes, and compare the times.

Times used to be medians of HIP events, which were read in the process of the submission. The guest still
reports them, so both figures come from the same runs.
"""

from __future__ import annotations

import argparse
import itertools
import random
import statistics
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from warmfront import problems, settings
from warmfront.events import Accepted
from warmfront.hip.toolchain import open_toolchain
from warmfront.judge import Judge
from warmfront.judge_request import JudgeRequest
from warmfront.problems.spec import Dtype
from warmfront.sandbox import open_sandbox
from warmfront.verdicts import Endpoint

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

EXAMPLES = Path(__file__).parent.parent / "examples"

#: Busy processes beside the judge; each load is kept for a few submissions.
LOADS = (0, 15, 4, 0, 8, 15, 0, 2, 15, 1)

#: A busy process: one computes, one writes memory.
BUSY = (
    "while True: pass",
    "import itertools\nblock = bytearray(16 << 20)\nfor i in itertools.count(): block[:] = bytes(len(block))",
)

#: How far the time of a run may be from the median of all runs, unless it is marked as noisy.
WITHIN = 0.10


@dataclass(frozen=True, kw_only=True)
class Run:
    """The time of one submission."""

    load: int
    ms: float
    interval_ms: tuple[float, float]
    noisy: bool
    by_events_ms: float  #: as the guest reports it


def main() -> None:
    """Submit, and print how well the times agree."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--quiet", action="store_true", help="do not load the machine")
    parser.add_argument("--problem", default="matrix-multiplication")
    parser.add_argument("--file", default="matmul.hip")
    options = parser.parse_args()
    configured = settings.load()
    toolchain, sandbox = open_toolchain("cpu", configured), open_sandbox()
    toolchain.build()
    judge = Judge(toolchain, sandbox, configured)
    request = JudgeRequest(
        source=(EXAMPLES / options.file).read_text(),
        problem=problems.get(options.problem),
        dtype=Dtype.FLOAT32,
        endpoint=Endpoint.SUBMIT,
    )
    runs = []
    try:
        each = max(1, options.runs // len(LOADS))
        loads = [0] * options.runs if options.quiet else [load for load in LOADS for _ in range(each)]
        for load, group in itertools.groupby(itertools.islice(itertools.cycle(loads), options.runs)):
            with busy_processes(load):
                runs += [submit(judge, request, load) for _ in group]
    finally:
        sandbox.close()
    report(runs)


@contextmanager
def busy_processes(count: int) -> Iterator[None]:
    """Keep this many processes busy."""
    choose = random.Random(count)  # noqa: S311 - not for security
    commands = [[sys.executable, "-c", choose.choice(BUSY)] for _ in range(count)]
    processes = [subprocess.Popen(command) for command in commands]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
        for process in processes:
            process.wait()


def submit(judge: Judge, request: JudgeRequest, load: int) -> Run:
    """Judge the request and print its time."""
    *_, verdict = judge.judge(request)
    if not isinstance(verdict, Accepted) or verdict.avg_ci is None:
        raise SystemExit(f"The submission was not accepted: {verdict.fields()}")
    by_events_ms = statistics.geometric_mean(
        max(timing.self_reported_ms or 0.0, 1e-6) for timing in verdict.benchmark_results
    )
    run = Run(
        load=load,
        ms=verdict.avg_runtime_ms,
        interval_ms=verdict.avg_ci,
        noisy=verdict.noisy,
        by_events_ms=by_events_ms,
    )
    low, high = run.interval_ms
    mark = " noisy" if run.noisy else ""
    print(
        f"  load {load:2}: {run.ms:7.3f} ms ({low:.3f} to {high:.3f}, {(high - low) / run.ms:5.1%} wide)"
        f"{mark}; by HIP events {by_events_ms:.3f} ms",
        flush=True,
    )
    return run


def report(runs: Sequence[Run]) -> None:
    """Print how well the times agree, beside the figures of the earlier method."""
    median = statistics.median(run.ms for run in runs)
    pairs = list(itertools.pairwise(runs))
    overlapping = sum(_overlap(first.interval_ms, second.interval_ms) for first, second in pairs)
    unmarked = [run for run in runs if not run.noisy]
    marked = [run for run in runs if run.noisy]
    close = sum(abs(run.ms - median) <= WITHIN * median for run in unmarked)
    covered = sum(run.interval_ms[0] <= median <= run.interval_ms[1] for run in marked)
    by_events = statistics.median(run.by_events_ms for run in runs)
    events_close = sum(abs(run.by_events_ms - by_events) <= WITHIN * by_events for run in runs)
    quiet = [(run.interval_ms[1] - run.interval_ms[0]) / run.ms for run in runs if run.load == 0]
    print(f"overlapping intervals: {overlapping} of {len(pairs)} consecutive pairs")
    print(f"unmarked within {WITHIN:.0%} of the median of all ({median:.3f} ms): {close} of {len(unmarked)}")
    print(f"marked noisy: {len(marked)} of {len(runs)}; their interval contains the median: {covered}")
    if quiet:
        print(f"median width of the interval without load: {statistics.median(quiet):.1%}")
    print(f"slowest relative to fastest: {_spread([run.ms for run in runs]):.2f}")
    print("earlier method, HIP events in the guest:")
    print(f"  within {WITHIN:.0%} of the median of all ({by_events:.3f} ms): {events_close} of {len(runs)}")
    print(f"  slowest relative to fastest: {_spread([run.by_events_ms for run in runs]):.2f}")


def _overlap(first: tuple[float, float], second: tuple[float, float]) -> bool:
    return first[0] <= second[1] and second[0] <= first[1]


def _spread(times: Sequence[float]) -> float:
    return max(times) / min(times)


if __name__ == "__main__":
    main()
