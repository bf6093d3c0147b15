"""The checked build: a submission compiled so that it reports every load and store to the bug finder.

Like a toolchain, it describes boxes and does not run anything itself. On a machine where it cannot be built,
kernels are checked without the bug finder.
"""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import TYPE_CHECKING

from warmfront import gpus
from warmfront.errors import ToolchainFailed
from warmfront.hip import cache, cpu
from warmfront.hip.cpu.runtime_build import MAIN_HEADER, build_runtime, runtime_key
from warmfront.hip.cpu.unaligned import unaligned_access_flags
from warmfront.hip.toolchain import (
    DATA_FILE,
    GUEST_SOURCE,
    LIBRARY_FILE,
    PROGRAM_HEADERS,
    SECONDARY_CPU_WEIGHT,
    SOURCE_FILE,
    shell_job,
)
from warmfront.sandbox.base import BOX, SCRATCH, Mount, Template

if TYPE_CHECKING:
    from pathlib import Path

    from warmfront.gpus import Gpu
    from warmfront.hip.cpu.host_compiler import HostCompiler
    from warmfront.settings import Settings

#: The output of the bug finder: one JSON object per line.
FINDINGS_FILE = "findings"

#: A file in the cache entry that says why the build failed.
FAILURE_FILE = "failure.txt"

#: The offsets in the library whose source lines are requested, one per line.
PLACES_FILE = "places"

_SOURCES = cpu.CHECKED_SOURCES
_ENV = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C", "TMPDIR": SCRATCH}


#: Flags of each compiler to distinguish volatile accesses from plain ones, and to omit the calls at the entry
#: and exit of functions, which would also need an exception handler in each function.
_TSAN = {
    "g++": (
        "--param=tsan-distinguish-volatile=1",
        "--param=tsan-instrument-func-entry-exit=0",
        # g++ does not instrument the read of a struct that is passed by value, but does instrument its copy
        # constructor.
        "-fno-elide-constructors",
    ),
    "clang++": (
        *("-mllvm", "-tsan-distinguish-volatile=1"),
        *("-mllvm", "-tsan-instrument-func-entry-exit=0"),
        "-gdwarf-4",  # binutils' addr2line confuses file names in the DWARF 5 that clang writes by default
    ),
}


class CheckedBuild:
    """The boxes that compile and run a submission for the bug finder, and find the lines of its findings."""

    def __init__(self, cache_dir: Path, compiler: HostCompiler, gpu: Gpu = gpus.MI300X) -> None:
        self._cache_dir = cache_dir
        self._gpu = gpu
        self._compiler = compiler

    @functools.cached_property
    def _flags(self) -> tuple[str, ...]:
        own = _TSAN.get(self._compiler.name, ())
        return (*cpu.CHECKED_FLAGS, *own, *unaligned_access_flags(self._compiler, self._cache_dir))

    @property
    def is_built(self) -> bool:
        """Whether the cache has the build, or a record that it cannot be built on this machine."""
        return self._entry.is_dir()

    @property
    def failure(self) -> str | None:
        """The compiler's message if the build fails on this machine; None if it works."""
        file = self.built / FAILURE_FILE
        return file.read_text() if file.exists() else None

    @functools.cached_property
    def built(self) -> Path:
        """The cache entry with headers and guest; reading this property builds it if necessary."""
        return cache.get_or_build(self._cache_dir, self._entry.name, self._try_to_build)

    @functools.cached_property
    def _entry(self) -> Path:
        flags = [*self._flags, "|", *cpu.CHECKED_RUNTIME_FLAGS, "|", *cpu.CHECKED_LINK_FLAGS]
        key = runtime_key(
            self._compiler, flags, (*_SOURCES, GUEST_SOURCE, *PROGRAM_HEADERS, *cpu.CHECKED_HEADERS)
        )
        return self._cache_dir / f"checked-{key}"

    def compile_template(self, settings: Settings) -> Template:
        """Return the box that compiles SOURCE_FILE to LIBRARY_FILE."""
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
            # As in the toolchain, the library is copied only after the compiler has succeeded.
            argv=shell_job(f"{command} && cat $TMPDIR/solution.so >/box/{LIBRARY_FILE}"),
            mounts=self._mounts,
            limits=replace(settings.compile_limits(), cpu_weight=SECONDARY_CPU_WEIGHT),
            env=_ENV,
            outputs=(LIBRARY_FILE,),
            may_fork=True,
        )

    def run_template(self, settings: Settings, *, max_steps: int) -> Template:
        """Return the box that runs the guest with the bug finder, which stops after `max_steps` accesses."""
        return Template(
            name="run checked",
            argv=(str(self.built / "guest"), BOX, str(max_steps)),
            mounts=self._mounts,
            limits=settings.bug_finder_limits(),
            env=cpu.run_env(self._gpu),
            outputs=(DATA_FILE, FINDINGS_FILE),
        )

    def lines_template(self, settings: Settings) -> Template:
        """Return the box that prints the source lines of the offsets in PLACES_FILE."""
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
        """Try to build the entry; if that fails, store the reason, so that later runs do not try again."""
        try:
            if self._compiler.checked_build_error:
                raise ToolchainFailed(self._compiler.checked_build_error)  # noqa: TRY301 - handled like a failed build
            build_runtime(
                into,
                compiler=self._compiler,
                submission_flags=self._flags,
                runtime_flags=cpu.CHECKED_RUNTIME_FLAGS,
                sources=_SOURCES,
                programs=(GUEST_SOURCE,),
            )
        except ToolchainFailed as error:
            (into / FAILURE_FILE).write_text(error.message)
