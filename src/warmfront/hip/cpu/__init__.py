"""The CPU runtime for HIP: its headers, its library, and how submissions are compiled for it.

This module has the paths and the compiler flags. It does not compile or run anything itself.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from warmfront.gpus import Gpu

_HERE: Final = Path(__file__).parent

#: The CPU runtime's own headers; `warmfront.hip.headers` merges them with those it shares with the X-ray.
INCLUDE: Final = _HERE / "include"

#: The library's sources. The library is linked into the guest, with -rdynamic, or into a program that
#: contains the kernels.
RUNTIME_SOURCES: Final = tuple(sorted((_HERE / "runtime").glob("*.cpp")))

_COMMON: Final = (
    "-std=c++20",
    "-fPIC",
    # Shared memory is thread-local: this makes an access one instruction, even from a library.
    "-ftls-model=initial-exec",
    "-pthread",
)

#: For submissions and for the precompiled header: the flags must be identical.
SUBMISSION_FLAGS: Final = (
    *_COMMON,
    # -O3 takes longer to compile and made no kernel faster.
    "-O2",
    "-march=native",
    # As clang does for AMD GPUs: a * b + c is rounded once.
    "-ffp-contract=fast",
    # These do not change results, and allow loops to be vectorized.
    "-fno-math-errno",
    "-fno-trapping-math",
    # Branches depend on the data and are mispredicted: this took a leaky ReLU of 1 M elements from 3 to 0.6
    # ms.
    "--param=max-rtl-if-conversion-unpredictable-cost=100",
    "--param=max-rtl-if-conversion-predictable-cost=100",
    # Kernels often read one type through a pointer to another.
    "-fno-strict-aliasing",
    # Using a null pointer must fault; the compiler must not assume that it does not happen.
    "-fno-delete-null-pointer-checks",
    # An infinite loop must hang; the compiler must not assume that every loop ends.
    "-fno-finite-loops",
    # A large array on a thread's stack touches every page, so that an overflow hits the guard page.
    "-fstack-clash-protection",
    # Functions of this library cannot be replaced at run time, so they can be inlined.
    "-fno-semantic-interposition",
    # The speed of a short loop depends, by up to 15%, on how its code is aligned to the lines of the
    # instruction cache: an unrelated function in the file would change the time of a kernel.
    "-falign-functions=64",
    "-falign-loops=64",
    "-w",
)

#: In addition, for g++: its -O2 does not vectorize loops whose arrays may overlap; that of clang++ does.
GCC_FLAGS: Final = ("-fvect-cost-model=dynamic",)

#: For submissions only. A kernel is not called from outside, so it is compiled only within the loop over its
#: threads, and not a second time as a function. Exported functions say `externally_visible`; clang++
#: ignores both.
WHOLE_FLAGS: Final = ("-fwhole-program",)

#: For the library and the guest.
RUNTIME_FLAGS: Final = (*_COMMON, "-O2", "-march=native", "-Wall", "-Wextra")

#: The library with the bug finder, which runs inside the guest of a checked build.
CHECKED_SOURCES: Final = (*RUNTIME_SOURCES, *sorted((_HERE / "checked").glob("*.cpp")))

#: The bug finder's own headers.
CHECKED_HEADERS: Final = tuple(sorted((_HERE / "checked").glob("*.h")))

_CHECKED: Final = "-DHIPCPU_CHECKED=1"

#: For submissions in a checked build, which report every access to the bug finder, and their precompiled
#: header.
CHECKED_FLAGS: Final = (
    *_COMMON,
    _CHECKED,
    # Fast to compile, and every access stays on the line where the author wrote it.
    "-O0",
    "-g1",
    "-fno-omit-frame-pointer",
    "-march=native",
    "-fno-strict-aliasing",
    "-fno-delete-null-pointer-checks",
    "-fno-semantic-interposition",
    "-fsanitize=thread,bounds,alignment",
    # One warning is wanted: a vote of 64 lanes that is truncated to 32 bits.
    "-Wconversion",
    "-Wno-sign-conversion",
)

#: For the library and the guest of a checked build, whose hooks walk the frames of their callers.
CHECKED_RUNTIME_FLAGS: Final = (
    *_COMMON,
    _CHECKED,
    "-O2",
    # The same as for the submission, which leaves wide registers in use when it calls a hook: switching from
    # AVX code to SSE code takes a processor 50 ns, and switching back as long.
    "-march=native",
    "-fno-omit-frame-pointer",
    "-Wall",
    "-Wextra",
)

#: To link a submission as a library that the guest loads.
LINK_FLAGS: Final = ("-shared", "-Wl,-Bsymbolic", "-Wl,--build-id=none")

#: In addition, with g++ or clang++. The guest has the C++ library loaded; reading its thousands of symbols
#: for every submission would take most of the link time. The C library is linked, because its symbols have
#: versions.
LIBRARY_FLAGS: Final = ("-nodefaultlibs", "-lm", "-lgcc_s", "-lc")

#: To link a submission of a checked build, without the sanitizer libraries: the guest provides their
#: functions.
CHECKED_LINK_FLAGS: Final = (*LINK_FLAGS, *LIBRARY_FLAGS)

#: The guest's environment: space for the thread-local shared memory of a library that is loaded late.
RUN_ENV: Final = {"GLIBC_TUNABLES": "glibc.rtld.optional_static_tls=2097152"}


def run_env(gpu: Gpu) -> dict[str, str]:
    """Return the guest's environment, which makes the runtime report this GPU's limits and properties."""
    # A card is sold with its capacity in GiB, written as GB.
    facts = (gpu.name, gpu.arch, gpu.memory_bytes // 10**9 << 30, gpu.lds_bytes_per_cu)
    return {**RUN_ENV, "HIPCPU_GPU": " ".join(map(str, facts))}
