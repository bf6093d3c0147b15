"""The compiler for a machine without one: clang and its linker from the `ziglang` wheel.

The wheel contains its C++ library only as source. This module builds it once, with the C start-up files, into
our cache, so that a box that compiles a submission has nothing else to build and writes only the result.
"""

from __future__ import annotations

import functools
import os
import platform
import shlex
import shutil
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from warmfront.hip import cache, cpu
from warmfront.hip.cpu.host_compiler import HostCompiler, run_compiler
from warmfront.hip.headers import copy_headers, header_digest
from warmfront.hip.zig_wheel import LIBCXX_MACROS, open_wheel, system_headers, wheel_version
from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator

#: The newest glibc that the wheel's headers are known to match; newer versions run programs built for it.
NEWEST_GLIBC_MINOR = 36

#: The files that `zig cc` builds to link any C program: the start-up code, the compiler's helper functions,
#: and stubs with the symbols of the C library, which is one file or several, depending on its version.
_C_STARTUP = "crt1.o"
_C_LIBRARIES = ("libcompiler_rt.a", "libc_nonshared.a", "lib*.so.*")

#: The parts of the C++ library that Linux needs.
_LIBCXX_SOURCES = ("libcxx/src/*.cpp", "libcxx/src/filesystem/*.cpp", "libcxx/src/ryu/*.cpp")
_LIBCXX_FLAGS = (
    "-std=c++23",
    "-D_LIBCPP_BUILDING_LIBRARY",
    "-DLIBCXX_BUILDING_LIBCXXABI",
    "-D_LIBCPP_HAS_NO_PRAGMA_SYSTEM_HEADER",
    "-fvisibility-inlines-hidden",
)

#: The library's dependencies: exceptions and type information.
_LIBCXXABI_SOURCES = ("libcxxabi/src/*.cpp",)
_LIBCXXABI_FLAGS = (*_LIBCXX_FLAGS, "-D_LIBCXXABI_BUILDING_LIBRARY")
_NO_EXCEPTIONS = "cxa_noexception.cpp"

#: The stack unwinder for exceptions.
_LIBUNWIND_SOURCES = (
    "libunwind/src/libunwind.cpp",
    "libunwind/src/UnwindLevel1*.c",
    "libunwind/src/UnwindRegisters*.S",
)
_LIBUNWIND_FLAGS = ("-D_LIBUNWIND_IS_NATIVE_ONLY", "-fno-exceptions", "-funwind-tables")

_LIBRARY_FLAGS = ("-O2", "-fPIC", "-ffunction-sections", "-DNDEBUG", "-w")


@dataclass(frozen=True, kw_only=True)
class ZigCompiler(HostCompiler):
    """The wheel's clang, as a program that accepts the arguments of clang++."""

    wheel: Path
    folder: Path  #: the cache entry with the program and the libraries
    headers: Path  #: the cache entry with our headers

    @property
    def mounts(self) -> tuple[Path, ...]:
        """The wheel, or a copy that a box can read, and the libraries built for it."""
        return (self._readable, self.folder, self.headers)

    @property
    def is_ready(self) -> bool:
        """Whether the libraries are built."""
        return self.folder.is_dir() and self.headers.is_dir()

    @property
    def first_build_notice(self) -> str:
        """The line to print before the first build, which takes longer if the C++ library is not built."""
        if self.folder.is_dir():
            return super().first_build_notice
        return (
            "There is no g++ or clang++, so ziglang is the compiler: building its C++ library and the "
            "runtime, which takes a minute or two (only once) …"
        )

    def prepare(self) -> None:
        """Build the libraries and copy the headers, unless they are in the cache."""
        build = functools.partial(_build, wheel=self.wheel, readable=self._readable)
        cache.get_or_build(self.folder.parent, self.folder.name, build)
        cache.get_or_build(self.headers.parent, self.headers.name, _copy_headers)

    def version(self) -> str:
        """Return the version of the wheel."""
        return wheel_version(self.wheel)

    def precompile(self, folder: Path, header: str) -> list[str]:
        """Return the flags that precompile a header.

        Clang records the path of every header and expects them there later, so they are read from a separate
        cache entry and not from `folder`, which will be renamed.
        """
        file = self.headers / header
        return ["-I", str(self.headers), "-x", "c++-header", str(file), "-o", f"{folder / header}.pch"]

    def include(self, folder: Path, header: str) -> list[str]:
        """Return the flags for the precompiled header, which clang does not find on its own."""
        return ["-I", str(self.headers), "-include-pch", f"{folder / header}.pch"]

    @functools.cached_property
    def _readable(self) -> Path:
        return open_wheel(self.wheel, self.folder.parent, _processor())


