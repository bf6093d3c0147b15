"""An ACCEPTED event with everything that a receipt needs."""

from __future__ import annotations

import hashlib
from typing import Any

from warmfront.events import Accepted, CaseResult, Machine, Receipt, ReceiptCase, Timing, Window
from warmfront.judge.committed_seed import CommittedSeed
from warmfront.judge.statistics import time_per_call

SOURCE = "__global__ void kernel() {}\n"


def accepted_fields(source: str = SOURCE, problem: str = "relu") -> dict[str, Any]:
    """Return the fields of an ACCEPTED event as a listener sends them, with consistent figures."""
    timing = _timing()
    return Accepted(
        passed_tests=1,
        total_tests=1,
        test_results=(CaseResult(test_id=1, name="n = 7", status="PASSED"),),
        benchmark_results=(timing,),
        avg_runtime_ms=timing.runtime_ms,
        avg_gflops=None,
        avg_ci=timing.ci,
        simulated=True,
        cost_usd=0.0,
        receipt=_facts(source, problem),
    ).fields()


def _timing() -> Timing:
    windows = tuple(
        Window(calls=calls, time_ms=time_ms, wall_ms=time_ms + 0.5, cpu_ms=time_ms, waited_ms=0.0)
        for noise in (0.0, 0.01, 0.02, 0.01, 0.03, 0.0, 0.02)
        for calls, time_ms in ((2, 1.5 + noise), (12, 6.5 + noise))
    )
    result = time_per_call(windows, 0.5)
    return Timing(
        test_id=1,
        name="n = 7",
        runtime_ms=result.median_ms,
        ci=result.interval_ms,
        gflops=None,
        gbps=1.0,
        runs=result.pairs_ms,
        outer_ms=result.median_ms,
        windows=windows,
        overhead_ms=0.5,
        noisy=result.noisy,
    )


def _facts(source: str, problem: str) -> Receipt:
    seed = CommittedSeed()
    return Receipt(
        warmfront="1.0",
        problem=problem,
        dtype="float32",
        source_sha256=hashlib.sha256(source.encode()).hexdigest(),
        toolchain="cpu",
        compiler="g++ 12 größer",
        sandbox="bubblewrap",
        device="CPU",
        compile_s=0.5,
        total_s=1.5,
        library_sha256="1" * 64,
        problem_revision="2" * 64,
        seed_commitment=seed.commitment,
        seed=seed.text,
        seed_nonce=seed.nonce,
        sandbox_detail="cgroup v2",
        machine=Machine(cpu="EPYC", cores=2, memory_bytes=2**34, kernel="6.1"),
        cases=(
            ReceiptCase(test_id=1, name="n = 7", values={"n": 7, "s": [2, 3]}, style="normal", timed=True),
        ),
    )
