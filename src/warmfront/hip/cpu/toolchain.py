"""The `cpu` toolchain: the machine's g++ or clang++ with our headers, precompiled, and our runtime.

What does not depend on the submission (headers, runtime, worker) is built once, outside any sandbox,
and cached. Numbers from here are simulator time.
"""

from __future__ import annotations

import functools
import platform
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from warmfront.errors import NoToolchain, ToolchainFailed
from warmfront.hip import cache, cpu
from warmfront.hip.cpu.rewrite import rewrite
from warmfront.hip.toolchain import (
    DATA_FILE,
    LIBRARY_FILE,
    SOURCE_FILE,
    WORKER_SOURCE,
    Guards,
    Translated,
    shell_job,
)
from warmfront.hip.trailer import wrap
from warmfront.sandbox.base import BOX, Mount, Template

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warmfront.hip.diagnose import CompileFailure
    from warmfront.settings import Settings
    from warmfront.submissions import Submission

#: The header that every submission gets, whether it asks for it or not.
MAIN_HEADER = "hip/hip_runtime.h"

#: Tried in this order.
COMPILERS = ("g++", "clang++")


class CpuToolchain:
    """HIP on this machine's CPU, with the semantics of gfx942."""

    name = "cpu"
    simulated = True
    # The end of a buffer stands at a guard page, so a step past it faults at once and by name.
    guards = Guards(front_bytes=64, back_bytes=0, align=16)
    flush_bytes = 0
    warm_up_s = 0.02

    def __init__(self, cache_dir: Path) -> None:
        self._cache_dir = cache_dir
        self._compiler = find_compiler()

    @property
    def compiler(self) -> str:
        """The compiler and its version, as it says itself."""
        return (self.built / "compiler.txt").read_text().strip()

    def translate(self, submission: Submission) -> Translated:
        """Launches rewritten to calls, with the trailer behind; every line keeps its number."""
        translation = rewrite(submission.source)
        text = wrap(translation.text, submission.problem, submission.dtype)
        return Translated(text=text, assembly=translation.assembly)

    def compile_template(self, settings: Settings) -> Template:
        """One compiler call: compile and link, with nothing to link against."""
        compile_it = " ".join(
            [*self._compile_command(), f"/box/{SOURCE_FILE}", *cpu.LINK_FLAGS, "-o /tmp/solution.so"]
        )
        return Template(
            name="compile",
            argv=shell_job(f"{compile_it} && cat /tmp/solution.so >/box/{LIBRARY_FILE}"),
            mounts=(Mount(host=self.built, inside=str(self.built)),),
            limits=settings.compile_limits(),
            env={"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C", "TMPDIR": "/tmp"},  # noqa: S108 - the box's
            outputs=(LIBRARY_FILE,),
            may_fork=True,
        )

    def run_template(self, settings: Settings) -> Template:
        """The worker and nothing else."""
        return Template(
            name="run",
            argv=(str(self.built / "worker"), BOX),
            mounts=(Mount(host=self.built, inside=str(self.built)),),
            limits=settings.run_limits(),
            env=cpu.RUN_ENV,
            outputs=(DATA_FILE,),
        )

    def explain(self, output: str, submission: Submission, translated: Translated) -> CompileFailure:
        """The compiler's words in the author's lines."""
        from warmfront.hip.diagnose import classify  # noqa: PLC0415 - only failures need it

        declaration = submission.problem.declaration(submission.dtype)
        return classify(output, submission.source, declaration, translated.assembly)

    def _compile_command(self) -> list[str]:
        return [
            self._compiler,
            *cpu.SUBMISSION_FLAGS,
            "-I",
            str(self.built / "include"),
            "-include",
            MAIN_HEADER,
        ]

    @property
    def is_built(self) -> bool:
        """Whether headers and worker are in the cache."""
        return self._entry.is_dir()

    def build(self) -> None:
        """Have them there."""
        self.built  # noqa: B018 - building is what asking for it does

    @functools.cached_property
    def built(self) -> Path:
        """The cache entry with headers, precompiled header and worker; built if it is not there."""
        return cache.entry(self._cache_dir, self._entry.name, self._build)

    @functools.cached_property
    def _entry(self) -> Path:
        headers = sorted(path for path in cpu.INCLUDE.rglob("*") if path.is_file())
        key = cache.digest(
            [
                cache.identity(self._compiler),
                machine(),
                " ".join([*cpu.SUBMISSION_FLAGS, "|", *cpu.RUNTIME_FLAGS, "|", *cpu.LINK_FLAGS]),
                *(str(path.relative_to(cpu.INCLUDE)) for path in headers),
                *headers,
                *cpu.RUNTIME_SOURCES,
                WORKER_SOURCE,
            ]
        )
        return self._cache_dir / f"cpu-{key}"

    def _build(self, into: Path) -> None:
        shutil.copytree(cpu.INCLUDE, into / "include", copy_function=shutil.copyfile)
        include = ["-I", str(into / "include")]
        (into / "compiler.txt").write_text(run_compiler([self._compiler, "--version"]).splitlines()[0])
        objects = [into / f"{source.stem}.o" for source in (*cpu.RUNTIME_SOURCES, WORKER_SOURCE)]
        header = into / "include" / MAIN_HEADER
        jobs = [
            [
                self._compiler,
                *cpu.SUBMISSION_FLAGS,
                *include,
                "-x",
                "c++-header",
                header,
                "-o",
                f"{header}.{self._pch}",
            ],
            *(
                [self._compiler, *cpu.RUNTIME_FLAGS, *include, "-c", str(source), "-o", str(built)]
                for source, built in zip((*cpu.RUNTIME_SOURCES, WORKER_SOURCE), objects, strict=True)
            ),
        ]
        with ThreadPoolExecutor() as pool:
            list(pool.map(run_compiler, jobs))
        run_compiler(
            [self._compiler, "-rdynamic", *map(str, objects), "-o", into / "worker", "-ldl", "-lpthread"]
        )
        for built in objects:
            built.unlink()

    @property
    def _pch(self) -> str:
        return "gch" if Path(self._compiler).name.startswith("g++") else "pch"


def find_compiler() -> str:
    """A C++ compiler of this machine."""
    for name in COMPILERS:
        if found := shutil.which(name):
            return found
    raise NoToolchain("No C++ compiler was found.", hint="Run: sudo apt-get install g++")


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
