"""Compare six kernels on the CPU runtime with plain OpenMP loops for the same computation, alternating.

The figures show the cost of running GPU threads on this machine's CPU; they say nothing about a GPU.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from warmfront.hip import cpu
from warmfront.hip.headers import SHARED_INCLUDE
from warmfront.hip.source.rewrite import rewrite

SOURCES = Path(__file__).parent / "kernels"
LOOP_FLAGS = ("-std=c++20", "-O3", "-march=native", "-fopenmp")
BAR = 40
GOAL = 3


def main() -> None:
    """Build and run the driver, and print the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=10)
    parser.add_argument("--json", action="store_true", help="print every sample as JSON, one kernel per line")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        program = build(Path(folder))
        lines = run(program, options.repetitions)
    if options.json:
        print(lines, end="")
    else:
        show([json.loads(line) for line in lines.splitlines()])


def build(folder: Path) -> Path:
    """Build the driver with all kernels, each translated and compiled like a submission; return its path."""
    include = [part for path in (cpu.INCLUDE, SHARED_INCLUDE, SOURCES) for part in ("-I", str(path))]
    kernels = [translate(source, folder) for source in sorted(SOURCES.glob("*.hip"))]
    submission = (*cpu.SUBMISSION_FLAGS, *cpu.GCC_FLAGS, "-include", "hip/hip_runtime.h")
    commands = [
        *(["g++", *cpu.RUNTIME_FLAGS, *include, "-c", source] for source in cpu.RUNTIME_SOURCES),
        *(["g++", *LOOP_FLAGS, *include, "-c", source] for source in SOURCES.glob("*.cpp")),
        *(["g++", *submission, *include, "-c", source] for source in kernels),
    ]
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda command: subprocess.run(command, cwd=folder, check=True), commands))
    objects = sorted(str(path) for path in folder.glob("*.o"))
    program = folder / "kernels"
    subprocess.run(["g++", "-rdynamic", "-fopenmp", "-pthread", *objects, "-o", program], check=True)
    return program


def translate(source: Path, folder: Path) -> Path:
    """Write the translation of a kernel to `folder`; return its path."""
    translated = folder / f"{source.stem}_hip.cpp"
    translated.write_text(f'#line 1 "{source.name}"\n{rewrite(source.read_text()).text}')
    return translated


def run(program: Path, repetitions: int) -> str:
    """Run the driver and return its output: one line of JSON per kernel."""
    # Otherwise OpenMP's threads would keep spinning while the next kernel runs.
    environment = {**os.environ, **cpu.RUN_ENV, "OMP_WAIT_POLICY": "passive"}
    return subprocess.run(
        [program, str(repetitions)], env=environment, check=True, capture_output=True, text=True
    ).stdout


def show(results: list[dict[str, Any]]) -> None:
    """Print a table of medians and ratios, with a bar per ratio."""
    print(f"{'kernel':<16}{'HIP on CPU':>12}{'plain loop':>12}{'ratio':>8}")
    ratios = [statistics.median(r["hip_ms"]) / statistics.median(r["loop_ms"]) for r in results]
    for result, ratio in zip(results, ratios, strict=True):
        assert result["difference"] < 1e-3, f"{result['name']} computed something else than its loop"
        hip, loop = statistics.median(result["hip_ms"]), statistics.median(result["loop_ms"])
        bar = "█" * max(1, round(BAR * ratio / max(ratios)))
        print(f"{result['name']:<16}{hip:>9.2f} ms{loop:>9.2f} ms{ratio:>8.1f}  {bar}")
    print(f"  HIP on the CPU relative to a plain loop, at most: {max(ratios):.1f} (goal: {GOAL} or less)")


if __name__ == "__main__":
    main()
