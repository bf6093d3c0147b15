"""The `cpu` toolchain: a C++ compiler with our headers, precompiled, and our runtime.

What does not depend on the submission (headers, runtime, worker) is built once, outside any sandbox,
and cached. Numbers from here are simulator time.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from warmfront.hip import cache, cpu
from warmfront.hip.cpu.checked_build import CheckedBuild
from warmfront.hip.cpu.host_compiler import NAMES, HostCompiler, find_compiler
from warmfront.hip.cpu.runtime_build import MAIN_HEADER, build_runtime, runtime_key
from warmfront.hip.source.rewrite import rewrite
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
    from pathlib import Path

    from warmfront.hip.diagnose import CompileFailure
    from warmfront.judge_request import JudgeRequest
    from warmfront.settings import Settings


class CpuToolchain:
    """HIP on this machine's CPU, with the semantics of gfx942."""

    name = "cpu"
    simulated = True
    # The end of a buffer stands at a guard page, so a step past it faults at once and by name.
    guards = Guards(front_bytes=64, back_bytes=0, align=16)
    flush_bytes = 0
    warm_up_s = 0.02

    def __init__(self, cache_dir: Path, compiler: HostCompiler | None = None) -> None:
        self._cache_dir = cache_dir
        self._compiler = compiler or find_compiler(cache_dir)
        self.checked = CheckedBuild(cache_dir, self._compiler)

    @property
    def compiler(self) -> str:
        """The compiler and its version, as it says itself."""
        return (self.built / "compiler.txt").read_text().strip()

    @property
    def submission_flags(self) -> tuple[str, ...]:
        """For a submission and for the precompiled header, in the words of this compiler."""
        is_gcc = self._compiler.name == "g++"
        return (*cpu.SUBMISSION_FLAGS, *(cpu.GCC_FLAGS if is_gcc else ()))

    @property
    def _link_flags(self) -> tuple[str, ...]:
        return (*cpu.LINK_FLAGS, *(cpu.LIBRARY_FLAGS if self._compiler.name in NAMES else ()))

    def translate(self, submission: JudgeRequest) -> Translated:
        """Launches rewritten to calls, with the trailer behind; every line keeps its number."""
        translation = rewrite(submission.source)
        text = wrap(translation.text, submission.problem, submission.dtype)
        return Translated(text=text, assembly=translation.assembly)

    def compile_template(self, settings: Settings) -> Template:
        """One compiler call: compile and link, with nothing to link against."""
        compile_it = " ".join(
            [*self._compile_command(), f"/box/{SOURCE_FILE}", *self._link_flags, "-o $TMPDIR/solution.so"]
        )
        return Template(
            name="compile",
            argv=shell_job(f"{compile_it} && cat $TMPDIR/solution.so >/box/{LIBRARY_FILE}"),
            mounts=tuple(Mount(host=path, inside=str(path)) for path in (self.built, *self._compiler.places)),
            limits=settings.compile_limits(),
            env={"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C", "TMPDIR": SCRATCH},
            outputs=(LIBRARY_FILE,),
            may_fork=True,
        )

    def run_template(self, settings: Settings) -> Template:
        """The worker and nothing else."""
        return Template(
            name="run",
            argv=(str(self.built / "guest"), BOX),
            mounts=(Mount(host=self.built, inside=str(self.built)),),
            limits=settings.run_limits(),
            env=cpu.RUN_ENV,
            outputs=(DATA_FILE,),
        )

    def explain(self, output: str, submission: JudgeRequest, translated: Translated) -> CompileFailure:
        """The compiler's words in the author's lines."""
        from warmfront.hip.diagnose import classify  # noqa: PLC0415 - only failures need it

        declaration = submission.problem.declaration(submission.dtype)
        return classify(output, submission.source, declaration, translated.assembly)

    def _compile_command(self) -> list[str]:
        return [
            self._compiler.command,
            *self.submission_flags,
            *cpu.WHOLE_FLAGS,
            *self._compiler.include(self.built / "include", MAIN_HEADER),
        ]

    @property
    def is_built(self) -> bool:
        """Whether headers and worker are in the cache, the bug finder's too."""
        return self._entry.is_dir() and self._compiler.is_ready and self.checked.is_built

    @property
    def first_build(self) -> str:
        """What building them takes, for people."""
        return self._compiler.first_build

    def build(self) -> None:
        """Have them there. The bug finder's may fail: a check can do without."""
        self._compiler.prepare()
        self.built  # noqa: B018 - building is what asking for it does
        self.checked.built  # noqa: B018 - as above

    @functools.cached_property
    def built(self) -> Path:
        """The cache entry with headers, precompiled header and worker; built if it is not there."""
        return cache.get_or_build(self._cache_dir, self._entry.name, self._build)

    @functools.cached_property
    def _entry(self) -> Path:
        flags = [*self.submission_flags, "|", *cpu.RUNTIME_FLAGS, "|", *self._link_flags]
        key = runtime_key(self._compiler, flags, (*cpu.RUNTIME_SOURCES, GUEST_SOURCE))
        return self._cache_dir / f"cpu-{key}"

    def _build(self, into: Path) -> None:
        (into / "compiler.txt").write_text(self._compiler.version())
        build_runtime(
            into,
            compiler=self._compiler,
            submission_flags=self.submission_flags,
            runtime_flags=cpu.RUNTIME_FLAGS,
            sources=(*cpu.RUNTIME_SOURCES, GUEST_SOURCE),
        )
