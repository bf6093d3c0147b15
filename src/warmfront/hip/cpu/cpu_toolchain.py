"""The `cpu` toolchain: a C++ compiler with our headers, precompiled, and our runtime.

Everything that does not depend on the submission (headers, runtime, guest) is built once, outside any
sandbox, and cached. Times measured with this toolchain are simulated: they are CPU times, not GPU times.
"""

from __future__ import annotations

import functools
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from warmfront import gpus
from warmfront.hip import cache, cpu
from warmfront.hip.cpu.checked_build import CheckedBuild
from warmfront.hip.cpu.host_compiler import NAMES, HostCompiler, find_compiler
from warmfront.hip.cpu.runtime_build import MAIN_HEADER, build_runtime, runtime_key
from warmfront.hip.cpu.unaligned import unaligned_access_flags
from warmfront.hip.source import SECOND_FORM
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
    from pathlib import Path

    from warmfront.gpus import Gpu
    from warmfront.hip.device_facts import DeviceFacts
    from warmfront.hip.diagnose import CompileFailure
    from warmfront.judge_request import JudgeRequest
    from warmfront.settings import Settings


#: What g++ prints if it fails by a defect of its own, which no source should cause.
_COMPILER_DEFECT = "internal compiler error: in "


class CpuToolchain:
    """The toolchain that runs HIP on this machine's CPU with the semantics of gfx942. See `Toolchain`."""

    name = "cpu"
    simulated = True
    device: DeviceFacts | None = None
    # A buffer ends at a guard page, so that an access past its end faults at once, with the name of the
    # buffer.
    guards = GuardZones(front_bytes=64, back_bytes=0, align=16)
    shared_memory = True
    flush_bytes = 0
    warm_up_s = 0.02
    counts_cpu_time = True
    scale = Scale.CPU

    def __init__(
        self, cache_dir: Path, compiler: HostCompiler | None = None, *, gpu: Gpu = gpus.MI300X
    ) -> None:
        self.gpu = gpu
        self._cache_dir = cache_dir
        self._compiler = compiler or find_compiler(cache_dir)
        self.checked_build = self._make_checked_build()

    def _make_checked_build(self) -> CheckedBuild | None:
        return CheckedBuild(self._cache_dir, self._compiler, self.gpu)

    @property
    def compiler(self) -> str:
        """The compiler and its version."""
        return (self.built / "compiler.txt").read_text().strip()

    @functools.cached_property
    def submission_flags(self) -> tuple[str, ...]:
        """The flags for submissions and for the precompiled header with this compiler."""
        own = cpu.GCC_FLAGS if self._compiler.name == "g++" else ()
        return (*cpu.SUBMISSION_FLAGS, *own, *unaligned_access_flags(self._compiler, self._cache_dir))

    @property
    def _link_flags(self) -> tuple[str, ...]:
        return (*cpu.LINK_FLAGS, *(cpu.LIBRARY_FLAGS if self._compiler.name in NAMES else ()))

    def translate(self, request: JudgeRequest) -> TranslatedSource:
        """Return the source with launches rewritten as calls, and the trailer; lines keep their numbers."""
        # Imported while the boxes of the compilers start.
        from warmfront.hip.source.refusals import refuse  # noqa: PLC0415 - see above
        from warmfront.hip.source.rewrite import rewrite  # noqa: PLC0415 - see above

        refuse(request.source)
        translation = rewrite(request.source, self.gpu.arch)
        text = translation.includes + wrap_source(translation.text, request.problem, request.dtype)
        return TranslatedSource(text=text, assembly=translation.assembly)

    def compile_template(self, settings: Settings) -> Template:
        """Return the box that compiles and links with one call of the compiler."""
        output = [*self._link_flags, "-o $TMPDIR/solution.so"]
        command = " ".join([*self._compile_command(), f"/box/{SOURCE_FILE}", *output])
        # The second form of a kernel repeats its statements in another place. If that does not compile, the
        # messages are those for the author's lines alone. A macro on the command line would make the
        # precompiled header unusable, so it is in the text: `python -m bench.compile_growth`.
        without = f"'#undef {SECOND_FORM}' '#define {SECOND_FORM}(...)'"
        text = f"{{ printf '%s\\n' {without}; cat /box/{SOURCE_FILE}; }}"
        retry = " ".join([text, "|", *self._compile_command(), "-x c++ -", *output])
        # g++'s vectorizer fails on some correct sources.
        build = (
            f"{{ {command} 2>$TMPDIR/messages || "
            f"if grep -q '{_COMPILER_DEFECT}' $TMPDIR/messages; then {command} -fno-tree-vectorize; "
            f"elif grep -q {SECOND_FORM} /box/{SOURCE_FILE}; then {retry}; "
            "else cat $TMPDIR/messages >&2; false; fi; }"
        )
        return Template(
            name="compile",
            argv=shell_job(f"{build} && cat $TMPDIR/solution.so >/box/{LIBRARY_FILE}"),
            mounts=tuple(Mount(host=path, inside=str(path)) for path in (self.built, *self._compiler.mounts)),
            limits=settings.compile_limits(),
            env={"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C", "TMPDIR": SCRATCH},
            outputs=(LIBRARY_FILE,),
            may_fork=True,
        )

    def run_template(self, settings: Settings) -> Template:
        """Return the box that runs the guest."""
        return Template(
            name="run",
            argv=(str(self.built / "guest"), BOX),
            mounts=(Mount(host=self.built, inside=str(self.built)),),
            limits=settings.run_limits(),
            env=cpu.run_env(self.gpu),
            outputs=(DATA_FILE,),
        )

    def harness_template(self, settings: Settings) -> Template:
        """Return the box that runs the harness. Only tests use it, because the data file is device memory."""
        template = self.run_template(settings)
        return replace(template, name="harness", argv=(str(self.built / "harness"), BOX))

    def explain(self, output: str, request: JudgeRequest, translated: TranslatedSource) -> CompileFailure:
        """Return why the compiler failed, with positions in the author's source."""
        from warmfront.hip.diagnose import classify  # noqa: PLC0415 - only failed compilations need it

        declaration = request.problem.declaration(request.dtype)
        return classify(output, request.source, declaration, translated.assembly, arch=self.gpu.arch)

    def _compile_command(self) -> list[str]:
        return [
            self._compiler.command,
            *self.submission_flags,
            *cpu.WHOLE_FLAGS,
            *self._compiler.include(self.built / "include", MAIN_HEADER),
        ]

    @property
    def is_built(self) -> bool:
        """Whether headers and guest are in the cache, for the checked build as well."""
        has_checked = self.checked_build is None or self.checked_build.is_built
        return self._entry.is_dir() and self._compiler.is_ready and has_checked

    @property
    def first_build_notice(self) -> str:
        """The line to print before the first build."""
        return self._compiler.first_build_notice

    def elapsed_s(self) -> float:
        """Return the time on this machine's clock."""
        return time.perf_counter()

    def keep_busy(self, seconds: float) -> bool:
        """Return False, because only kernels keep the device busy."""
        del seconds
        return False

    def build(self) -> None:
        """Build everything that is not in the cache.

        The checked build may fail: kernels are then checked without it.
        """
        self._compiler.prepare()
        self.built  # noqa: B018 - the property builds it
        if self.checked_build:
            self.checked_build.built  # noqa: B018 - the property builds it

    @functools.cached_property
    def built(self) -> Path:
        """The cache entry with headers, precompiled header and guest; reading this builds it if necessary."""
        return cache.get_or_build(self._cache_dir, self._entry.name, self._build)

    @functools.cached_property
    def _entry(self) -> Path:
        flags = [*self.submission_flags, "|", *cpu.RUNTIME_FLAGS, "|", *self._link_flags]
        sources = (*cpu.RUNTIME_SOURCES, GUEST_SOURCE, HARNESS_SOURCE, *PROGRAM_HEADERS)
        key = runtime_key(self._compiler, flags, sources)
        return self._cache_dir / f"cpu-{key}"

    def _build(self, into: Path) -> None:
        (into / "compiler.txt").write_text(self._compiler.version())
        build_runtime(
            into,
            compiler=self._compiler,
            submission_flags=self.submission_flags,
            runtime_flags=cpu.RUNTIME_FLAGS,
            sources=cpu.RUNTIME_SOURCES,
            programs=(GUEST_SOURCE, HARNESS_SOURCE),
        )
