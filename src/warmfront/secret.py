"""The service's secret: a file in the data directory from which the tokens of all listeners are derived.

No token is stored, and a restarted service can still talk to the VMs that it had before. The secret is never
logged, shown or sent.
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
    """Derives tokens; its `repr` does not reveal the key."""

    def __init__(self, key: bytes) -> None:
        self.__key = key

    def __repr__(self) -> str:
        return "Secret(…)"

    def token_of(self, vm_id: str) -> str:
        """Return the token of the listener on this VM; it depends only on the key and the id."""
        return hmac.new(self.__key, vm_id.encode(), hashlib.sha256).hexdigest()


def open_secret(data_dir: Path) -> Secret:
    """Open the secret of this data directory; create it if it does not exist."""
    path = data_dir / FILE_NAME
    try:
        data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not path.exists():
            _create(path)
        return Secret(_read(path))
    except OSError as error:
        raise InfrastructureError(
            f"The service's secret {path} cannot be read or created: {error.strerror}.",
            hint="Set WARMFRONT_DATA_DIR to a directory that this user may write to.",
        ) from error


def _create(path: Path) -> None:
    """Create the file atomically: write a draft, then link it. If several processes do so, one wins."""
    draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(secrets.token_bytes(_KEY_BYTES))
            file.flush()
            # Losing it in a power failure would lock us out of every live VM.
            os.fsync(file.fileno())
        with suppress(FileExistsError):  # another process was first; its secret is used
            os.link(draft, path)
    finally:
        draft.unlink()


def _read(path: Path) -> bytes:
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & 0o077:
        raise BadSetting(
            f"Other users can read the service's secret {path} (mode {mode:04o}).",
            hint=f"Run: chmod 600 {path}",
        )
    key = path.read_bytes()
    if len(key) != _KEY_BYTES:
        raise BadSetting(
            f"The service's secret {path} has {len(key)} bytes instead of {_KEY_BYTES}.",
            hint="Remove it. The service then creates a new one, and the watchdogs of live VMs end them.",
        )
    return key
