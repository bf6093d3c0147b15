"""Measure which standard headers declare a name with ROCm's C++ library, and write the X-ray's table.

Needs the root file system of the target version (`scripts/rocm-rootfs 7.2`), and takes ten minutes. A name
counts as declared if it is declared for the host and for the device.
"""

from __future__ import annotations

import json
import re
import sys
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.support.real_hip import SIDES, VERSIONS, RealCompiler, rootfs  # noqa: E402 - needs the path

TABLE = ROOT / "src/warmfront/hip/xray/standard_names.json"
FOLDER = ROOT / "build" / "standard_names"


def _words(text: str) -> list[str]:
    return text.split()


#: The headers of C++20 and C that are measured, and those of HIP that sources include.
HEADERS = _words(
    "algorithm any array atomic barrier bit bitset charconv chrono compare complex concepts "
    "condition_variable coroutine deque exception execution filesystem forward_list fstream functional "
    "future initializer_list iomanip ios iosfwd iostream istream iterator latch limits list locale map "
    "memory memory_resource mutex new numbers numeric optional ostream queue random ranges ratio regex "
    "scoped_allocator semaphore set shared_mutex source_location span sstream stack stdexcept streambuf "
    "string string_view system_error thread tuple type_traits typeindex typeinfo unordered_map "
    "unordered_set utility valarray variant vector version cassert cctype cerrno cfenv cfloat cinttypes "
    "climits clocale cmath csetjmp csignal cstdarg cstddef cstdint cstdio cstdlib cstring ctime cuchar "
    "cwchar cwctype assert.h ctype.h errno.h float.h inttypes.h limits.h math.h pthread.h stdarg.h "
    "stddef.h stdint.h stdio.h stdlib.h string.h strings.h sys/time.h time.h unistd.h "
    "hip/device_functions.h hip/hip_bf16.h hip/hip_bfloat16.h hip/hip_complex.h "
    "hip/hip_cooperative_groups.h hip/hip_fp16.h hip/hip_fp8.h hip/hip_math_constants.h hip/hip_runtime.h "
    "hip/hip_runtime_api.h hip/hip_vector_types.h hip/math_functions.h"
)

#: Functions and types of C, outside `std`.
FUNCTIONS = _words(
    "memchr memcmp memmove strcat strchr strcmp strcpy strdup strerror strlen strncmp strncpy strrchr "
    "strstr strtok abs labs llabs div ldiv qsort bsearch rand srand atoi atol atoll atof strtol strtoul "
    "strtoll strtoull strtod strtof strtold malloc calloc realloc free abort exit atexit getenv system "
    "aligned_alloc posix_memalign printf fprintf sprintf snprintf vprintf vsnprintf puts putchar fputs "
    "fputc fopen fclose fread fwrite fseek ftell fflush scanf sscanf fscanf getchar perror remove rename "
    "time ctime localtime gmtime difftime mktime clock_gettime nanosleep usleep sleep gettimeofday "
    "isalpha isdigit isspace isalnum toupper tolower isxdigit ispunct isprint isupper islower close read "
    "write getpid fork pthread_create raise signal longjmp sched_yield"
)
TYPES = _words(
    "FILE va_list max_align_t int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t intptr_t "
    "uintptr_t intmax_t uintmax_t ssize_t time_t clock_t"
)
MACROS = _words(
    "FLT_MAX FLT_MIN FLT_EPSILON FLT_DIG FLT_MANT_DIG FLT_RADIX FLT_MAX_EXP FLT_MIN_EXP FLT_MAX_10_EXP "
    "FLT_TRUE_MIN FLT_DECIMAL_DIG DBL_MAX DBL_MIN DBL_EPSILON DBL_DIG DBL_MANT_DIG DBL_TRUE_MIN LDBL_MAX "
    "LDBL_EPSILON DECIMAL_DIG INT_MAX INT_MIN UINT_MAX LONG_MAX LONG_MIN ULONG_MAX LLONG_MAX LLONG_MIN "
    "ULLONG_MAX SHRT_MAX SHRT_MIN USHRT_MAX CHAR_BIT CHAR_MAX CHAR_MIN SCHAR_MAX UCHAR_MAX INT8_MAX "
    "INT16_MAX INT32_MAX INT32_MIN INT64_MAX INT64_MIN UINT8_MAX UINT16_MAX UINT32_MAX UINT64_MAX "
    "SIZE_MAX INTPTR_MAX PTRDIFF_MAX INT64_C UINT64_C INFINITY NAN HUGE_VAL HUGE_VALF M_PI M_PI_2 M_PI_4 "
    "M_1_PI M_2_PI M_2_SQRTPI M_SQRT2 M_SQRT1_2 M_E M_LOG2E M_LOG10E M_LN2 M_LN10 FP_NAN FP_INFINITE "
    "FP_NORMAL FP_SUBNORMAL FP_ZERO assert EXIT_SUCCESS EXIT_FAILURE RAND_MAX EOF BUFSIZ SEEK_SET "
    "SEEK_END CLOCKS_PER_SEC CLOCK_MONOTONIC NULL offsetof va_start va_arg va_end errno ENOENT ENOMEM "
    "SIGINT SIGSEGV PRIu64 PRId64 PRIx64 PRIu32 SCNu64 setjmp"
)
#: Calls that HIP itself declares for the device only.
HOST_CALLS = {
    "isnan": "isnan(1.0f)",
    "isinf": "isinf(1.0f)",
    "isfinite": "isfinite(1.0f)",
    "signbit": "signbit(1.0f)",
    "isnormal": "isnormal(1.0f)",
    "memset": "memset(p, 0, 4)",
    "memcpy": "memcpy(p, p, 4)",
}
#: The usual headers of names outside `std`, in the order in which they are proposed.
USUAL = _words(
    "cfloat climits cstdint cmath cstring cassert cstdio cstdlib ctime cctype cstddef cstdarg cinttypes "
    "csignal csetjmp cerrno"
)
_NAMESPACES = frozenset({"std::chrono", "std::filesystem", "std::numbers", "std::ranges", "std::this_thread"})


