"""The compiler of a machine that has none: clang and its linker from PyPI's `ziglang`.

The wheel brings its C++ library as source only. Here it is built, once, with what a program starts with, into
our own cache, so that a box compiles a submission with nothing to build or to write but the result.
"""

from __future__ import annotations

import functools
import os
import platform
import shlex
import shutil
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from warmfront.hip import cache, cpu
from warmfront.hip.cpu.host_compiler import HostCompiler, run_compiler
from warmfront.hip.headers import copy_headers, header_contents
from warmfront.hip.zig_wheel import LIBCXX_MACROS, open_wheel, system_headers, wheel_version

if TYPE_CHECKING:
    from collections.abc import Iterator

#: The newest glibc that the wheel's headers are known to fit; a newer machine runs what is built for it.
NEWEST_GLIBC_MINOR = 36

#: What `zig cc` makes to link any C program: its beginning, the compiler's helpers, and the names of the
#: C library, which is one file or several, as its version has it.
_C_BEGINNING = "crt1.o"
_C_LIBRARIES = ("libcompiler_rt.a", "libc_nonshared.a", "lib*.so.*")

#: The C++ library, with all of it that concerns Linux.
_LIBCXX_SOURCES = ("libcxx/src/*.cpp", "libcxx/src/filesystem/*.cpp", "libcxx/src/ryu/*.cpp")
_LIBCXX_FLAGS = (
    "-std=c++23",
    "-D_LIBCPP_BUILDING_LIBRARY",
    "-DLIBCXX_BUILDING_LIBCXXABI",
    "-D_LIBCPP_HAS_NO_PRAGMA_SYSTEM_HEADER",
    "-fvisibility-inlines-hidden",
)

#: What it stands on: exceptions and type information, for a build that has both.
_LIBCXXABI_SOURCES = ("libcxxabi/src/*.cpp",)
_LIBCXXABI_FLAGS = (*_LIBCXX_FLAGS, "-D_LIBCXXABI_BUILDING_LIBRARY")
_NO_EXCEPTIONS = "cxa_noexception.cpp"

#: What walks the stack for an exception, by the tables that compilers write.
_LIBUNWIND_SOURCES = (
    "libunwind/src/libunwind.cpp",
    "libunwind/src/UnwindLevel1*.c",
    "libunwind/src/UnwindRegisters*.S",
)
_LIBUNWIND_FLAGS = ("-D_LIBUNWIND_IS_NATIVE_ONLY", "-fno-exceptions", "-funwind-tables")

_LIBRARY_FLAGS = ("-O2", "-fPIC", "-ffunction-sections", "-DNDEBUG", "-w")


@dataclass(frozen=True, kw_only=True)
class ZigCompiler(HostCompiler):
    """Clang of the wheel, as a program of its own that takes clang++'s arguments."""

    wheel: Path
    folder: Path  #: the cache entry with the program and the libraries
    headers: Path  #: the cache entry with our headers

    @property
    def places(self) -> tuple[Path, ...]:
        """The wheel, or a copy that a box may read, and what was built for it."""
        return (self._readable, self.folder, self.headers)

    @property
    def is_ready(self) -> bool:
        """Whether the libraries are built."""
        return self.folder.is_dir() and self.headers.is_dir()

    @property
    def first_build(self) -> str:
        """Longer, where the libraries are not built."""
        if self.folder.is_dir():
            return super().first_build
        return (
            "There is no g++ or clang++, so PyPI's ziglang compiles: building its C++ library and the "
            "runtime, which takes a minute or two, once …"
        )

    def prepare(self) -> None:
        """Build them if they are not."""
        build = functools.partial(_build, wheel=self.wheel, readable=self._readable)
        cache.get_or_build(self.folder.parent, self.folder.name, build)
        cache.get_or_build(self.headers.parent, self.headers.name, _copy_headers)

    def version(self) -> str:
        """The clang of which wheel."""
        return wheel_version(self.wheel)

    def precompile(self, folder: Path, header: str) -> list[str]:
        """Clang notes where the headers were, and wants them there: not in a folder that will be renamed."""
        file = self.headers / header
        return ["-I", str(self.headers), "-x", "c++-header", str(file), "-o", f"{folder / header}.pch"]

    def include(self, folder: Path, header: str) -> list[str]:
        """Clang looks for a precompiled header only where it is told to."""
        return ["-I", str(self.headers), "-include-pch", f"{folder / header}.pch"]

    @functools.cached_property
    def _readable(self) -> Path:
        return open_wheel(self.wheel, self.folder.parent, _processor())


def find_zig_compiler(wheel: Path, cache_dir: Path) -> ZigCompiler:
    """The wheel's compiler for this machine; nothing is built yet."""
    identity = cache.file_identity(str(wheel / "zig"))
    key = cache.digest([identity, platform.machine(), str(_glibc_minor()), Path(__file__)])
    folder = cache_dir / f"zig-{key}"
    headers = cache_dir / f"headers-{cache.digest(header_contents(cpu.INCLUDE))}"
    return ZigCompiler(
        name="ziglang",
        command=str(folder / "c++"),
        reason="there is no g++ or clang++, and the wheel brings a clang",
        identity=key,
        # The worker has the C++ library whole and shows it: a submission is linked with nothing of it, and
        # throws what the worker catches.
        worker_flags=(
            "-no-pie",
            str(folder / "lib" / _C_BEGINNING),
            f"-Wl,--whole-archive,{folder}/lib/libc++.a,--no-whole-archive",
        ),
        unchecked="The bug finder needs g++ or clang++.",
        wheel=wheel,
        folder=folder,
        headers=headers,
    )


