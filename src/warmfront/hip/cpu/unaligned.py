"""Flags for vector accesses at any address, which an MI300X supports.

From gfx9 on, loads and stores of vectors work at any address if `SH_MEM_CONFIG.alignment_mode` allows it,
which ROCm's driver and its compiler (`unaligned-access-mode`) both set: https://reviews.llvm.org/D82788.
x86-64 has instructions for aligned vectors that fault at other addresses, so a compiler must not use them.
"""

from __future__ import annotations

import platform
import shutil
import subprocess
from typing import TYPE_CHECKING, Final

from warmfront.hip import cache

if TYPE_CHECKING:
    from pathlib import Path

    from warmfront.hip.cpu.host_compiler import HostCompiler

#: For g++, whose assembler encodes aligned moves as unaligned ones; binutils 2.38 and later.
_ASSEMBLER_OPTION: Final = "-muse-unaligned-vector-move"

#: For clang: a pointer's type says nothing about more than 8 bytes, unless it has an explicit alignment.
_CLANG_FLAGS: Final = ("-fmax-type-align=8",)

_SUPPORTED: Final = "supported"


def unaligned_access_flags(compiler: HostCompiler, cache_dir: Path) -> tuple[str, ...]:
    """Return the flags with which vectors can be loaded and stored at any address."""
    if platform.machine() != "x86_64":
        return ()  # The loads and stores of other processors work at any address.
    if compiler.name != "g++":
        return _CLANG_FLAGS
    assembler = shutil.which("as")
    if assembler is None:
        return ()
    name = f"assembler-{cache.digest([cache.file_identity(assembler)])}"
    entry = cache.get_or_build(cache_dir, name, lambda into: _probe(assembler, into))
    return (f"-Wa,{_ASSEMBLER_OPTION}",) if (entry / _SUPPORTED).exists() else ()


def _probe(assembler: str, into: Path) -> None:
    """Record whether the assembler supports the option."""
    command = [assembler, _ASSEMBLER_OPTION, "-o", "/dev/null", "-"]
    if subprocess.run(command, input=b"", capture_output=True, check=False).returncode == 0:
        (into / _SUPPORTED).touch()