def find_zig_compiler(wheel: Path, cache_dir: Path) -> ZigCompiler:
    """Return the wheel's compiler for this machine, without building anything yet."""
    identity = cache.file_identity(str(wheel / "zig"))
    key = cache.digest([identity, platform.machine(), str(_glibc_minor()), Path(__file__)])
    folder = cache_dir / f"zig-{key}"
    headers = cache_dir / f"headers-{header_digest(cpu.INCLUDE)[:24]}"
    return ZigCompiler(
        name="ziglang",
        command=str(folder / "c++"),
        reason="there is no g++ or clang++, and the ziglang wheel has clang",
        identity=key,
        # The guest contains the whole C++ library and exports it. A submission is linked without it, so that
        # the guest can catch exceptions of the submission.
        guest_flags=(
            "-no-pie",
            str(folder / "lib" / _C_STARTUP),
            f"-Wl,--whole-archive,{folder}/lib/libc++.a,--no-whole-archive",
        ),
        checked_build_error="The bug finder needs g++ or clang++.",
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
    flags = ["--driver-mode=g++", "-nostdlib", "--ld-path=<CFGDIR>/ld.lld", *_common_flags(readable)]
    (into / "clang.cfg").write_text("".join(f"{shlex.quote(flag)}\n" for flag in flags))
    zig = shlex.quote(str(readable / "zig"))
    _write_script(into / "c++", f'{zig} clang --no-default-config --config="$here"/clang.cfg "$@"')
    _write_script(into / "ld.lld", f'{zig} ld.lld "$@" --as-needed {" ".join(linked)}')


def _write_script(file: Path, command: str) -> None:
    """Write a shell script that runs `command`. Zig requires cache folders and leaves them empty."""
    cache_there = '"${TMPDIR:-/tmp}/zig"'
    file.write_text(
        f"#!/bin/sh\nhere=${{0%/*}}\n"
        f"export ZIG_GLOBAL_CACHE_DIR={cache_there} ZIG_LOCAL_CACHE_DIR={cache_there}\n"
        f"exec {command}\n"
    )
    file.chmod(0o755)


def _build_c_parts(into: Path, wheel: Path, scratch: Path) -> None:
    """Make `zig cc` link a program, and keep the C start-up files and libraries that it builds."""
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
    for name in (_C_STARTUP, *_C_LIBRARIES):
        for made in scratch.glob(f"zig/o/*/{name}"):
            shutil.copyfile(made, into / made.name)


def _build_libcxx(into: Path, wheel: Path, scratch: Path) -> None:
    """Build one archive of the C++ library and its dependencies, with every symbol visible."""
    command = [str(wheel / "zig"), "clang", "--no-default-config", *_common_flags(wheel), *_LIBRARY_FLAGS]
    include = [part for name in ("libcxx/src", "libcxx/libc") for part in ("-I", str(wheel / "lib" / name))]
    include += ["-I", str(wheel / "lib/libunwind/include")]
    jobs = [
        [*command, *flags, *include, "-c", str(source), "-o", str(scratch / f"{number}.o")]
        for number, (source, flags) in enumerate(_libcxx_sources(wheel / "lib"))
    ]
    compile_one = functools.partial(run_compiler, env=_zig_env(scratch))
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        list(pool.map(compile_one, jobs))
    objects = sorted(scratch.glob("*.o"))
    run_compiler([wheel / "zig", "ar", "rcs", into / "libc++.a", *objects], env=_zig_env(scratch))


def _libcxx_sources(library: Path) -> Iterator[tuple[Path, tuple[str, ...]]]:
    """Yield every source file with its own flags."""
    for patterns, flags in (
        (_LIBCXX_SOURCES, _LIBCXX_FLAGS),
        (_LIBCXXABI_SOURCES, _LIBCXXABI_FLAGS),
        (_LIBUNWIND_SOURCES, _LIBUNWIND_FLAGS),
    ):
        for pattern in patterns:
            for source in sorted(library.glob(pattern)):
                if source.name != _NO_EXCEPTIONS:
                    yield source, flags


def _common_flags(wheel: Path) -> list[str]:
    """Return the flags of every call, which use only the wheel's headers."""
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
    folder = str(scratch / "zig")
    return {**os.environ, "ZIG_GLOBAL_CACHE_DIR": folder, "ZIG_LOCAL_CACHE_DIR": folder}


def _processor() -> str:
    """Return zig's name for this machine's processor."""
    return {"x86_64": "x86"}.get(platform.machine(), platform.machine())


def _glibc_minor() -> int:
    """Return the glibc version to build for: this machine's, or the newest one that is supported."""
    version = os.confstr("CS_GNU_LIBC_VERSION") or ""  # such as "glibc 2.36"
    return min(int(version.rpartition(".")[2]), NEWEST_GLIBC_MINOR)