def _build(into: Path, *, wheel: Path, readable: Path) -> None:
    (into / "lib").mkdir()
    with tempfile.TemporaryDirectory(dir=into) as scratch:
        _build_c_parts(into / "lib", wheel, Path(scratch))
        linked = sorted(f'"$here"/lib/{library.name}' for library in (into / "lib").glob("lib*"))
        _build_libcxx(into / "lib", wheel, Path(scratch))
    flags = ["--driver-mode=g++", "-nostdlib", "--ld-path=<CFGDIR>/ld.lld", *_front(readable)]
    (into / "clang.cfg").write_text("".join(f"{shlex.quote(flag)}\n" for flag in flags))
    zig = shlex.quote(str(readable / "zig"))
    _write_script(into / "c++", f'{zig} clang --no-default-config --config="$here"/clang.cfg "$@"')
    _write_script(into / "ld.lld", f'{zig} ld.lld "$@" --as-needed {" ".join(linked)}')


def _write_script(file: Path, command: str) -> None:
    """A program next to which its parts are. Zig insists on a cache, and leaves it empty."""
    cache_there = '"${TMPDIR:-/tmp}/zig"'
    file.write_text(
        f"#!/bin/sh\nhere=${{0%/*}}\n"
        f"export ZIG_GLOBAL_CACHE_DIR={cache_there} ZIG_LOCAL_CACHE_DIR={cache_there}\n"
        f"exec {command}\n"
    )
    file.chmod(0o755)


def _build_c_parts(into: Path, wheel: Path, scratch: Path) -> None:
    """Have `zig cc` link a program, and take what it made for that."""
    program = scratch / "program.c"
    program.write_text("int main(void) { return 0; }\n")
    target = f"{platform.machine()}-linux-gnu.2.{_glibc_minor()}"
    command: list[str | Path] = [
        wheel / "zig",
        "cc",
        "-target",
        target,
        "-O2",
        program,
        "-o",
        scratch / "program",
    ]
    run_compiler(command, env=_zig_env(scratch))
    for name in (_C_BEGINNING, *_C_LIBRARIES):
        for made in scratch.glob(f"zig/o/*/{name}"):
            shutil.copyfile(made, into / made.name)


def _build_libcxx(into: Path, wheel: Path, scratch: Path) -> None:
    """One archive of the C++ library and what it stands on, every name to be seen."""
    front = [str(wheel / "zig"), "clang", "--no-default-config", *_front(wheel), *_LIBRARY_FLAGS]
    include = [part for name in ("libcxx/src", "libcxx/libc") for part in ("-I", str(wheel / "lib" / name))]
    include += ["-I", str(wheel / "lib/libunwind/include")]
    jobs = [
        [*front, *flags, *include, "-c", str(source), "-o", str(scratch / f"{number}.o")]
        for number, (source, flags) in enumerate(_libcxx_sources(wheel / "lib"))
    ]
    compile_it = functools.partial(run_compiler, env=_zig_env(scratch))
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        list(pool.map(compile_it, jobs))
    objects = sorted(scratch.glob("*.o"))
    run_compiler([wheel / "zig", "ar", "rcs", into / "libc++.a", *objects], env=_zig_env(scratch))


def _libcxx_sources(library: Path) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """Every source file, and the flags that are its own."""
    for patterns, flags in (
        (_LIBCXX_SOURCES, _LIBCXX_FLAGS),
        (_LIBCXXABI_SOURCES, _LIBCXXABI_FLAGS),
        (_LIBUNWIND_SOURCES, _LIBUNWIND_FLAGS),
    ):
        for pattern in patterns:
            for source in sorted(library.glob(pattern)):
                if source.name != _NO_EXCEPTIONS:
                    yield source, flags


def _front(wheel: Path) -> list[str]:
    """Flags that every call needs, for headers of the wheel alone."""
    return [
        f"--target={platform.machine()}-linux-gnu",
        *("-nostdinc", "-nostdinc++"),
        *(part for name in system_headers(_processor()) for part in ("-isystem", str(wheel / name))),
        f"-D__GLIBC_MINOR__={_glibc_minor()}",
        *(f"-D{macro}" for macro in LIBCXX_MACROS),
    ]


def _copy_headers(into: Path) -> None:
    copy_headers(cpu.INCLUDE, into)


def _zig_env(scratch: Path) -> dict[str, str]:
    place = str(scratch / "zig")
    return {**os.environ, "ZIG_GLOBAL_CACHE_DIR": place, "ZIG_LOCAL_CACHE_DIR": place}


def _processor() -> str:
    """This machine's, in the wheel's words."""
    return {"x86_64": "x86"}.get(platform.machine(), platform.machine())


def _glibc_minor() -> int:
    """What to build for: this machine's glibc, or the newest one known."""
    version = os.confstr("CS_GNU_LIBC_VERSION") or ""  # such as "glibc 2.36"
    return min(int(version.rpartition(".")[2]), NEWEST_GLIBC_MINOR)
