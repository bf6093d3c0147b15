"""What a toolchain is: it turns an author's text into `solution.so` and knows the worker that loads it.

Two exist: `cpu`, our own runtime on this machine's CPU, and `rocm`, hipcc. Neither compiles anything an
author wrote outside a sandbox: a toolchain only describes the boxes in which that happens.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from warmfront.errors import NoToolchain

if TYPE_CHECKING:
    from warmfront.hip.cpu.checked_build import CheckedBuild
    from warmfront.hip.diagnose import CompileFailure
    from warmfront.judge_request import JudgeRequest
    from warmfront.sandbox.base import Template
    from warmfront.settings import Settings

#: The worker's source: one for every toolchain.
GUEST_SOURCE = Path(__file__).parent.parent / "judge" / "guest.cpp"

#: File names in the boxes' folders.
SOURCE_FILE = "solution.cpp"
LIBRARY_FILE = "solution.so"
DATA_FILE = "data"


@dataclass(frozen=True, kw_only=True)
class Guards:
    """Bytes around every tensor that a kernel must not touch, and that the judge looks at afterwards."""

    front_bytes: int
    back_bytes: int  #: at least; the region's size is rounded up to `align` as well
    align: int


@dataclass(frozen=True, kw_only=True)
class Translated:
    """An author's text as the compiler gets it."""

    text: str
    assembly: tuple[int, ...] = ()  #: lines with inline assembly, for a better message


class Toolchain(Protocol):
    """Turns HIP source into something that runs."""

    name: str
    simulated: bool  #: results come from the CPU simulator
    guards: Guards
    flush_bytes: int  #: written between timed calls, so that none finds its data in a cache
    warm_up_s: float  #: how long a kernel runs before it is timed

    @property
    def checked(self) -> CheckedBuild | None:
        """The build that the bug finder watches, where there is one."""

    @property
    def compiler(self) -> str:
        """The compiler and its version."""

    @property
    def is_built(self) -> bool:
        """Whether everything that does not depend on a submission is in the cache."""

    @property
    def first_build(self) -> str:
        """What building it takes, for people."""

    def build(self) -> None:
        """Build that, if it is not there: some seconds, once."""

    def translate(self, submission: JudgeRequest) -> Translated:
        """The text to compile; raises `RewriteError` where the author's text makes no sense."""

    def compile_template(self, settings: Settings) -> Template:
        """The box that compiles SOURCE_FILE to LIBRARY_FILE."""

    def run_template(self, settings: Settings) -> Template:
        """The box in which the worker runs."""

    def explain(self, output: str, submission: JudgeRequest, translated: Translated) -> CompileFailure:
        """What the compiler's output means to the author."""


def shell_job(command: str) -> tuple[str, ...]:
    """An argv that waits for a line on `commands`, as every box does, and then runs `command`."""
    return ("/bin/sh", "-c", f"read -r go </box/commands && {command}")


def open_toolchain(name: str | None, settings: Settings) -> Toolchain:
    """The toolchain of that name; `rocm` where hipcc is installed and `cpu` elsewhere when None."""
    from warmfront.hip.cpu.cpu_toolchain import CpuToolchain  # noqa: PLC0415 - only the one that is used
    from warmfront.hip.rocm import RocmToolchain, find_hipcc, has_gpu  # noqa: PLC0415 - as above

    if name is None:
        name = "rocm" if find_hipcc() and has_gpu() else "cpu"
    if name == "cpu":
        return CpuToolchain(settings.cache_dir)
    if name == "rocm":
        return RocmToolchain(settings.cache_dir)
    raise NoToolchain(f"There is no toolchain {name!r}.", hint="Use --toolchain cpu or --toolchain rocm.")
