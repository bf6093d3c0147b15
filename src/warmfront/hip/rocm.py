"""The `rocm` toolchain: hipcc for a real GPU.

Only the commands differ from the `cpu` toolchain: the guest's source, the protocol and the verdicts are the
same.
"""

from __future__ import annotations

import functools
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from warmfront import gpus
from warmfront.errors import NoToolchain
from warmfront.hip import cache, rocm_versions
from warmfront.hip.cpu.host_compiler import run_compiler
from warmfront.hip.rocm_installation import KFD, find_hipcc
from warmfront.hip.source.refusals import refuse
from warmfront.hip.toolchain import (
    DATA_FILE,
    GUEST_SOURCE,
    HARNESS_SOURCE,
    LIBRARY_FILE,
    PROGRAM_HEADERS,
    SOURCE_FILE,
    GuardZones,
    TranslatedSource,
    shell_job,
)
from warmfront.hip.trailer import wrap_source
from warmfront.problems.spec import Scale
from warmfront.sandbox.base import BOX, SCRATCH, Mount, Template

if TYPE_CHECKING:
    from warmfront.gpus import Gpu
    from warmfront.hip.device_facts import DeviceFacts
    from warmfront.hip.diagnose import CompileFailure
    from warmfront.judge_request import JudgeRequest
    from warmfront.settings import Settings

MIB = 1024**2

#: Share memory between processes through the driver. The runtime's alternative is a socket, which boxes lack.
IPC_ENVIRON = {"HSA_ENABLE_IPC_MODE_LEGACY": "1"}
#: The driver's render nodes, one per GPU or partition. `card*` is for displays, and is never passed to a box.
RENDER_NODES = Path("/dev/dri")


