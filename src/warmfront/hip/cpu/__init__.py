"""The CPU runtime for HIP: headers, library and the rewriter of kernel launches.

Here are the places and the compiler flags of its parts; it compiles and runs nothing itself.
"""

from pathlib import Path
from typing import Final

_HERE: Final = Path(__file__).parent

#: The CPU runtime's own headers; `warmfront.hip.headers` merges them with those it shares with the X-ray.
INCLUDE: Final = _HERE / "include"

#: The library, to be linked into the program that loads a submission (with -rdynamic) or is one.
RUNTIME_SOURCES: Final = tuple(sorted((_HERE / "runtime").glob("*.cpp")))

_COMMON: Final = (
    "-std=c++20",
    "-fPIC",
    # Thread-local variables are a block's shared memory: each access one instruction, also in a library.
    "-ftls-model=initial-exec",
    "-pthread",
)

#: For a submission and for the precompiled header, which must agree to the letter.
SUBMISSION_FLAGS: Final = (
    *_COMMON,
    # More than that costs compile time and made no kernel faster.
    "-O2",
    "-march=native",
    # As the compiler for AMD's GPUs does: a * b + c is one rounding.
    "-ffp-contract=fast",
    # Neither changes a result; both let loops become vectors.
    "-fno-math-errno",
    "-fno-trapping-math",
    # Threads take branches by their data, which no predictor knows: 3 ms became 0.6 for a leaky ReLU of 1 M.
    "--param=max-rtl-if-conversion-unpredictable-cost=100",
    "--param=max-rtl-if-conversion-predictable-cost=100",
    # Kernels often read one type through a pointer to another.
    "-fno-strict-aliasing",
    # A null pointer that is used must fault, not be reasoned away.
    "-fno-delete-null-pointer-checks",
    # A loop without an end must hang, not be taken for one that has an end.
    "-fno-finite-loops",
    # A large array on a thread's stack touches every page, so it meets the guard below.
    "-fstack-clash-protection",
    # What is defined here is called here: it may be inlined.
    "-fno-semantic-interposition",
    "-w",
)

#: Besides, where the compiler is g++, whose -O2 keeps loops that may overlap as they are; clang++'s does not.
GCC_FLAGS: Final = ("-fvect-cost-model=dynamic",)

#: For a submission alone. Nobody calls a kernel from outside, so it need not be compiled twice: on its own,
#: and in the loop over its threads. What must be seen says `externally_visible`; clang++ ignores both.
WHOLE_FLAGS: Final = ("-fwhole-program",)

#: For the library and the worker.
RUNTIME_FLAGS: Final = (*_COMMON, "-O2", "-Wall", "-Wextra")

#: The bug finder, which watches a checked build from within the worker.
CHECKED_SOURCES: Final = (*RUNTIME_SOURCES, *sorted((_HERE / "checked").glob("*.cpp")))

#: Headers that only those include.
CHECKED_HEADERS: Final = tuple(sorted((_HERE / "checked").glob("*.h")))

_CHECKED: Final = "-DHIPCPU_CHECKED=1"

#: For a submission whose every access is told to the bug finder, and for its precompiled header.
CHECKED_FLAGS: Final = (
    *_COMMON,
    _CHECKED,
    # Quick to compile, and every access is where its author wrote it.
    "-O0",
    "-g1",
    "-fno-omit-frame-pointer",
    "-march=native",
    "-fno-strict-aliasing",
    "-fno-delete-null-pointer-checks",
    "-fno-semantic-interposition",
    "-fsanitize=thread,bounds,alignment",
    # Of the compiler's warnings we want one: a vote of 64 lanes that is cut to 32 bits.
    "-Wconversion",
    "-Wno-sign-conversion",
)

#: For the library and the worker of a checked build, whose hooks look at the frames of their callers.
CHECKED_RUNTIME_FLAGS: Final = (
    *_COMMON,
    _CHECKED,
    "-O2",
    # As the submission, which leaves wide registers in use when it calls a hook: a processor takes 50 ns to
    # go from such code to code for older ones, and as long to go back.
    "-march=native",
    "-fno-omit-frame-pointer",
    "-Wall",
    "-Wextra",
)

#: To link a submission to a library that the worker loads.
LINK_FLAGS: Final = ("-shared", "-Wl,-Bsymbolic", "-Wl,--build-id=none")

#: Besides, with a compiler of the machine. The worker has the C++ library loaded: to read its thousands of
#: names for every submission is most of what linking takes. The C library's have versions: it is looked at.
LIBRARY_FLAGS: Final = ("-nodefaultlibs", "-lm", "-lgcc_s", "-lc")

#: The same for a checked build, without the sanitizers' own libraries: the worker has what they would.
CHECKED_LINK_FLAGS: Final = (*LINK_FLAGS, *LIBRARY_FLAGS)

#: The worker's environment: room for the shared memory of a submission that is loaded late.
RUN_ENV: Final = {"GLIBC_TUNABLES": "glibc.rtld.optional_static_tls=2097152"}
