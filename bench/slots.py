"""Eight slots on one stub node: the times of eight concurrent submissions compared with one alone.

`python -m bench.slots [DEVICES]` starts a real listener with that many stub devices, 8 by default. Times are
virtual, so the figure shows the effect of shared resources of slots, not the load of this machine.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx

from warmfront.listener.protocol import TOKEN_VARIABLE

#: The largest allowed difference from the time of one submission alone.
GOAL = 0.05
_TOKEN = "bench"  # noqa: S105 - of a listener on loopback, for this run
_SOURCE = Path(__file__).parents[1] / "examples" / "leaky_relu.hip"


def main() -> int:
    """Measure and print the line; return 1 if the goal is missed."""
    devices = int(sys.argv[1]) if len(sys.argv) > 1 else 8
    with tempfile.TemporaryDirectory() as folder:
        announce = Path(folder) / "announce.json"
        environ = {
            **os.environ,
            TOKEN_VARIABLE: _TOKEN,
            # Calls are executed on the CPU. The budget is virtual time too, so a few calls fill it.
            "WARMFRONT_STUB_GPU": f"devices={devices},kernel_us=5000",
            "WARMFRONT_BENCH_BUDGET": "0.02",
            "WARMFRONT_CASE_TIMEOUT": "600",
        }
        argv = [sys.executable, "-m", "warmfront", "listener", "--port", "0", "--toolchain", "stub"]
        argv += ["--dead-man", "3600"]  # no control plane sends heartbeats
        with subprocess.Popen(
            [*argv, "--announce", str(announce)], env=environ, stdout=subprocess.PIPE, text=True
        ) as listener:
            try:
                return _measure(listener, announce, devices)
            finally:
                listener.terminate()
                listener.communicate()  # it logs until it ends


def _measure(listener: subprocess.Popen[str], announce: Path, devices: int) -> int:
    assert listener.stdout is not None
    while "listening on" not in (line := listener.stdout.readline()):
        if not line:
            raise SystemExit("the listener ended before it accepted connections")
    address = json.loads(announce.read_text())["address"]
    headers = {"Authorization": f"Bearer {_TOKEN}"}
    with httpx.Client(base_url=address, headers=headers, timeout=600) as http:
        slots = http.get("/health").json()["slots"]
        alone_ms = _time_ms(http, "alone")
        with ThreadPoolExecutor(devices) as pool:
            times_ms = list(pool.map(lambda number: _time_ms(http, f"beside-{number}"), range(devices)))
    worst = max(abs(time_ms / alone_ms - 1) for time_ms in times_ms)
    print(
        f"{slots} slots: {devices} submissions at once take {min(times_ms):.5f} to {max(times_ms):.5f} ms, "
        f"one alone {alone_ms:.5f} ms; largest difference {worst:.1%} (goal {GOAL:.0%})"
    )
    return int(worst > GOAL)


def _time_ms(http: httpx.Client, name: str) -> float:
    body = {
        "id": name,
        "source": _SOURCE.read_text(),
        "file_name": _SOURCE.name,
        "problem": "leaky-relu",
        "dtype": "float32",
        "endpoint": "submit",
    }
    lines = [line for line in http.post("/execute", json=body).text.splitlines() if line]
    verdict: dict[str, Any] = json.loads(lines[-1])
    if verdict["status"] != "ACCEPTED":
        raise SystemExit(f"{name}: {verdict['status']}: {verdict.get('message')}")
    return float(verdict["avg_runtime_ms"])


if __name__ == "__main__":
    raise SystemExit(main())
