"""Builds what does not depend on a submission: headers, their precompiled form, the runtime and the worker.

Everything here is our own source, compiled outside any sandbox; what an author wrote never comes here.
"""

from __future__ import annotations

import platform
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from warmfront.errors import ToolchainFailed
from warmfront.hip import cache, cpu

if TYPE_CHECKING:
    from collections.abc import Sequence

#: The header that every submission gets, whether it asks for it or not.
MAIN_HEADER = "hip/hip_runtime.h"


def build_parts(
    into: Path,
    *,
    compiler: str,
    submission_flags: Sequence[str],
    runtime_flags: Sequence[str],
    sources: Sequence[Path],
) -> None:
    """Headers, precompiled header and worker, in `into`."""
    shutil.copytree(cpu.INCLUDE, into / "include", copy_function=shutil.copyfile)
    include = ["-I", str(into / "include")]
    header = into / "include" / MAIN_HEADER
    suffix = "gch" if Path(compiler).name.startswith("g++") else "pch"
    objects = [into / f"{source.stem}.o" for source in sources]
    jobs = [
        [compiler, *submission_flags, *include, "-x", "c++-header", header, "-o", f"{header}.{suffix}"],
        *(
            [compiler, *runtime_flags, *include, "-c", source, "-o", built]
            for source, built in zip(sources, objects, strict=True)
        ),
    ]
    with ThreadPoolExecutor() as pool:
        list(pool.map(run_compiler, jobs))
    run_compiler([compiler, "-rdynamic", *objects, "-o", into / "worker", "-ldl", "-lpthread"])
    for built in objects:
        built.unlink()


def parts_key(compiler: str, flags: Sequence[str], sources: Sequence[Path]) -> str:
    """A hash of everything that goes into a cache entry."""
    headers = sorted(path for path in cpu.INCLUDE.rglob("*") if path.is_file())
    return cache.digest(
        [
            cache.identity(compiler),
            machine(),
            " ".join(flags),
            *(str(path.relative_to(cpu.INCLUDE)) for path in headers),
            *headers,
            *sources,
        ]
    )


def machine() -> str:
    """What -march=native means here: code for another CPU must not be taken from a shared cache."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        lines = []
    flags = next((line for line in lines if line.lower().startswith(("flags", "features"))), "")
    return f"{platform.machine()} {flags}"


def run_compiler(argv: Sequence[str | Path]) -> str:
    """Run a compiler on our own sources; what it says on failure is ours to mend."""
    result = subprocess.run([str(part) for part in argv], capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise ToolchainFailed(
            f"{argv[0]} could not build Warmfront's own parts:\n{result.stderr[-4000:]}",
            hint="`warmfront doctor` says what this machine has; a newer g++ (12 or later) is needed.",
        )
    return result.stdout
