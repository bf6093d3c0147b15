"""The `Toolchain` interface: how HIP source becomes `solution.so`, and which guest loads it.

Three toolchains exist: `cpu`, our CPU runtime for HIP; `rocm`, hipcc for a GPU; and `stub`, the CPU runtime
with the latencies and faults of a GPU, for tests. A toolchain never compiles or runs submitted code itself.
It describes the boxes in which a sandbox does so.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from warmfront import gpus
from warmfront.errors import NoToolchain
from warmfront.hip.rocm_installation import find_hipcc, has_gpu
from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from warmfront.gpus import Gpu
    from warmfront.hip.cpu.checked_build import CheckedBuild
    from warmfront.hip.device_facts import DeviceFacts
    from warmfront.hip.diagnose import CompileFailure
    from warmfront.judge_request import JudgeRequest
    from warmfront.problems.spec import Scale
    from warmfront.sandbox.base import Template
    from warmfront.settings import Settings

#: The guest's source. Every toolchain builds the same file.
GUEST_SOURCE = Path(__file__).parent.parent / "judge" / "guest.cpp"
#: The harness's source, for toolchains whose device memory is not the judge's.
HARNESS_SOURCE = GUEST_SOURCE.with_name("harness.cpp")
#: The headers that these two include.
PROGRAM_HEADERS = tuple(
    GUEST_SOURCE.with_name(name)
    for name in ("channel.h", "device_check.h", "device_probes.h", "device_references.h", "slot_kernels.h")
)

#: The CPU weight of compilers that run alongside the primary one, whose result is needed first.
SECONDARY_CPU_WEIGHT = 25

#: File names in the folder of a box.
SOURCE_FILE = "solution.cpp"
LIBRARY_FILE = "solution.so"
DATA_FILE = "data"


@dataclass(frozen=True, kw_only=True)
class GuardZones:
    """The bytes around every tensor that a kernel must not change; the judge checks them after a call."""

    front_bytes: int
    back_bytes: int  #: a minimum: the size of a region is also rounded up to `align`
    align: int


@dataclass(frozen=True, kw_only=True)
class TranslatedSource:
    """The compiler's input for a submission's source."""

    text: str
    assembly: tuple[int, ...] = ()  #: the lines with inline assembly, for error messages


class Toolchain(Protocol):
    """A toolchain, which turns HIP source into a library that the guest can load and run.

    A toolchain is used in this order: `build` once per machine, then for every submission `translate`, a box
    from `compile_template`, and a box from `run_template`:

        toolchain = open_toolchain("cpu", settings)
        toolchain.build()
        translated = toolchain.translate(request)
        with sandbox.take(toolchain.compile_template(settings)) as box:
            ...  # write translated.text to SOURCE_FILE, start the box, read LIBRARY_FILE

    If the compiler fails, `explain` turns its output into a `CompileFailure`.
    """

    name: str  #: `cpu`, `rocm` or `stub`
    simulated: bool  #: whether results come from the CPU runtime instead of a GPU
    gpu: Gpu  #: the GPU that it compiles for; if simulated, the GPU whose results it simulates
    device: DeviceFacts | None  #: the device that it uses, as the driver describes it; None if simulated
    guards: GuardZones
    shared_memory: bool  #: whether the guest works on the judge's memory instead of a harness's
    flush_bytes: int  #: how much to write between timed calls, so that no call finds its data in a cache
    warm_up_s: float  #: how long a kernel runs before it is timed
    counts_cpu_time: bool  #: whether a call's time is the CPU time of its box instead of `elapsed_s`
    scale: Scale  #: the size of the cases

    @property
    def checked_build(self) -> CheckedBuild | None:
        """The build for the bug finder; None if this toolchain has none."""

    @property
    def compiler(self) -> str:
        """The compiler and its version."""

    @property
    def is_built(self) -> bool:
        """Whether everything that does not depend on a submission is in the cache."""

    @property
    def first_build_notice(self) -> str:
        """The line to print before the first `build`, which takes a while."""

    def elapsed_s(self) -> float:
        """Return the time on the clock that measures windows. Only differences are meaningful."""

    def keep_busy(self, seconds: float) -> bool:
        """Keep the device busy for this long, if that is possible without a kernel; return whether it is.

        No box may use the device at the same time.
        """

    def build(self) -> None:
        """Build everything that does not depend on a submission, unless it is in the cache.

        The first call takes seconds, or minutes on a machine without its own compiler.

        Raises:
            ToolchainFailed: the compiler cannot build our sources, or the cache directory is not writable.
        """

    def translate(self, request: JudgeRequest) -> TranslatedSource:
        """Return the text to compile for `request`; its lines have the same numbers as the author's.

        Args:
            request: the source, and the problem and dtype whose signature `solution` must have.

        Raises:
            RewriteError: the source has a launch or a declaration that cannot be translated, or a name that
                no submission may use.
        """

    def compile_template(self, settings: Settings) -> Template:
        """Return the box that compiles SOURCE_FILE to LIBRARY_FILE.

        Args:
            settings: the limits for time, memory and file sizes of a compilation.
        """

    def run_template(self, settings: Settings) -> Template:
        """Return the box in which the guest loads LIBRARY_FILE and runs it.

        Args:
            settings: the limits for time and memory of a run.
        """

    def harness_template(self, settings: Settings) -> Template:
        """Return the box in which the harness owns device memory. It is only needed without `shared_memory`.

        Args:
            settings: the limits for time and memory of a run.
        """

    def explain(self, output: str, request: JudgeRequest, translated: TranslatedSource) -> CompileFailure:
        """Return why a compilation failed, with positions in the author's source.

        Args:
            output: everything that the compiler printed.
            request: the request that was translated.
            translated: the text that was compiled.
        """


def shell_job(command: str) -> tuple[str, ...]:
    """Return an argv that waits for a line on `commands`, as every box does, and then runs `command`."""
    return ("/bin/sh", "-c", f"read -r go </box/commands && {command}")


def default_toolchain() -> str:
    """Return `rocm` if the machine has hipcc and a GPU, and `cpu` otherwise."""
    return "rocm" if has_gpu() and find_hipcc() else "cpu"


def open_toolchain(name: str | None, settings: Settings, *, device: DeviceFacts | None = None) -> Toolchain:
    """Return the toolchain `name`; None selects `rocm` if the machine has hipcc and a GPU, otherwise `cpu`.

    Args:
        name: `cpu`, `rocm`, `stub` or None.
        settings: the settings with the build cache and the GPU that the CPU runtime simulates.
        device: the only device that boxes can use; by default the first, with the files of all devices.

    Raises:
        NoToolchain: there is no toolchain of that name, or its compiler is not installed.
    """
    # All toolchains are imported here, so that only the one in use is loaded.
    uses_emulator = settings.rocm_device == "rocjitsu"
    name = name or ("rocm" if uses_emulator else default_toolchain())
    if name == "cpu":
        from warmfront.hip.cpu.cpu_toolchain import CpuToolchain  # noqa: PLC0415

        return CpuToolchain(settings.cache_dir, gpu=gpus.get(settings.judge_gpu))
    if name == "rocm" and uses_emulator:
        from warmfront.hip.rocjitsu import RocjitsuToolchain, find_emulator  # noqa: PLC0415

        wanted = gpus.get(settings.judge_gpu)
        return RocjitsuToolchain(settings.cache_dir, find_emulator(settings, wanted.arch), wanted)
    from warmfront.hip.installed_gpu import gpu_of  # noqa: PLC0415

    if name == "rocm":
        from warmfront.hip.device_facts import installed_devices  # noqa: PLC0415
        from warmfront.hip.rocm import RocmToolchain  # noqa: PLC0415

        used = device or next(iter(installed_devices()), None)
        gpu = gpu_of(used) if used else None
        return RocmToolchain(
            settings.cache_dir,
            gpu or gpus.get(settings.judge_gpu),
            used,
            is_exclusive=device is not None,
        )
    if name == "stub":
        from warmfront.hip.stub.stub_spec import StubSpec  # noqa: PLC0415
        from warmfront.hip.stub.stub_toolchain import StubToolchain, visible_stub_devices  # noqa: PLC0415

        spec, leased = StubSpec.parse(settings.stub_gpu), gpus.get(settings.judge_gpu)
        device = device or next(iter(visible_stub_devices(spec, leased)), None)
        gpu = gpu_of(device) if device else None
        return StubToolchain(
            settings.cache_dir, spec, gpu=gpu or leased, device=device, base=settings.box_dir
        )
    raise NoToolchain(f"Unknown toolchain {name!r}: it must be 'cpu', 'rocm' or 'stub'.")
