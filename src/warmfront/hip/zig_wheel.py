"""PyPI's `ziglang`: a clang, a linker, and the headers of a C and a C++ library, in one wheel without root.

It knows where these are and how they want to be called; it compiles nothing.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import shutil
from pathlib import Path

from warmfront.errors import NoToolchain
from warmfront.hip import cache

#: The line that installs it.
INSTALL = "pip install ziglang==0.17.0"

#: What the wheel's libc++ wants to be told, as `zig c++` tells it.
LIBCXX_MACROS = (
    "_LIBCPP_ABI_VERSION=1",
    "_LIBCPP_ABI_NAMESPACE=__1",
    "_LIBCPP_HAS_THREADS=1",
    "_LIBCPP_HAS_MONOTONIC_CLOCK=1",
    "_LIBCPP_HAS_TERMINAL=1",
    "_LIBCPP_HAS_MUSL_LIBC=0",
    "_LIBCPP_HAS_VENDOR_AVAILABILITY_ANNOTATIONS=0",
    "_LIBCPP_HAS_FILESYSTEM=1",
    "_LIBCPP_HAS_RANDOM_DEVICE=1",
    "_LIBCPP_HAS_LOCALIZATION=1",
    "_LIBCPP_HAS_UNICODE=1",
    "_LIBCPP_HAS_WIDE_CHARACTERS=1",
    "_LIBCPP_HAS_TIME_ZONE_DATABASE=0",
    "_LIBCPP_PSTL_BACKEND_SERIAL",
    "_LIBCPP_HARDENING_MODE_DEFAULT=2",
    "_LIBCPP_ASSERTION_SEMANTIC_DEFAULT=2",
)


def find_wheel() -> Path | None:
    """Where it is installed; None where it is not."""
    found = importlib.util.find_spec("ziglang")
    if found is None or found.origin is None or not (Path(found.origin).parent / "zig").exists():
        return None
    return Path(found.origin).parent.resolve()


def require_wheel(whose: str) -> Path:
    """Where it is installed, or the line to run; `whose` compiler it is to be, for people."""
    wheel = find_wheel()
    if wheel is None:
        raise NoToolchain(f"{whose} compiler, PyPI's ziglang, is not installed.", hint=f"Run: {INSTALL}")
    return wheel


def wheel_version(wheel: Path) -> str:
    """Such as `clang of ziglang 0.17.0`."""
    name = next((path.stem for path in wheel.parent.glob("ziglang-*.dist-info")), "ziglang")
    return f"clang of {name.replace('-', ' ')}"


def system_headers(processor: str) -> tuple[str, ...]:
    """Folders of the wheel with C++ and C headers, in their order; `processor` in the wheel's words."""
    return (
        "lib/libcxx/include",
        "lib/libcxxabi/include",
        "lib/include",
        f"lib/libc/include/{processor}-linux-gnu",
        "lib/libc/include/generic-glibc",
        f"lib/libc/include/{processor}-linux-any",
        "lib/libc/include/any-linux-any",
    )


def open_wheel(wheel: Path, cache_dir: Path, processor: str) -> Path:
    """The wheel; a copy of what compiling needs of it where a box, as nobody, could not read it."""
    if os.geteuid() != 0 or _is_open_to_all(wheel):
        return wheel
    key = cache.digest([cache.file_identity(str(wheel / "zig")), *system_headers(processor)])
    copy = functools.partial(_copy_wheel, wheel, processor=processor)
    return cache.get_or_build(cache_dir, f"ziglang-{key}", copy)


def _copy_wheel(wheel: Path, into: Path, *, processor: str) -> None:
    shutil.copy2(wheel / "zig", into / "zig")
    for name in system_headers(processor):
        shutil.copytree(wheel / name, into / name, copy_function=shutil.copyfile)


def _is_open_to_all(path: Path) -> bool:
    """Whether any user may reach it."""
    return all(parent.stat().st_mode & 0o001 for parent in (path, *path.parents))
