"""The checked build: a submission compiled so that the bug finder sees every load and store of it.

It describes boxes, as a toolchain does, and runs nothing itself. A machine on which it cannot be built checks
kernels without it.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from warmfront.errors import ToolchainFailed
from warmfront.hip import cache, cpu
from warmfront.hip.cpu.runtime_build import MAIN_HEADER, build_runtime, runtime_key
from warmfront.hip.toolchain import DATA_FILE, GUEST_SOURCE, LIBRARY_FILE, SOURCE_FILE, shell_job
from warmfront.sandbox.base import BOX, SCRATCH, Mount, Template

if TYPE_CHECKING:
    from pathlib import Path

    from warmfront.hip.cpu.host_compiler import HostCompiler
    from warmfront.settings import Settings

#: What the bug finder writes, one JSON object a line.
FINDINGS_FILE = "findings"

#: In the cache: why it could not be built.
FAILURE_FILE = "failure.txt"

#: Offsets in the library whose lines are asked for, one a line.
PLACES_FILE = "places"

_SOURCES = (*cpu.CHECKED_SOURCES, GUEST_SOURCE)
_ENV = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C", "TMPDIR": SCRATCH}


#: In each compiler's words: volatile accesses are told from plain ones, and nobody asks where functions begin
#: and end, which would be two calls and an exception handler in each.
_TSAN = {
    "g++": (
        "--param=tsan-distinguish-volatile=1",
        "--param=tsan-instrument-func-entry-exit=0",
        # A struct that is passed by value is read by a call, which g++ does not instrument; its constructor's
        # reading it does.
        "-fno-elide-constructors",
    ),
    "clang++": (
        *("-mllvm", "-tsan-distinguish-volatile=1"),
        *("-mllvm", "-tsan-instrument-func-entry-exit=0"),
        "-gdwarf-4",  # binutils' addr2line takes one file for another in clang's newer lines
    ),
}


class CheckedBuild:
    """Boxes that compile, run and explain a submission for the bug finder."""

    def __init__(self, cache_dir: Path, compiler: HostCompiler) -> None:
        self._cache_dir = cache_dir
        self._compiler = compiler
        self._flags = (*cpu.CHECKED_FLAGS, *_TSAN.get(compiler.name, ()))

    @property
    def is_built(self) -> bool:
        """Whether the cache knows of it: as built, or as something that cannot be built here."""
        return self._entry.is_dir()

    @property
    def failure(self) -> str | None:
        """Why it cannot be built here, in the compiler's words; None where it can."""
        file = self.built / FAILURE_FILE
        return file.read_text() if file.exists() else None

    @functools.cached_property
    def built(self) -> Path:
        """The cache entry with headers and worker; built if it is not there."""
        return cache.get_or_build(self._cache_dir, self._entry.name, self._try_to_build)

    @functools.cached_property
    def _entry(self) -> Path:
        flags = [*self._flags, "|", *cpu.CHECKED_RUNTIME_FLAGS, "|", *cpu.CHECKED_LINK_FLAGS]
        key = runtime_key(self._compiler, flags, (*_SOURCES, *cpu.CHECKED_HEADERS))
        return self._cache_dir / f"checked-{key}"

    def compile_template(self, settings: Settings) -> Template:
        """Compiles SOURCE_FILE to LIBRARY_FILE."""
        command = " ".join(
            [
                self._compiler.command,
                *self._flags,
                f"-I {self.built}/include -include {MAIN_HEADER} /box/{SOURCE_FILE}",
                *cpu.CHECKED_LINK_FLAGS,
                "-o $TMPDIR/solution.so",
            ]
        )
        return Template(
            name="compile checked",
            # The compiler whose library decides goes first.
            argv=shell_job(f"{command} && cat $TMPDIR/solution.so >/box/{LIBRARY_FILE}"),
            mounts=self._mounts,
            limits=settings.compile_limits(),
            env=_ENV,
            outputs=(LIBRARY_FILE,),
            may_fork=True,
        )

    def run_template(self, settings: Settings, *, most_steps: int) -> Template:
        """The worker with the bug finder in it, which ends after so many steps."""
        return Template(
            name="run checked",
            argv=(str(self.built / "guest"), BOX, str(most_steps)),
            mounts=self._mounts,
            limits=settings.run_limits(),
            env=cpu.RUN_ENV,
            outputs=(DATA_FILE, FINDINGS_FILE),
        )

    def lines_template(self, settings: Settings) -> Template:
        """Prints the lines that the offsets in PLACES_FILE come from."""
        return Template(
            name="lines",
            argv=shell_job(f"addr2line -a -f -i -e /box/{LIBRARY_FILE} </box/{PLACES_FILE}"),
            mounts=(),
            limits=settings.compile_limits(),
            env=_ENV,
            may_fork=True,
        )

    @property
    def _mounts(self) -> tuple[Mount, ...]:
        return (Mount(host=self.built, inside=str(self.built)),)

    def _try_to_build(self, into: Path) -> None:
        """Build it, or note why not: a machine that cannot must not try again with every run."""
        try:
            if self._compiler.unchecked:
                raise ToolchainFailed(self._compiler.unchecked)  # noqa: TRY301 - a failure as any other
            build_runtime(
                into,
                compiler=self._compiler,
                submission_flags=self._flags,
                runtime_flags=cpu.CHECKED_RUNTIME_FLAGS,
                sources=_SOURCES,
            )
        except ToolchainFailed as error:
            (into / FAILURE_FILE).write_text(error.message)
