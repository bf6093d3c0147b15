"""Build everything that does not depend on a submission: headers, the precompiled header, runtime and guest.

Only our own sources are compiled here, outside any sandbox, and never submitted code.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from warmfront.hip import cache, cpu
from warmfront.hip.cpu.host_compiler import run_compiler
from warmfront.hip.headers import copy_headers, header_digest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warmfront.hip.cpu.host_compiler import HostCompiler

#: The header that is included before every submission.
MAIN_HEADER = "hip/hip_runtime.h"


def build_runtime(
    into: Path,
    *,
    compiler: HostCompiler,
    submission_flags: Sequence[str],
    runtime_flags: Sequence[str],
    sources: Sequence[Path],
    programs: Sequence[Path],
) -> None:
    """Build the headers, the precompiled header and the programs, such as the guest, in the folder `into`."""
    copy_headers(cpu.INCLUDE, into / "include")
    objects = [into / f"{source.stem}.o" for source in (*sources, *programs)]
    jobs = [
        [compiler.command, *submission_flags, *compiler.precompile(into / "include", MAIN_HEADER)],
        *(
            [compiler.command, *runtime_flags, "-I", into / "include", "-c", source, "-o", built]
            for source, built in zip((*sources, *programs), objects, strict=True)
        ),
    ]
    compiler.prepare()
    with ThreadPoolExecutor() as pool:
        list(pool.map(run_compiler, jobs))
    for program in programs:
        own = [*objects[: len(sources)], into / f"{program.stem}.o"]
        run_compiler([compiler.command, "-rdynamic", *own, "-o", into / program.stem, *compiler.guest_flags])
    for built in objects:
        built.unlink()


def runtime_key(compiler: HostCompiler, flags: Sequence[str], sources: Sequence[Path]) -> str:
    """Return a hash of everything that a cache entry is built from."""
    return cache.digest([compiler.identity, machine(), " ".join(flags), header_digest(cpu.INCLUDE), *sources])


def machine() -> str:
    """Return the CPU features on which -march=native depends.

    They are part of the key, so that a shared cache can have code for several kinds of CPU.
    """
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace").splitlines()
    except OSError:
        lines = []
    flags = next((line for line in lines if line.lower().startswith(("flags", "features"))), "")
    return f"{os.uname().machine} {flags}"
