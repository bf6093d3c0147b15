"""Files that only their owner can read.

They are created and replaced atomically, and rejected if others can read them.
"""

from __future__ import annotations

import os
import secrets
import stat
from contextlib import suppress
from typing import TYPE_CHECKING

from warmfront.errors import BadSetting

if TYPE_CHECKING:
    from pathlib import Path


def create_private_file(path: Path, content: bytes) -> None:
    """Create the file unless it exists.

    It is written as a draft and then linked, so that only one of several processes succeeds.
    """
    draft = _write_draft(path, content)
    try:
        with suppress(FileExistsError):  # another process was first; its content is used
            os.link(draft, path)
    finally:
        draft.unlink()


def replace_private_file(path: Path, content: bytes) -> None:
    """Replace the file atomically, so that a reader gets either the old content or the new."""
    _write_draft(path, content).replace(path)


def read_private_file(path: Path, name: str) -> bytes:
    """Return the content of the file.

    Args:
        path: The file.
        name: A description of the file, for the error message.

    Raises:
        BadSetting: Other users can read the file.
        OSError: The file cannot be read.
    """
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & 0o077:
        raise BadSetting(
            f"Other users can read {name} {path} (mode {mode:04o}).", hint=f"Run: chmod 600 {path}"
        )
    return path.read_bytes()


def _write_draft(path: Path, content: bytes) -> Path:
    draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())  # a key that is lost in a power failure cannot be recreated
    except BaseException:
        draft.unlink()
        raise
    return draft