class RocmToolchain:
    """The toolchain that compiles HIP with hipcc for one GPU architecture. See `Toolchain`."""

    name = "rocm"
    simulated = False
    guards = GuardZones(front_bytes=4096, back_bytes=4096, align=256)
    shared_memory = False
    flush_bytes = 512 * MIB  # the Infinity Cache of an MI300X holds 256 MB
    warm_up_s = 0.2
    counts_cpu_time = False
    scale = Scale.GPU
    first_build_notice = "Building the guest (only once) …"
    checked_build = None  # the bug finder instruments CPU code only

    def __init__(
        self,
        cache_dir: Path,
        gpu: Gpu = gpus.MI300X,
        device: DeviceFacts | None = None,
        *,
        is_exclusive: bool = False,
    ) -> None:
        self._cache_dir = cache_dir
        self.gpu = gpu
        self.device = device
        self._is_exclusive = is_exclusive  # whether boxes get the files of this device only
        self._hipcc = find_hipcc() or ""
        if not self._hipcc:
            raise NoToolchain(
                "Neither hipcc nor amdclang++ was found on PATH or in /opt/rocm.",
                hint=f"Install ROCm {rocm_versions.TARGET}, or use the cpu toolchain, which needs no GPU.",
            )

    @property
    def compiler(self) -> str:
        """The first line of `hipcc --version`."""
        return (self._built / "compiler.txt").read_text().strip()

    def translate(self, request: JudgeRequest) -> TranslatedSource:
        """Return the source unchanged between prologue and trailer, because hipcc supports `<<<>>>`."""
        refuse(request.source)
        return TranslatedSource(text=wrap_source(request.source, request.problem, request.dtype))

    def compile_template(self, settings: Settings) -> Template:
        """Return the box that runs hipcc once."""
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
        """Return the box that runs the guest with access to the GPU."""
        return Template(
            name="run",
            argv=(str(self._built / "guest"), BOX),
            mounts=(
                Mount(host=self._prefix, inside=str(self._prefix)),
                Mount(host=self._built, inside=str(self._built)),
            ),
            limits=settings.run_limits(),
            env={"LD_LIBRARY_PATH": f"{self._prefix}/lib", **IPC_ENVIRON, **pinning_environ(self.device)},
            outputs=(DATA_FILE,),
            devices=device_files(self.device if self._is_exclusive else None),
        )

    def harness_template(self, settings: Settings) -> Template:
        """Return the box in which the harness owns the GPU's memory."""
        template = self.run_template(settings)
        return replace(template, name="harness", argv=(str(self._built / "harness"), BOX))

    def explain(self, output: str, request: JudgeRequest, translated: TranslatedSource) -> CompileFailure:
        """Return why hipcc failed, with positions in the author's source."""
        from warmfront.hip.diagnose import classify  # noqa: PLC0415 - only failed compilations need it

        declaration = request.problem.declaration(request.dtype)
        return classify(
            output,
            request.source,
            declaration,
            translated.assembly,
            rewritten=False,
            arch=self.gpu.arch,
        )

    def _flags(self) -> list[str]:
        """Return the flags for a submission.

        With the macro, ROCm 6.4 also has __shfl_sync and similar functions.
        """
        return [
            f"--offload-arch={self.gpu.arch}",
            *self._driver_flags,
            *("-O3", "-std=c++20", "-fPIC", "-DHIP_ENABLE_WARP_SYNC_BUILTINS", "-include hip/hip_runtime.h"),
        ]

    @functools.cached_property
    def _driver_flags(self) -> tuple[str, ...]:
        """The flags for clang that hipcc adds automatically."""
        return () if Path(self._hipcc).name == "hipcc" else ("--hip-link", "-D__HIP_PLATFORM_AMD__=1")

    @functools.cached_property
    def _prefix(self) -> Path:
        """The ROCm installation that contains the compiler, such as /opt/rocm-7.2.0."""
        folder = Path(self._hipcc).resolve().parent
        # amdclang++ is a link to the clang of /opt/rocm/lib/llvm/bin.
        return folder.parents[2] if folder.parts[-3:] == ("lib", "llvm", "bin") else folder.parent

    @property
    def is_built(self) -> bool:
        """Whether the guest is in the cache."""
        return self._entry.is_dir()

    def elapsed_s(self) -> float:
        """Return the time on this machine's clock."""
        return time.perf_counter()

    def keep_busy(self, seconds: float) -> bool:
        """Return False, because only kernels keep the device busy."""
        del seconds
        return False

    def build(self) -> None:
        """Build the guest, unless it is in the cache."""
        self._built  # noqa: B018 - the property builds it

    @functools.cached_property
    def _built(self) -> Path:
        return cache.get_or_build(self._cache_dir, self._entry.name, self._build)

    @functools.cached_property
    def _entry(self) -> Path:
        sources = (GUEST_SOURCE, HARNESS_SOURCE, *PROGRAM_HEADERS)
        return (
            self._cache_dir
            / f"rocm-{cache.digest([cache.file_identity(self._hipcc), self.gpu.arch, *sources])}"
        )

    def _build(self, into: Path) -> None:
        (into / "compiler.txt").write_text(run_compiler([self._hipcc, "--version"]).splitlines()[0])
        flags = [f"--offload-arch={self.gpu.arch}", *self._driver_flags, "-O2", "-std=c++20", "-rdynamic"]
        for source in (GUEST_SOURCE, HARNESS_SOURCE):
            program = into / source.stem
            run_compiler([self._hipcc, *flags, "-x", "hip", source, "-o", program, "-ldl", "-lpthread"])


def device_files(
    device: DeviceFacts | None, *, kfd: Path = KFD, render_nodes: Path = RENDER_NODES
) -> tuple[str, ...]:
    """Return the device files for a box: those of one device, or of all devices if it is unknown.

    In a container that has only one render node, the driver hides all other GPUs. Elsewhere it does not, and
    the runtime fails if it cannot open the render nodes of all GPUs that it sees.
    """
    found = sorted(render_nodes.glob("renderD*"))
    if device is not None and device.render_minor is not None:
        own = render_nodes / f"renderD{device.render_minor}"
        found = [own] if own in found else []
    return tuple(str(path) for path in (kfd, *found) if path.exists())


def pinning_environ(device: DeviceFacts | None) -> dict[str, str]:
    """Return the variables that make the runtime use this device, if it can see others as well."""
    if device is None or device.unique_id is None:
        return {}
    return {"ROCR_VISIBLE_DEVICES": f"GPU-{device.unique_id:016x}"}
