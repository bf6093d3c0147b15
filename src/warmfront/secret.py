"""The service's own secret: a file in the data directory from which the token of every VM follows.

So no token is stored anywhere, and a service that starts again can still talk to the VMs of the one before.
The secret is never logged, shown or sent.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import stat
from contextlib import suppress
from typing import TYPE_CHECKING

from warmfront.errors import BadSetting, InfrastructureError

if TYPE_CHECKING:
    from pathlib import Path

FILE_NAME = "secret"
_KEY_BYTES = 32


class Secret:
    """Makes tokens. Its text form shows nothing."""

    def __init__(self, key: bytes) -> None:
        self.__key = key

    def __repr__(self) -> str:
        return "Secret(…)"

    def token_of(self, vm_id: str) -> str:
        """The token of the listener on this VM: always the same for the same id."""
        return hmac.new(self.__key, vm_id.encode(), hashlib.sha256).hexdigest()


def open_secret(data_dir: Path) -> Secret:
    """The secret of this data directory, which is made if there is none yet."""
    path = data_dir / FILE_NAME
    try:
        data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not path.exists():
            _create(path)
        return Secret(_read(path))
    except OSError as error:
        raise InfrastructureError(
            f"The service's secret {path} cannot be read or made: {error.strerror}.",
            hint="Set WARMFRONT_DATA_DIR to a directory that this user may write to.",
        ) from error


def _create(path: Path) -> None:
    """Write it whole under another name first: whoever opens `path` finds all of it, and only one wins."""
    draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(secrets.token_bytes(_KEY_BYTES))
            file.flush()
            # Losing it in a power cut would lock us out of every VM that is alive.
            os.fsync(file.fileno())
        with suppress(FileExistsError):  # another process was first: its secret is the one
            os.link(draft, path)
    finally:
        draft.unlink()


def _read(path: Path) -> bytes:
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & 0o077:
        raise BadSetting(
            f"The service's secret {path} can be read by others (mode {mode:04o}).", hint=f"chmod 600 {path}"
        )
    key = path.read_bytes()
    if len(key) != _KEY_BYTES:
        raise BadSetting(
            f"The service's secret {path} has {len(key)} bytes instead of {_KEY_BYTES}.",
            hint="Remove it, and the service makes a new one; VMs that are alive end by themselves.",
        )
    return key
