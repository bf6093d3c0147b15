"""The compiler of the X-ray: clang from PyPI's `ziglang`, our headers, ROCm's device libraries if installed.

What does not depend on the author's text (headers, precompiled headers, generated bitcode) is built once,
outside any sandbox, and cached. The author's text is compiled in a box only; here is its template.
"""

from __future__ import annotations

import functools
import re
import shutil
import subprocess
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from warmfront.errors import ToolchainFailed, UsageError
from warmfront.hip import cache, cpu
from warmfront.hip.toolchain import shell_job
from warmfront.hip.zig_wheel import LIBCXX_MACROS, open_wheel, require_wheel, system_headers, wheel_version
from warmfront.sandbox.base import SCRATCH, Mount, Template

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warmfront.settings import Settings

INCLUDE = Path(__file__).parent / "include"

#: File names in the box's folder.
SOURCE_FILE = "solution.hip"
ASSEMBLY_FILE = "kernels.s"

#: Assembly beyond this is an attack on whoever reads it.
MAX_ASSEMBLY_BYTES = 8 * 1024**2

#: What `__oclc_ISA_version` says for each target: major * 1000 + minor * 100 + stepping.
ISA_VERSIONS = {"gfx942": 9402, "gfx90a": 9010, "gfx950": 9500}

#: ROCm's device libraries as hipcc links them: IEEE arithmetic, denormals kept, wavefronts of 64.
LIBRARIES = (
    "ocml",
    "ockl",
    "oclc_daz_opt_off",
    "oclc_unsafe_math_off",
    "oclc_finite_only_off",
    "oclc_correctly_rounded_sqrt_on",
    "oclc_wavefrontsize64_on",
    "oclc_abi_version_500",
)

#: Host code means the same on every machine: the wheel's headers, of one processor and one glibc.
_HOST_PROCESSOR = "x86"
_HOST_MACROS = ("__GLIBC_MINOR__=36", *LIBCXX_MACROS)

#: As hipcc does: everything is inlined, and a line table says which line an instruction came from.
_CODE_FLAGS = (
    "-O3",
    "-g1",
    "-std=c++20",
    "-fdeclspec",
    "-mcode-object-version=5",
    "-mllvm",
    "-amdgpu-early-inline-all=true",
    "-mllvm",
    "-amdgpu-function-calls=false",
    "-w",
)


class PrecompiledHeaders(StrEnum):
    """How much of C++ is precompiled. More takes longer to load, and parsing takes longer still."""

    HIP = "hip"  #: HIP's own runtime header
    ALGORITHM = "algorithm"  #: and what ROCm's brings along
    EVERYTHING = "everything"  #: and what host code commonly includes


_STANDARD = (
    "algorithm array atomic bitset chrono complex deque exception fstream functional iomanip iostream "
    "iterator limits list map memory mutex numeric optional queue random set sstream stack stdexcept "
    "string string_view thread tuple type_traits unordered_map unordered_set utility variant vector"
)
_PRECOMPILED = {
    PrecompiledHeaders.HIP: (),
    PrecompiledHeaders.ALGORITHM: ("algorithm",),
    PrecompiledHeaders.EVERYTHING: tuple(_STANDARD.split()),
}
_MENTIONS_STD = re.compile(r"\bstd\b")
_INCLUDES = re.compile(r"^[ \t]*#[ \t]*include[ \t]*<([a-z_]+)>", re.MULTILINE)


