"""HIP headers: those that the CPU runtime and the X-ray share, merged with a target's own.

A target has its own `hip/hip_runtime.h` and provides the functions that the shared headers call in namespace
`hiptarget`; everything else that an author includes is in the shared folder.
"""

from __future__ import annotations

import shutil
from pathlib import Path

#: The headers that do not depend on the target, or depend on it only through `hiptarget`.
SHARED_INCLUDE = Path(__file__).parent / "include"


def copy_headers(include: Path, into: Path) -> None:
    """Copy the shared headers and the target's own, which are in `include`, to the folder `into`."""
    for root in (SHARED_INCLUDE, include):
        shutil.copytree(root, into, copy_function=shutil.copyfile, dirs_exist_ok=True)


def header_contents(include: Path) -> list[str | Path]:
    """Return the names and the files that `copy_headers` copies, as parts of a cache key."""
    return [
        part
        for root in (SHARED_INCLUDE, include)
        for path in sorted(root.rglob("*"))
        if path.is_file()
        for part in (str(path.relative_to(root)), path)
    ]
