"""The `ziglang` wheel from PyPI: clang, a linker, and C and C++ library headers, installable without root.

This module locates its parts and has the flags that they need. It does not compile anything.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import shutil
from pathlib import Path

from warmfront.errors import NoToolchain
from warmfront.hip import cache

#: The command that installs the wheel.
INSTALL = "pip install ziglang==0.17.0"

#: The macros that `zig c++` defines for the wheel's libc++.
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
    """Return the folder of the installed wheel; None if it is not installed."""
    spec = importlib.util.find_spec("ziglang")
    if spec is None or spec.origin is None or not (Path(spec.origin).parent / "zig").exists():
        return None
    return Path(spec.origin).parent.resolve()


def require_wheel(component: str) -> Path:
    """Return the folder of the installed wheel.

    Raises:
        NoToolchain: the wheel, which `component` needs as its compiler, is not installed.
    """
    wheel = find_wheel()
    if wheel is None:
        raise NoToolchain(f"ziglang, the compiler of {component}, is not installed.", hint=f"Run: {INSTALL}")
    return wheel


def wheel_version(wheel: Path) -> str:
    """Return a text such as `clang of ziglang 0.17.0`."""
    name = next((path.stem for path in wheel.parent.glob("ziglang-*.dist-info")), "ziglang")
    return f"clang of {name.replace('-', ' ')}"


def system_headers(processor: str) -> tuple[str, ...]:
    """Return the wheel's C++ and C header folders in search order; `processor` is zig's name for it."""
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
    """Return the wheel, or a copy of the parts that a compiler needs if other users cannot read the wheel."""
    if os.geteuid() != 0 or _is_world_accessible(wheel):
        return wheel
    key = cache.digest([cache.file_identity(str(wheel / "zig")), *system_headers(processor)])
    copy = functools.partial(_copy_wheel, wheel, processor=processor)
    return cache.get_or_build(cache_dir, f"ziglang-{key}", copy)


def _copy_wheel(wheel: Path, into: Path, *, processor: str) -> None:
    shutil.copy2(wheel / "zig", into / "zig")
    for name in system_headers(processor):
        shutil.copytree(wheel / name, into / name, copy_function=shutil.copyfile)


def _is_world_accessible(path: Path) -> bool:
    """Return whether every user can reach the folder."""
    return all(parent.stat().st_mode & 0o001 for parent in (path, *path.parents))