class DeviceCompiler:
    """Clang for one GPU architecture. `libraries` is where ROCm's bitcode is; None does without."""

    def __init__(self, cache_dir: Path, arch: str, *, libraries: Path | None) -> None:
        if arch not in ISA_VERSIONS:
            raise UsageError(
                f"The X-ray does not know {arch!r}.",
                hint=f"Use --arch with one of: {', '.join(ISA_VERSIONS)}.",
            )
        self.arch = arch
        self.libraries = libraries
        self._cache_dir = cache_dir

    def template(self, source: str, settings: Settings) -> Template:
        """The box that compiles SOURCE_FILE to ASSEMBLY_FILE, for sources that include what this one does."""
        precompiled = self.precompiled(choose_headers(source))
        command = " ".join(self.command(f"/box/{SOURCE_FILE}", precompiled))
        limits = settings.compile_limits()
        return Template(
            name="compile",
            argv=shell_job(f"exec {command} -o - >/box/{ASSEMBLY_FILE}"),
            mounts=tuple(
                Mount(host=path, inside=str(path)) for path in (self._wheel, self._headers, precompiled)
            ),
            limits=replace(limits, file_bytes=min(limits.file_bytes, 2 * MAX_ASSEMBLY_BYTES)),
            env={
                "PATH": "/usr/bin:/bin",
                "LC_ALL": "C",
                "TMPDIR": SCRATCH,
                "ZIG_GLOBAL_CACHE_DIR": f"{SCRATCH}/zig",
                "ZIG_LOCAL_CACHE_DIR": f"{SCRATCH}/zig",
            },
            outputs=(ASSEMBLY_FILE,),
            may_fork=True,
        )

    def command(self, source: str, precompiled: Path) -> list[str]:
        """The compiler's argv for a source file, but for where the assembly goes."""
        return [
            *self._front(),
            *("-Xclang", "-include-pch", "-Xclang", str(precompiled / "headers.pch")),
            *("-Xclang", "-fno-validate-pch"),
            *self._linked_libraries(),
            *("-S", "-Rpass-analysis=kernel-resource-usage"),
            source,
        ]

    def precompiled(self, headers: PrecompiledHeaders) -> Path:
        """The cache entry with these headers precompiled; built if it is not there."""
        key = cache.digest([str(self._headers), *self._front(), *_PRECOMPILED[headers]])
        build = functools.partial(self._precompile, headers=headers)
        return cache.get_or_build(self._cache_dir, f"xray-{self.arch}-{headers}-{key}", build)

    def _precompile(self, into: Path, *, headers: PrecompiledHeaders) -> None:
        emit = ["-fsyntax-only", "-Xclang", "-emit-pch", str(self._headers / f"{headers}.h"), "-o", "-"]
        (into / "headers.pch").write_bytes(_build([*self._front(), *emit]))

    def _front(self) -> list[str]:
        """The compiler and every flag that a precompiled header is bound to."""
        includes = [
            self._headers / "include",
            self._headers / "cpu",
            *(self._wheel / name for name in system_headers(_HOST_PROCESSOR)),
        ]
        macros = [*_HOST_MACROS, *(() if self.libraries else ("XRAY_NO_LIBRARIES",))]
        return [
            *(str(self._wheel / "zig"), "clang", "--target=x86_64-linux-gnu", "-x", "hip"),
            *(f"--offload-arch={self.arch}", "--offload-device-only"),
            *("-nogpuinc", "-nogpulib", "-nostdinc", "-nostdinc++"),
            *(part for path in includes for part in ("-isystem", str(path))),
            *(f"-D{macro}" for macro in macros),
            *_CODE_FLAGS,
        ]

    def _linked_libraries(self) -> list[str]:
        if self.libraries is None:
            return []
        files = sorted((self._headers / "bitcode").glob("*.bc"))
        return [
            part for file in files for part in ("-Xclang", "-mlink-builtin-bitcode", "-Xclang", str(file))
        ]

    @functools.cached_property
    def _headers(self) -> Path:
        """The cache entry with our headers, those of the CPU runtime that they build on, and the bitcode.

        Copies, because a precompiled header is bound to its sources, and the box reads them as nobody.
        """
        files = [
            path for root in (INCLUDE, cpu.INCLUDE) for path in sorted(root.rglob("*")) if path.is_file()
        ]
        bitcode = self._bitcode()
        key = cache.digest(
            [
                cache.file_identity(str(self._wheel / "zig")),
                self.arch,
                Path(__file__),  # which decides what is gathered
                *(path.name for path in files),
                *files,
                *(cache.file_identity(str(path)) for path in bitcode),
            ]
        )
        return cache.get_or_build(self._cache_dir, f"xray-{self.arch}-headers-{key}", self._gather)

    def _gather(self, into: Path) -> None:
        shutil.copytree(INCLUDE, into / "include", copy_function=shutil.copyfile)
        shutil.copytree(cpu.INCLUDE, into / "cpu", copy_function=shutil.copyfile)
        for headers, names in _PRECOMPILED.items():
            text = "".join(f"#include <{name}>\n" for name in ("hip/hip_runtime.h", *names))
            (into / f"{headers}.h").write_text(text)
        (into / "bitcode").mkdir()
        if self.libraries is None:
            return
        for file in self._bitcode():
            shutil.copyfile(file, into / "bitcode" / file.name)
        isa_version = into / "bitcode" / f"{self._isa_library}.bc"
        if not isa_version.exists():
            self._generate_isa_version(isa_version)

    def _bitcode(self) -> list[Path]:
        """Those of the libraries that there are."""
        if self.libraries is None:
            return []
        files = [self.libraries / f"{name}.bc" for name in (*LIBRARIES, self._isa_library)]
        return [file for file in files if file.exists()]

    @property
    def _isa_library(self) -> str:
        return f"oclc_isa_version_{self.arch.removeprefix('gfx')}"

    def _generate_isa_version(self, file: Path) -> None:
        """What Debian's libraries lack for newer targets: a constant that says which target it is."""
        source = file.with_suffix(".ll")
        source.write_text(
            'target triple = "amdgcn-amd-amdhsa"\n'
            "@__oclc_ISA_version = linkonce_odr protected local_unnamed_addr addrspace(4) constant "
            f"i32 {ISA_VERSIONS[self.arch]}, align 4\n"
        )
        flags = ["--target=amdgcn-amd-amdhsa", "-nogpulib", "-x", "ir", "-c", "-emit-llvm"]
        _build([str(self._wheel / "zig"), "clang", *flags, str(source), "-o", str(file)])
        source.unlink()

    @functools.cached_property
    def _wheel(self) -> Path:
        """The wheel as a box may read it."""
        return open_wheel(require_wheel("The X-ray's"), self._cache_dir, _HOST_PROCESSOR)


def choose_headers(source: str) -> PrecompiledHeaders:
    """As few precompiled headers as this source needs; names that it never included should not be found."""
    included = set(_INCLUDES.findall(source))
    if included & set(_PRECOMPILED[PrecompiledHeaders.EVERYTHING]) - {
        "algorithm",
        "limits",
        "type_traits",
        "utility",
    }:
        return PrecompiledHeaders.EVERYTHING
    return (
        PrecompiledHeaders.ALGORITHM if included or _MENTIONS_STD.search(source) else PrecompiledHeaders.HIP
    )


def find_libraries() -> Path | None:
    """ROCm's device libraries, where Debian and ROCm install them."""
    candidates = [*sorted(Path("/usr/lib").glob("*/amdgcn/bitcode")), Path("/opt/rocm/amdgcn/bitcode")]
    return next((path for path in candidates if (path / "ocml.bc").exists()), None)


def compiler_version() -> str:
    """What compiles, for people."""
    return wheel_version(require_wheel("The X-ray's"))


def _build(argv: Sequence[str]) -> bytes:
    """Run the compiler on our own text; what it says on failure is ours to mend."""
    done = subprocess.run(argv, capture_output=True, check=False)
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace")[-4000:]
        raise ToolchainFailed(f"The X-ray's compiler could not build its own parts:\n{said}")
    return done.stdout
