"""The service's secret: a file in the data directory from which the tokens of all listeners are derived.

No token is stored, and a restarted service can still use its earlier VMs. The secret is never logged, shown
or sent.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from typing import TYPE_CHECKING

from warmfront.errors import BadSetting, InfrastructureError
from warmfront.private_file import create_private_file, read_private_file

if TYPE_CHECKING:
    from pathlib import Path

FILE_NAME = "secret"
_KEY_BYTES = 32


class Secret:
    """A key from which tokens are derived. Its `repr` does not reveal the key."""

    def __init__(self, key: bytes) -> None:
        self.__key = key

    def __repr__(self) -> str:
        return "Secret(…)"

    def token_of(self, vm_id: str) -> str:
        """Return the token of the listener on this VM, which depends only on the key and the id."""
        return hmac.new(self.__key, vm_id.encode(), hashlib.sha256).hexdigest()

    @property
    def fingerprint(self) -> str:
        """A value that differs for another key, and from which neither the key nor a token can be derived."""
        return self.token_of("fingerprint")[:16]


def open_secret(data_dir: Path) -> Secret:
    """Open the secret of this data directory; create it if it does not exist."""
    path = data_dir / FILE_NAME
    try:
        data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not path.exists():
            create_private_file(path, secrets.token_bytes(_KEY_BYTES))
        return Secret(_read(path))
    except OSError as error:
        raise InfrastructureError(
            f"The service's secret {path} cannot be read or created: {error.strerror}.",
            hint="Set WARMFRONT_DATA_DIR to a directory that this user may write to.",
        ) from error


def _read(path: Path) -> bytes:
    key = read_private_file(path, "the service's secret")
    if len(key) != _KEY_BYTES:
        raise BadSetting(
            f"The service's secret {path} has {len(key)} bytes instead of {_KEY_BYTES}.",
            hint="Remove it. The service then creates a new one, and the watchdogs of live VMs end them.",
        )
    return key