def main() -> None:
    """Measure with the newest version and write the table."""
    version = VERSIONS[-1]
    homes = _homes(version)
    keys = [*sorted(homes), *_NAMESPACES, *(f"{n}()" for n in FUNCTIONS), *TYPES, *MACROS]
    FOLDER.mkdir(parents=True, exist_ok=True)
    compiler = RealCompiler(version, FOLDER)
    with ThreadPoolExecutor() as pool:
        missing = list(pool.map(lambda header: _missing(compiler, header, keys), ["", *HEADERS]))
    headers = {
        key: [header for header, absent in zip(HEADERS, missing[1:], strict=True) if key not in absent]
        for key in sorted(missing[0])
    }
    table = {
        "about": f"Names that hip_runtime.h of ROCm {version} does not declare, and headers that do.",
        "measured": sorted(HEADERS),
        "groups": _groups({key: found for key, found in headers.items() if " " not in key}, homes),
        "host_groups": _groups({f"{name}()": headers[f"host {name}"] for name in HOST_CALLS}, homes),
    }
    TABLE.write_text(json.dumps(table, indent=1) + "\n")
    print(f"{TABLE.name}: {len(headers)} names in {len(table['groups'])} groups")


def _homes(version: str) -> dict[str, str]:
    """Return the names of `std`, with the header in which the C++ standard declares each."""
    (file,) = (rootfs(version) / "usr/include/c++").glob("*/bits/std.cc")
    homes: dict[str, str] = {}
    header = ""
    for line in file.read_text().splitlines():
        if section := re.match(r"// .*<(\w+)>", line):
            header = section[1]
        elif (name := re.match(r"  using std::([a-z]\w*);", line)) and header:
            homes.setdefault(f"std::{name[1]}", header)
    return homes


def _missing(compiler: RealCompiler, header: str, keys: list[str]) -> set[str]:
    """Return the names that are not declared after a header and HIP's."""
    lines = [f"#include <{header}>" if header else "", "#include <hip/hip_runtime.h>"]
    at_line: dict[int, str] = {}
    for number, key in enumerate(keys):
        for line in _probe(number, key):
            lines.append(line)
            at_line[len(lines)] = key
    for number, (name, call) in enumerate(HOST_CALLS.items()):
        lines.append(f"void host{number}(int* p) {{ (void)({call}); }}")
        at_line[len(lines)] = f"host {name}"
    file = FOLDER / f"{re.sub(r'[^a-z0-9]', '_', header) or 'none'}.hip"
    file.write_text("\n".join(lines) + "\n")
    missing: set[str] = set()
    for side in SIDES:
        flags = ["--offload-arch=gfx942", "-std=c++20", f"--offload-{side}-only", "-fsyntax-only"]
        flags += ["-ferror-limit=0", "-fno-spell-checking", "-fno-caret-diagnostics"]
        done = compiler.run(["hipcc", *flags, str(file)])
        places = re.findall(rf"{re.escape(file.name)}:(\d+):\d+: error", done.stderr)
        missing |= {at_line[int(line)] for line in places if int(line) in at_line}
    return missing


def _probe(number: int, key: str) -> list[str]:
    """Return lines of which the second-to-last, or the only one, is an error if a name is not declared."""
    name = key.removesuffix("()")
    if name in MACROS:
        return [f"#ifndef {name}", f"#error {name}", "#endif"]
    if key in _NAMESPACES:
        return [f"namespace probe{number} {{ namespace used = {key}; }}"]
    return [f"namespace probe{number} {{ using {key if '::' in key else f'::{name}'}; }}"]


def _groups(headers: dict[str, list[str]], homes: dict[str, str]) -> list[dict[str, str]]:
    """Return the names by their headers, the usual one first."""
    names: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for key, found in headers.items():
        if found:
            usual = [homes.get(key, ""), key.removeprefix("std::"), *USUAL]
            first = next((header for header in usual if header in found), found[0])
            names[first, *(header for header in found if header != first)].append(key)
    return [{"headers": " ".join(key), "names": " ".join(sorted(names[key]))} for key in sorted(names)]


if __name__ == "__main__":
    main()
