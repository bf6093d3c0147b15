"""What compiles for the CPU runtime: the machine's g++ or clang++, or else clang from PyPI's `ziglang`.

It knows which one there is and how they differ; it starts none on anything an author wrote.
"""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

from warmfront.errors import NoToolchain, ToolchainFailed
from warmfront.hip import cache
from warmfront.hip.zig_wheel import INSTALL, find_wheel

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


#: Tried in this order, before the wheel.
NAMES = ("g++", "clang++")


@dataclass(frozen=True, kw_only=True)
class HostCompiler:
    """A C++ compiler, and what is its own way."""

    name: str  #: `g++`, `clang++` or `ziglang`
    command: str  #: the program to run
    reason: str = "it was asked for"  #: why this one is used, for people
    identity: str  #: tells it from another one, or another version, without starting it
    #: To link the worker, behind its objects.
    worker_flags: tuple[str, ...] = ("-ldl", "-lpthread")
    #: Why the bug finder cannot be built with it; None where it may be tried.
    unchecked: str | None = None

    @property
    def places(self) -> tuple[Path, ...]:
        """What a box must see of it, beside the system's own folders."""
        return ()

    @property
    def is_ready(self) -> bool:
        """Whether it can be started."""
        return True

    @property
    def first_build(self) -> str:
        """What building with it takes the first time, for people."""
        return "Building the runtime and its precompiled header, once …"

    def prepare(self) -> None:
        """Make it ready."""

    def version(self) -> str:
        """The compiler and its version, as it says itself."""
        return run_compiler([self.command, "--version"]).splitlines()[0]

    def precompile(self, folder: Path, header: str) -> list[str]:
        """Flags to precompile that header of a folder, next to it."""
        suffix = "gch" if self.name == "g++" else "pch"
        file = folder / header
        return ["-I", str(folder), "-x", "c++-header", str(file), "-o", f"{file}.{suffix}"]

    def include(self, folder: Path, header: str) -> list[str]:
        """Flags to compile a file that begins with that header, precompiled if need be."""
        return ["-I", str(folder), "-include", header]


def find_compiler(cache_dir: Path) -> HostCompiler:
    """The compiler to use on this machine."""
    for name in NAMES:
        if found := shutil.which(name):
            reason = f"the first of {', '.join(NAMES)} that is installed"
            return HostCompiler(name=name, command=found, reason=reason, identity=cache.file_identity(found))
    if wheel := find_wheel():
        from warmfront.hip.cpu.zig import find_zig_compiler  # noqa: PLC0415 - machines without one of their own

        return find_zig_compiler(wheel, cache_dir)
    raise NoToolchain(
        "No C++ compiler was found.", hint=f"Run: sudo apt-get install g++ (or, without root, {INSTALL})"
    )


def run_compiler(argv: Sequence[str | Path], env: dict[str, str] | None = None) -> str:
    """Run a compiler on our own sources; what it says on failure is ours to mend."""
    command = [str(part) for part in argv]
    result = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
    if result.returncode != 0:
        raise ToolchainFailed(
            f"{argv[0]} could not build Warmfront's own parts:\n{result.stderr[-4000:]}",
            hint="`warmfront doctor` says what this machine has; a newer g++ (12 or later) is needed.",
        )
    return result.stdout
