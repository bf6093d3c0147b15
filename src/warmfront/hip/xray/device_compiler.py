"""The X-ray's compiler: clang from PyPI's `ziglang`, our headers, and ROCm's device libraries if installed.

Everything that does not depend on the author's source (headers, precompiled headers, generated bitcode) is
built once, outside the sandbox, and cached. The author's source is compiled only in a box; this module builds
its template.
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
from warmfront.hip import cache
from warmfront.hip.headers import copy_headers, header_digest
from warmfront.hip.toolchain import SECONDARY_CPU_WEIGHT, shell_job
from warmfront.hip.xray.host_code import needs_host_compilation
from warmfront.hip.zig_wheel import LIBCXX_MACROS, open_wheel, require_wheel, system_headers, wheel_version
from warmfront.sandbox.base import SCRATCH, Mount, Template

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warmfront.settings import Settings

INCLUDE = Path(__file__).parent / "include"

#: File names in the folder of the box.
SOURCE_FILE = "solution.hip"
ASSEMBLY_FILE = "kernels.s"

#: Larger assembly is rejected unread, so that a hostile source cannot exhaust the analysis.
MAX_ASSEMBLY_BYTES = 8 * 1024**2

#: `__oclc_ISA_version` of each target: major * 1000 + minor * 100 + stepping.
ISA_VERSIONS = {"gfx942": 9402, "gfx90a": 9010, "gfx950": 9500}

#: ROCm's device libraries, as hipcc links them: IEEE arithmetic, denormals kept, wavefronts of 64.
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

#: The wheel's headers for one processor and one glibc, so that host code compiles the same on every machine.
_HOST_PROCESSOR = "x86"
_HOST_MACROS = ("__GLIBC_MINOR__=36", *LIBCXX_MACROS)

#: The groups of warnings that are errors by default in C++ and HIP, by `diagtool show-enabled --levels` of
#: clang 22; not those with other warnings.
_DEFAULT_ERRORS = (
    "address-of-temporary argument-outside-range atomic-access attribute-statement c++11-narrowing "
    "c++11-narrowing-const-reference delegating-ctor-cycles dtor-typedef dynamic-exception-spec "
    "elaborated-enum-base elaborated-enum-class extraneous-template-head gnu-array-member-paren-init "
    "implicit-int increment-bool init-priority-reserved invalid-constexpr invalid-gnu-asm-cast "
    "invalid-partial-specialization invalid-specialization invalid-static-assert-message "
    "invalid-token-paste missing-template-arg-list-after-template-kw non-pod-varargs "
    "out-of-line-declaration register reserved-user-defined-literal return-mismatch static-float-init "
    "strict-primary-template-shadow unusable-partial-specialization vec-elem-size"
)

#: As in hipcc, everything is inlined. -g1 adds the line table that maps instructions to source lines.
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
    # The only warnings are those of our own headers, about constructs that need a newer ROCm, and
    # -Wparentheses, some of which are errors by default.
    "-Wno-everything",
    "-Wuser-defined-warnings",
    "-Wparentheses",
    *(f"-Werror={group}" for group in _DEFAULT_ERRORS.split()),
)


class Side(StrEnum):
    """The two compilations of a source: for the kernels, and for the code that launches them."""

    DEVICE = "device"
    HOST = "host"


class PrecompiledHeaders(StrEnum):
    """Sets of precompiled headers. A larger set takes longer to load, but parsing takes longer still."""

    HIP = "hip"  #: HIP's runtime header
    ALGORITHM = "algorithm"  #: HIP, and the headers that ROCm's runtime header includes
    EVERYTHING = "everything"  #: ALGORITHM, and the headers that host code commonly includes


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
#: A source without any of these words cannot call the library `ockl`, which is for printing, assertions,
#: memory and the synchronization of a grid. A macro can form a word from parts.
_OCKL_WORDS = re.compile(r"printf|assert|malloc|\b(?:free|new|delete|virtual|std)\b|cooperative|ockl|##|\\\n")
_MENTIONS_STD = re.compile(r"\bstd\b")
#: Names that the runtime headers of ROCm 6.4 and 7.2 declare, and that only EVERYTHING has here.
_DECLARED_BY_ROCM = re.compile(
    r"\bstd\s*::\s*(?:array|complex|getline|string|string_view|sto\w+|to_string)\b|\busing\s+namespace\s+std\b"
)
_SCOPES = re.compile(r"[{};)]|\b(?:namespace|struct|class|union|extern|warpSize)\b")
_INCLUDES = re.compile(r"^[ \t]*#[ \t]*include[ \t]*<([a-z_]+)>", re.MULTILINE)


class DeviceCompiler:
    """Clang for one GPU architecture.

    `libraries` is the folder with ROCm's bitcode; None compiles without it.
    """

    def __init__(self, cache_dir: Path, arch: str, *, libraries: Path | None) -> None:
        if arch not in ISA_VERSIONS:
            raise UsageError(
                f"The X-ray does not support the architecture {arch!r}; supported: {', '.join(ISA_VERSIONS)}."
            )
        self.arch = arch
        self.libraries = libraries
        self._cache_dir = cache_dir

    def template(self, source: str, settings: Settings) -> Template:
        """Return the template of a box that compiles this source, from SOURCE_FILE to ASSEMBLY_FILE."""
        precompiled = self.precompiled(choose_headers(source))
        command = self.command(f"/box/{SOURCE_FILE}", precompiled, libraries=choose_libraries(source))
        job = f"{' '.join(command)} -o - >/box/{ASSEMBLY_FILE}"
        has_assembly = may_have_assembly(source)
        if has_assembly:
            job = f"{job} && {self._assemble(precompiled)}"
        if needs_host_compilation(source):
            generate = has_assembly or find_global_wave_size(source) is not None
            host = " ".join(self.host_command(f"/box/{SOURCE_FILE}", precompiled, generate=generate))
            # The messages about host code are shown if device code has no errors, as with hipcc.
            job = (
                f"{{ {host} >$TMPDIR/host 2>&1 & }} && {job} || exit; "
                "wait $! || { cat $TMPDIR/host >&2; exit 1; }"
            )
        limits = settings.compile_limits()
        return Template(
            name="compile",
            argv=shell_job(job),
            mounts=tuple(
                Mount(host=path, inside=str(path)) for path in (self._wheel, self._headers, precompiled)
            ),
            limits=replace(
                limits,
                file_bytes=min(limits.file_bytes, 2 * MAX_ASSEMBLY_BYTES),
                cpu_weight=SECONDARY_CPU_WEIGHT,
            ),
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

    def command(self, source: str, precompiled: Path, *, libraries: Sequence[str] = LIBRARIES) -> list[str]:
        """Return the compiler's argv for a source file, without the output option."""
        output = ("-S", "-Rpass-analysis=kernel-resource-usage")
        return [*self._device_code(precompiled, libraries), *output, source]

    def host_command(self, source: str, precompiled: Path, *, generate: bool) -> list[str]:
        """Return the argv that checks the host code of a source file.

        With `generate`, it finds errors of the code generator and the assembler too, which takes longer.
        """
        action = ("-c", "-O0", "-o", "$TMPDIR/host.o") if generate else ("-fsyntax-only",)
        return [*self._front_end(Side.HOST), *_include(precompiled, Side.HOST), *action, source]

    def _assemble(self, precompiled: Path) -> str:
        """Return the shell command that fails if the assembler refuses ASSEMBLY_FILE.

        The compiler copies inline assembly to its output unread. The assembler takes 20 ms. Only if it
        rejects the output is the source compiled to machine code, for messages with the author's lines.
        """
        target = ("--target=amdgcn-amd-amdhsa", f"-mcpu={self.arch}", "-mcode-object-version=5")
        assemble = [str(self._wheel / "zig"), "clang", *target, "-c", f"/box/{ASSEMBLY_FILE}"]
        compile_source = [*self._device_code(precompiled, LIBRARIES), "-c", f"/box/{SOURCE_FILE}"]
        discard = "-o $TMPDIR/object"
        return f"{{ {' '.join(assemble)} {discard} 2>/dev/null || {' '.join(compile_source)} {discard}; }}"

    def _device_code(self, precompiled: Path, libraries: Sequence[str]) -> list[str]:
        """Return the compiler's argv for device code, without source, kind of output and output option."""
        return [
            *self._front_end(Side.DEVICE),
            *_include(precompiled, Side.DEVICE),
            *self._link(libraries),
        ]

    def precompiled(self, headers: PrecompiledHeaders) -> Path:
        """Return the cache entry with these headers precompiled; build it if missing."""
        flags = [flag for side in Side for flag in self._front_end(side)]
        key = cache.digest([str(self._headers), *flags, *_PRECOMPILED[headers]])
        build = functools.partial(self._precompile, headers=headers)
        return cache.get_or_build(self._cache_dir, f"xray-{self.arch}-{headers}-{key}", build)

    def _precompile(self, into: Path, *, headers: PrecompiledHeaders) -> None:
        emit = ["-fsyntax-only", "-Xclang", "-emit-pch", str(self._headers / f"{headers}.h"), "-o", "-"]
        for side in Side:
            (into / f"{side}.pch").write_bytes(_build([*self._front_end(side), *emit]))

    def _front_end(self, side: Side) -> list[str]:
        """Return the compiler and all flags that a precompiled header depends on."""
        includes = [
            self._headers / "include",
            *(self._wheel / name for name in system_headers(_HOST_PROCESSOR)),
        ]
        macros = [*_HOST_MACROS, *(() if self.libraries else ("XRAY_NO_LIBRARIES",))]
        return [
            *(str(self._wheel / "zig"), "clang", "--target=x86_64-linux-gnu", "-x", "hip"),
            *(f"--offload-arch={self.arch}", f"--offload-{side}-only"),
            *("-nogpuinc", "-nogpulib", "-nostdinc", "-nostdinc++"),
            *(part for path in includes for part in ("-isystem", str(path))),
            *(f"-D{macro}" for macro in macros),
            *_CODE_FLAGS,
        ]

    def _link(self, libraries: Sequence[str]) -> list[str]:
        """Return the flags that link these libraries of ROCm."""
        if self.libraries is None:
            return []
        # The constants come last: the linker only takes what the files before request.
        files = [self._headers / "bitcode" / f"{name}.bc" for name in (*libraries, self._isa_library)]
        return [
            part
            for file in files
            if file.exists()
            for part in ("-Xclang", "-mlink-builtin-bitcode", "-Xclang", str(file))
        ]

    @functools.cached_property
    def _headers(self) -> Path:
        """The cache entry with our headers and the bitcode.

        The files are copies, because a precompiled header depends on its sources, and because the box reads
        them as an unprivileged user.
        """
        bitcode = self._bitcode()
        key = cache.digest(
            [
                cache.file_identity(str(self._wheel / "zig")),
                self.arch,
                Path(__file__),  # this code decides what is copied
                header_digest(INCLUDE),
                *(cache.file_identity(str(path)) for path in bitcode),
            ]
        )
        return cache.get_or_build(self._cache_dir, f"xray-{self.arch}-headers-{key}", self._copy_files)

    def _copy_files(self, into: Path) -> None:
        copy_headers(INCLUDE, into / "include")
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
        """Return the bitcode files that are installed."""
        if self.libraries is None:
            return []
        files = [self.libraries / f"{name}.bc" for name in (*LIBRARIES, self._isa_library)]
        return [file for file in files if file.exists()]

    @property
    def _isa_library(self) -> str:
        return f"oclc_isa_version_{self.arch.removeprefix('gfx')}"

    def _generate_isa_version(self, file: Path) -> None:
        """Compile the constant with the ISA version, which Debian's libraries lack for newer targets."""
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
        """The unpacked wheel, readable from a box."""
        return open_wheel(require_wheel("the X-ray"), self._cache_dir, _HOST_PROCESSOR)


