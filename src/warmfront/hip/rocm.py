"""The `rocm` toolchain: hipcc for a real GPU.

The same worker source, the same protocol, the same verdicts as on the CPU; only the commands differ.
"""

from __future__ import annotations

import functools
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from warmfront.errors import NoToolchain
from warmfront.hip import cache
from warmfront.hip.cpu.host_compiler import run_compiler
from warmfront.hip.toolchain import (
    DATA_FILE,
    GUEST_SOURCE,
    LIBRARY_FILE,
    SOURCE_FILE,
    Guards,
    Translated,
    shell_job,
)
from warmfront.hip.trailer import wrap
from warmfront.sandbox.base import BOX, SCRATCH, Mount, Template

if TYPE_CHECKING:
    from warmfront.hip.diagnose import CompileFailure
    from warmfront.judge_request import JudgeRequest
    from warmfront.settings import Settings

MIB = 1024**2

#: What a process needs to reach an AMD GPU.
GPU_DEVICES = ("/dev/kfd", "/dev/dri")


class RocmToolchain:
    """HIP by hipcc, for one GPU architecture."""

    name = "rocm"
    simulated = False
    guards = Guards(front_bytes=4096, back_bytes=4096, align=256)
    flush_bytes = 512 * MIB  # MI300X's Infinity Cache holds 256 MB
    warm_up_s = 1.0
    first_build = "Building the worker, once …"
    checked = None  # the bug finder needs a machine that it can watch

    def __init__(self, cache_dir: Path, arch: str = "gfx942") -> None:
        self._cache_dir = cache_dir
        self._arch = arch
        self._hipcc = find_hipcc() or ""
        if not self._hipcc:
            raise NoToolchain(
                "hipcc is not on PATH.",
                hint="Install ROCm 6.4.2 or newer, or use --toolchain cpu, which needs no GPU.",
            )

    @property
    def compiler(self) -> str:
        """The compiler and its version, as it says itself."""
        return (self._built / "compiler.txt").read_text().strip()

    def translate(self, submission: JudgeRequest) -> Translated:
        """The author's text as it is: hipcc knows `<<<>>>`."""
        return Translated(text=wrap(submission.source, submission.problem, submission.dtype))

    def compile_template(self, settings: Settings) -> Template:
        """One hipcc call."""
        flags = " ".join([*self._flags(), "-shared", "-x hip"])
        command = f"{self._hipcc} {flags} /box/{SOURCE_FILE} -o $TMPDIR/solution.so"
        return Template(
            name="compile",
            argv=shell_job(f"{command} && cat $TMPDIR/solution.so >/box/{LIBRARY_FILE}"),
            mounts=(Mount(host=self._prefix, inside=str(self._prefix)),),
            limits=settings.compile_limits(),
            env={
                "PATH": f"{self._prefix}/bin:/usr/bin:/bin",
                "LC_ALL": "C",
                "HIP_PLATFORM": "amd",
                "TMPDIR": SCRATCH,
            },
            outputs=(LIBRARY_FILE,),
            may_fork=True,
        )

    def run_template(self, settings: Settings) -> Template:
        """The worker with the GPU."""
        return Template(
            name="run",
            argv=(str(self._built / "guest"), BOX),
            mounts=(
                Mount(host=self._prefix, inside=str(self._prefix)),
                Mount(host=self._built, inside=str(self._built)),
            ),
            limits=settings.run_limits(),
            env={"LD_LIBRARY_PATH": f"{self._prefix}/lib"},
            outputs=(DATA_FILE,),
            devices=tuple(device for device in GPU_DEVICES if Path(device).exists()),
        )

    def explain(self, output: str, submission: JudgeRequest, translated: Translated) -> CompileFailure:
        """The compiler's words in the author's lines."""
        from warmfront.hip.diagnose import classify  # noqa: PLC0415 - only failures need it

        declaration = submission.problem.declaration(submission.dtype)
        return classify(output, submission.source, declaration, translated.assembly, rewritten=False)

    def _flags(self) -> list[str]:
        return [f"--offload-arch={self._arch}", "-O3", "-std=c++20", "-fPIC", "-include hip/hip_runtime.h"]

    @functools.cached_property
    def _prefix(self) -> Path:
        """The installation that hipcc belongs to, such as /opt/rocm-6.4.2."""
        return Path(self._hipcc).resolve().parent.parent

    @property
    def is_built(self) -> bool:
        """Whether the worker is in the cache."""
        return self._entry.is_dir()

    def build(self) -> None:
        """Have it there."""
        self._built  # noqa: B018 - building is what asking for it does

    @functools.cached_property
    def _built(self) -> Path:
        return cache.get_or_build(self._cache_dir, self._entry.name, self._build)

    @functools.cached_property
    def _entry(self) -> Path:
        return (
            self._cache_dir
            / f"rocm-{cache.digest([cache.file_identity(self._hipcc), self._arch, GUEST_SOURCE])}"
        )

    def _build(self, into: Path) -> None:
        (into / "compiler.txt").write_text(run_compiler([self._hipcc, "--version"]).splitlines()[0])
        flags = [f"--offload-arch={self._arch}", "-O2", "-std=c++20", "-rdynamic"]
        run_compiler(
            [self._hipcc, *flags, "-x", "hip", GUEST_SOURCE, "-o", into / "guest", "-ldl", "-lpthread"]
        )


def find_hipcc() -> str | None:
    """hipcc, if it is on PATH."""
    return shutil.which("hipcc")


def has_gpu() -> bool:
    """Whether this machine shows an AMD GPU to its processes."""
    return Path("/dev/kfd").exists()
