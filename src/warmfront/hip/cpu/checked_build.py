"""The checked build: a submission compiled so that the bug finder sees every load and store of it.

It describes boxes, as a toolchain does, and runs nothing itself. A machine on which it cannot be built checks
kernels without it.
"""

from __future__ import annotations

import functools
import logging
from typing import TYPE_CHECKING

from warmfront.errors import ToolchainFailed
from warmfront.hip import cache, cpu
from warmfront.hip.cpu.parts import MAIN_HEADER, build_parts, parts_key
from warmfront.hip.toolchain import DATA_FILE, LIBRARY_FILE, SOURCE_FILE, WORKER_SOURCE, shell_job
from warmfront.sandbox.base import BOX, Mount, Template

if TYPE_CHECKING:
    from pathlib import Path

    from warmfront.settings import Settings

log = logging.getLogger(__name__)

#: What the bug finder writes, one JSON object a line.
FINDINGS_FILE = "findings"

#: Offsets in the library whose lines are asked for, one a line.
PLACES_FILE = "places"

_SOURCES = (*cpu.CHECKED_SOURCES, WORKER_SOURCE)
_ENV = {"PATH": "/usr/local/bin:/usr/bin:/bin", "LC_ALL": "C", "TMPDIR": "/tmp"}  # noqa: S108 - the box's


class CheckedBuild:
    """Boxes that compile, run and explain a submission for the bug finder."""

    def __init__(self, cache_dir: Path, compiler: str) -> None:
        self._cache_dir = cache_dir
        self._compiler = compiler

    def try_to_build(self) -> bool:
        """Have headers and worker in the cache; whether that worked."""
        try:
            return self.built.is_dir()
        except ToolchainFailed as error:
            log.warning("the bug finder cannot be built: %s", error.message)
            return False

    @functools.cached_property
    def built(self) -> Path:
        """The cache entry; built if it is not there."""
        flags = [*cpu.CHECKED_FLAGS, "|", *cpu.CHECKED_RUNTIME_FLAGS, "|", *cpu.CHECKED_LINK_FLAGS]
        key = parts_key(self._compiler, flags, (*_SOURCES, *cpu.CHECKED_HEADERS))
        return cache.entry(self._cache_dir, f"checked-{key}", self._build)

    def compile_template(self, settings: Settings) -> Template:
        """Compiles SOURCE_FILE to LIBRARY_FILE."""
        command = " ".join(
            [
                self._compiler,
                *cpu.CHECKED_FLAGS,
                f"-I {self.built}/include -include {MAIN_HEADER} /box/{SOURCE_FILE}",
                *cpu.CHECKED_LINK_FLAGS,
                "-o /tmp/solution.so",
            ]
        )
        return Template(
            name="compile checked",
            # The compiler whose library decides goes first.
            argv=shell_job(f"nice -n 10 {command} && cat /tmp/solution.so >/box/{LIBRARY_FILE}"),
            mounts=self._mounts,
            limits=settings.compile_limits(),
            env=_ENV,
            outputs=(LIBRARY_FILE,),
            may_fork=True,
        )

    def run_template(self, settings: Settings, *, most_accesses: int) -> Template:
        """The worker with the bug finder in it, which looks at so many accesses."""
        return Template(
            name="run checked",
            argv=(str(self.built / "worker"), BOX, str(most_accesses)),
            mounts=self._mounts,
            limits=settings.run_limits(),
            env=cpu.RUN_ENV,
            outputs=(DATA_FILE, FINDINGS_FILE),
        )

    def lines_template(self, settings: Settings) -> Template:
        """Prints the lines that the offsets in PLACES_FILE come from."""
        return Template(
            name="lines",
            argv=shell_job(f"addr2line -a -i -e /box/{LIBRARY_FILE} </box/{PLACES_FILE}"),
            mounts=(),
            limits=settings.compile_limits(),
            env=_ENV,
            may_fork=True,
        )

    @property
    def _mounts(self) -> tuple[Mount, ...]:
        return (Mount(host=self.built, inside=str(self.built)),)

    def _build(self, into: Path) -> None:
        build_parts(
            into,
            compiler=self._compiler,
            submission_flags=cpu.CHECKED_FLAGS,
            runtime_flags=cpu.CHECKED_RUNTIME_FLAGS,
            sources=_SOURCES,
        )