def _include(precompiled: Path, side: Side) -> list[str]:
    """Return the flags that load the precompiled headers of one side."""
    flags = ["-include-pch", str(precompiled / f"{side}.pch"), "-fno-validate-pch"]
    return [part for flag in flags for part in ("-Xclang", flag)]


def choose_headers(source: str) -> PrecompiledHeaders:
    """Return the smallest sufficient set, so that names of headers that are not included stay undeclared."""
    included = set(_INCLUDES.findall(source))
    if _DECLARED_BY_ROCM.search(source) or included & set(_PRECOMPILED[PrecompiledHeaders.EVERYTHING]) - {
        "algorithm",
        "limits",
        "type_traits",
        "utility",
    }:
        return PrecompiledHeaders.EVERYTHING
    return (
        PrecompiledHeaders.ALGORITHM if included or _MENTIONS_STD.search(source) else PrecompiledHeaders.HIP
    )


def choose_libraries(source: str) -> tuple[str, ...]:
    """Return the libraries that a source may call. Loading `ockl` takes a tenth of a small compilation."""
    return tuple(name for name in LIBRARIES if name != "ockl" or _OCKL_WORDS.search(source))


def may_have_assembly(source: str) -> bool:
    """Return whether a source can have inline assembly; a macro can form the word from parts."""
    return "asm" in source or "##" in source or "\\\n" in source


