"""Builds what does not depend on a submission: headers, their precompiled form, the runtime and the worker.

Everything here is our own source, compiled outside any sandbox; what an author wrote never comes here.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from warmfront.hip import cache, cpu
from warmfront.hip.cpu.host_compiler import run_compiler
from warmfront.hip.headers import copy_headers, header_contents

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warmfront.hip.cpu.host_compiler import HostCompiler

#: The header that every submission gets, whether it asks for it or not.
MAIN_HEADER = "hip/hip_runtime.h"


def build_runtime(
    into: Path,
    *,
    compiler: HostCompiler,
    submission_flags: Sequence[str],
    runtime_flags: Sequence[str],
    sources: Sequence[Path],
) -> None:
    """Headers, precompiled header and worker, in `into`."""
    copy_headers(cpu.INCLUDE, into / "include")
    objects = [into / f"{source.stem}.o" for source in sources]
    jobs = [
        [compiler.command, *submission_flags, *compiler.precompile(into / "include", MAIN_HEADER)],
        *(
            [compiler.command, *runtime_flags, "-I", into / "include", "-c", source, "-o", built]
            for source, built in zip(sources, objects, strict=True)
        ),
    ]
    compiler.prepare()
    with ThreadPoolExecutor() as pool:
        list(pool.map(run_compiler, jobs))
    run_compiler([compiler.command, "-rdynamic", *objects, "-o", into / "guest", *compiler.worker_flags])
    for built in objects:
        built.unlink()


def runtime_key(compiler: HostCompiler, flags: Sequence[str], sources: Sequence[Path]) -> str:
    """A hash of everything that goes into a cache entry."""
    return cache.digest(
        [compiler.identity, machine(), " ".join(flags), *header_contents(cpu.INCLUDE), *sources]
    )


def machine() -> str:
    """What -march=native means here: code for another CPU must not be taken from a shared cache."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        lines = []
    flags = next((line for line in lines if line.lower().startswith(("flags", "features"))), "")
    return f"{os.uname().machine} {flags}"
