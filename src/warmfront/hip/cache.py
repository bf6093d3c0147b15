"""What is built once and used for every submission: precompiled headers, objects, the worker.

An entry is a directory named by a hash of everything that went into it, so a stale one is never used.
It appears whole or not at all, also when two processes build it at the same moment.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from warmfront.errors import ToolchainFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


def digest(parts: Iterable[str | Path]) -> str:
    """A hash of texts and of the contents of files, in order."""
    state = hashlib.sha256()
    for part in parts:
        data = part.read_bytes() if isinstance(part, Path) else part.encode()
        state.update(len(data).to_bytes(8, "little") + data)
    return state.hexdigest()[:24]


def file_identity(program: str) -> str:
    """What tells one installed compiler from another, without starting it."""
    path = Path(program).resolve()
    status = path.stat()
    return f"{path} {status.st_size} {status.st_mtime_ns}"


def get_or_build(cache_dir: Path, name: str, build: Callable[[Path], None]) -> Path:
    """The directory `name` of the cache; `build` fills it the first time."""
    ready = cache_dir / name
    if ready.is_dir():
        return ready
    _make_readable_dir(cache_dir)
    with (cache_dir / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if ready.is_dir():  # another process was faster
            return ready
        draft = Path(tempfile.mkdtemp(prefix=f".{name}-", dir=cache_dir))
        try:
            build(draft)
            # The sandbox reads it as another user.
            draft.chmod(0o755)
            draft.rename(ready)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
    return ready


def _make_readable_dir(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True, mode=0o755)
    except OSError as error:
        raise ToolchainFailed(
            f"The cache directory {path} cannot be made: {error.strerror}.",
            hint="Set WARMFRONT_CACHE_DIR to a directory that you can write.",
        ) from None
    if not os.access(path, os.W_OK):
        raise ToolchainFailed(
            f"The cache directory {path} cannot be written.",
            hint="Set WARMFRONT_CACHE_DIR to a directory that you can write.",
        )
