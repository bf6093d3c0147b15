"""Measure matrix instructions on the CPU runtime: how many per second, and a matmul with MFMA and with FMA.

The figures show the cost of executing GPU code on this machine's CPU; they say nothing about a GPU.
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

from warmfront.hip import cpu
from warmfront.hip.headers import SHARED_INCLUDE
from warmfront.hip.source.rewrite import rewrite

ROOT = Path(__file__).parent.parent
#: The instructions that the driver executes per sample.
COUNT = 2000
#: The highest rate of AMD's own emulator that we measured; the goal is ten times as many.
EMULATOR_PER_S = 70_000

_SOURCES = {
    "driver": (ROOT / "bench" / "matrix" / "driver.hip", ()),
    "mfma": (ROOT / "examples" / "matmul_mfma.hip", ("-Dmatmul=matmul_mfma", "-Dsolution=solution_mfma")),
    "fma": (
        ROOT / "examples" / "matmul_half.hip",
        ("-Dmatmul=matmul_fma", "-Dsolution=solution_fma", "-Dat=at_fma"),
    ),
}


def main() -> None:
    """Build and run the driver, and print the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=9)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        show(run(build(Path(folder)), options.repetitions))


def build(folder: Path) -> Path:
    """Build the driver and the two examples, each translated and compiled like a submission."""
    include = [part for path in (cpu.INCLUDE, SHARED_INCLUDE) for part in ("-I", str(path))]
    submission = ("g++", *cpu.SUBMISSION_FLAGS, *cpu.GCC_FLAGS, "-include", "hip/hip_runtime.h", *include)
    commands: list[list[str | Path]] = [
        ["g++", *cpu.RUNTIME_FLAGS, *include, "-c", source] for source in cpu.RUNTIME_SOURCES
    ]
    for name, (source, flags) in _SOURCES.items():
        translation = rewrite(source.read_text())
        translated = folder / f"{name}_hip.cpp"
        translated.write_text(f'{translation.includes}#line 1 "{source.name}"\n{translation.text}')
        commands.append([*submission, *flags, "-c", translated])
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda command: subprocess.run(command, cwd=folder, check=True), commands))
    objects = sorted(str(path) for path in folder.glob("*.o"))
    program = folder / "mfma"
    subprocess.run(["g++", "-rdynamic", "-pthread", *objects, "-o", program], check=True)
    return program


def run(program: Path, repetitions: int) -> dict[str, float]:
    """Run the driver on one worker; return the median of the seconds of each measurement."""
    environment = {**os.environ, **cpu.RUN_ENV, "HIPCPU_WORKERS": "1"}
    output = subprocess.run(
        [program, str(repetitions)], env=environment, check=True, capture_output=True, text=True
    ).stdout
    results = [json.loads(line) for line in output.splitlines()]
    return {result["name"]: statistics.median(result["seconds"]) for result in results}


def show(seconds: dict[str, float]) -> None:
    """Print matrix instructions per second, and the ratio of the two multiplications."""
    print("matrix instructions per second of CPU time of one thread")
    for name, sample_s in seconds.items():
        if not name.startswith("matmul"):
            rate = COUNT / sample_s
            print(f"  {name:<24}{rate:>12,.0f}  {rate / EMULATOR_PER_S:.0f} times {EMULATOR_PER_S:,}")
    by_mfma, by_fma = seconds["matmul by MFMA"], seconds["matmul by FMA"]
    print("matmul of 512 x 512 x 512 halves, CPU time of one thread")
    print(f"  with MFMA {by_mfma * 1e3:.1f} ms, with FMA {by_fma * 1e3:.1f} ms: ", end="")
    print(f"MFMA relative to FMA {by_mfma / by_fma:.2f} (goal: 1 or less)")


if __name__ == "__main__":
    main()
