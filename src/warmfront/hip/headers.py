"""HIP headers: those that the CPU runtime and the X-ray share, merged with those of a target.

A target has its own `hip/hip_runtime.h` and provides the functions that the shared headers call in namespace
`hiptarget`; everything else that an author includes is in the shared folder.
"""

from __future__ import annotations

import functools
import hashlib
import os
import shutil
from pathlib import Path

#: The headers that do not depend on the target, or depend on it only through `hiptarget`.
SHARED_INCLUDE = Path(__file__).parent / "include"


def copy_headers(include: Path, into: Path) -> None:
    """Copy the shared headers and the target's own, which are in `include`, to the folder `into`."""
    for root in (SHARED_INCLUDE, include):
        shutil.copytree(root, into, copy_function=shutil.copyfile, dirs_exist_ok=True)


@functools.cache
def header_digest(include: Path) -> str:
    """Return a hash of the names and contents of the files that `copy_headers` copies.

    It is part of several cache keys, which `warmfront run` needs before it can start a compiler.
    """
    state = hashlib.sha256()
    for root in (SHARED_INCLUDE, include):
        paths = sorted(os.path.join(folder, name) for folder, _, names in os.walk(root) for name in names)  # noqa: PTH118 - `rglob` takes twice as long
        for path in paths:
            data = Path(path).read_bytes()
            state.update(f"{os.path.relpath(path, root)} {len(data)}\n".encode() + data)
    return state.hexdigest()
