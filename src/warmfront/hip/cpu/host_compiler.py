"""The compiler for the CPU runtime: the machine's g++ or clang++, or clang from the `ziglang` wheel.

This module finds the compiler and handles differences between compilers. It never runs one on submitted code.
"""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

from warmfront.errors import NoToolchain, ToolchainFailed
from warmfront.hip import cache
from warmfront.hip.zig_wheel import INSTALL, find_wheel
from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


#: The compilers to look for, in this order, before the wheel.
NAMES = ("g++", "clang++")


@dataclass(frozen=True, kw_only=True)
class HostCompiler:
    """A C++ compiler, and its differences from others."""

    name: str  #: `g++`, `clang++` or `ziglang`
    command: str  #: the program to run
    reason: str = "it was requested"  #: why this one is used, to be displayed
    identity: str  #: differs between compilers and versions; a part of cache keys
    #: To link the guest, after its objects.
    guest_flags: tuple[str, ...] = ("-ldl", "-lpthread")
    #: Why the checked build is impossible with this compiler; None if it can be tried.
    checked_build_error: str | None = None

    @property
    def mounts(self) -> tuple[Path, ...]:
        """The folders that a box needs for this compiler, in addition to the system's."""
        return ()

    @property
    def is_ready(self) -> bool:
        """Whether the compiler can be run."""
        return True

    @property
    def first_build_notice(self) -> str:
        """The line to print before the first build with this compiler."""
        return "Building the runtime and its precompiled header (only once) …"

    def prepare(self) -> None:
        """Make the compiler ready to run."""

    def version(self) -> str:
        """Return the first line of `--version`."""
        return run_compiler([self.command, "--version"]).splitlines()[0]

    def precompile(self, folder: Path, header: str) -> list[str]:
        """Return the flags that precompile a header of `folder`, next to it."""
        suffix = "gch" if self.name == "g++" else "pch"
        file = folder / header
        return ["-I", str(folder), "-x", "c++-header", str(file), "-o", f"{file}.{suffix}"]

    def include(self, folder: Path, header: str) -> list[str]:
        """Return the flags that include the precompiled header of `folder` before a source file."""
        return ["-I", str(folder), "-include", header]


def find_compiler(cache_dir: Path) -> HostCompiler:
    """Return the compiler to use on this machine.

    Raises:
        NoToolchain: there is neither g++ nor clang++, and the `ziglang` wheel is not installed.
    """
    for name in NAMES:
        if path := shutil.which(name):
            reason = f"the first of {', '.join(NAMES)} that is installed"
            return HostCompiler(name=name, command=path, reason=reason, identity=cache.file_identity(path))
    if wheel := find_wheel():
        from warmfront.hip.cpu.zig import find_zig_compiler  # noqa: PLC0415 - only for machines without a compiler

        return find_zig_compiler(wheel, cache_dir)
    raise NoToolchain(
        "No C++ compiler was found.", hint=f"Run: sudo apt-get install g++ (or, without root, {INSTALL})"
    )


def run_compiler(argv: Sequence[str | Path], env: dict[str, str] | None = None) -> str:
    """Run a compiler on our own sources and return its output.

    Raises:
        ToolchainFailed: the compiler failed.
    """
    command = [str(part) for part in argv]
    result = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
    if result.returncode != 0:
        raise ToolchainFailed(
            f"{argv[0]} could not build Warmfront's runtime:\n{result.stderr[-4000:]}",
            hint="Install g++ 12 or later.",
        )
    return result.stdout
