"""The cache of everything that is built once for all submissions: precompiled headers, libraries, the guest.

An entry is a directory whose name contains a hash of everything it was built from, so a stale entry is never
used. Entries are created atomically, even if two processes build the same one at the same time.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from warmfront.errors import ToolchainFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


def digest(parts: Iterable[str | Path]) -> str:
    """Return a hash of texts and of the contents of files, in order."""
    state = hashlib.sha256()
    for part in parts:
        data = part.read_bytes() if isinstance(part, Path) else part.encode()
        state.update(len(data).to_bytes(8, "little") + data)
    return state.hexdigest()[:24]


def file_identity(program: str) -> str:
    """Return text that identifies an installed compiler and its version, without running it."""
    path = Path(program).resolve()
    status = path.stat()
    return f"{path} {status.st_size} {status.st_mtime_ns}"


def get_or_build(cache_dir: Path, name: str, build: Callable[[Path], None]) -> Path:
    """Return the cache directory `name`; if it does not exist, let `build` fill it.

    Raises:
        ToolchainFailed: the cache directory cannot be created or written.
    """
    ready = cache_dir / name
    if ready.is_dir():
        return ready
    _make_readable_dir(cache_dir)
    with (cache_dir / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if ready.is_dir():  # another process built it
            return ready
        from tempfile import mkdtemp  # noqa: PLC0415 - not needed if everything is built

        draft = Path(mkdtemp(prefix=f".{name}-", dir=cache_dir))
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
            f"The cache directory {path} cannot be created: {error.strerror}.",
            hint="Set WARMFRONT_CACHE_DIR to a writable directory.",
        ) from None
    if not os.access(path, os.W_OK):
        raise ToolchainFailed(
            f"The cache directory {path} is not writable.",
            hint="Set WARMFRONT_CACHE_DIR to a writable directory.",
        )