def find_global_wave_size(source: str) -> int | None:
    """Return the offset of the first `warpSize` that may be outside functions; None if there is none.

    Only the code generator determines whether the host would evaluate such a use.
    """
    if "warpSize" not in source:
        return None
    enclosing: list[bool] = []  # for each open brace, whether it is one of a namespace or a class
    is_scope = False
    for match in _SCOPES.finditer(source):
        word = match[0]
        if word == "{":
            enclosing.append(is_scope)
        elif word == "}" and enclosing:
            enclosing.pop()
        elif word == "warpSize" and all(enclosing):
            return match.start()
        is_scope = word.isalpha() and word != "warpSize"
    return None


def find_libraries() -> Path | None:
    """Return the folder of ROCm's device libraries, as installed by Debian or ROCm, or None."""
    candidates = [*sorted(Path("/usr/lib").glob("*/amdgcn/bitcode")), Path("/opt/rocm/amdgcn/bitcode")]
    return next((path for path in candidates if (path / "ocml.bc").exists()), None)


def compiler_version() -> str:
    """Return the name and version of the compiler, for display."""
    return wheel_version(require_wheel("the X-ray"))


def _build(argv: Sequence[str]) -> bytes:
    """Run the compiler on our own files and return its output; a failure is a bug in this package."""
    done = subprocess.run(argv, capture_output=True, check=False)
    if done.returncode != 0:
        errors = done.stderr.decode(errors="replace")[-4000:]
        raise ToolchainFailed(f"The X-ray's compiler could not build its own headers or libraries:\n{errors}")
    return done.stdout
