"""The Ed25519 keys that sign receipts: the current one, and retired ones, whose receipts remain valid.

They are in one file in the data directory, which only its owner can read. The private key is never logged,
shown or sent. The private half of a retired key is deleted.
"""

from __future__ import annotations

import base64
import fcntl
import hashlib
import json
import os
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from warmfront.errors import BadSetting, InfrastructureError
from warmfront.private_file import create_private_file, read_private_file, replace_private_file
from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FILE_NAME = "signing-keys.json"
ALGORITHM: Final = "Ed25519"
_FILE_TITLE = "the signing keys"


@dataclass(frozen=True, kw_only=True)
class PublicKey:
    """The public half of a signing key."""

    key: Ed25519PublicKey
    created_at: float | None = None  #: None if unknown
    retired_at: float | None = None  #: when another key replaced it; None if it still signs, or if unknown

    @classmethod
    def from_bytes(cls, raw: bytes, created_at: float | None, retired_at: float | None) -> PublicKey:
        """Return the key with these 32 bytes. Raises `ValueError` if there are more or fewer."""
        return cls(key=Ed25519PublicKey.from_public_bytes(raw), created_at=created_at, retired_at=retired_at)

    @property
    def id(self) -> str:
        """The id derived from the key: the first half of its SHA-256."""
        return f"ed25519-{hashlib.sha256(self.raw).hexdigest()[:32]}"

    @property
    def raw(self) -> bytes:
        """The 32 bytes of the key."""
        return self.key.public_bytes_raw()

    @property
    def pem(self) -> str:
        """The key in PEM format, as used by OpenSSL."""
        return self.key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()

    def has_signed(self, data: bytes, signature: bytes) -> bool:
        """Return whether this key created the signature of exactly this data."""
        try:
            self.key.verify(signature, data)
        except InvalidSignature:
            return False
        return True


class Keyring:
    """The signing keys of one data directory; `open_keyring` returns it. Its `repr` reveals no key.

    The file is read again when it changes, so a running service uses a new key immediately.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._version: tuple[int, int] | None = None
        self._public: tuple[PublicKey, ...] = ()
        self.__private: Ed25519PrivateKey | None = None

    def __repr__(self) -> str:
        return "Keyring(…)"

    def public_keys(self) -> tuple[PublicKey, ...]:
        """Return every key, oldest first; the last one signs."""
        self._refresh()
        return self._public

    def sign(self, data: bytes) -> tuple[str, bytes]:
        """Sign the data; return the id of the key and the signature."""
        self._refresh()
        if self.__private is None:
            raise BadSetting(f"No key in {self._path} can sign.", hint="Restore the file from a backup.")
        return self._public[-1].id, self.__private.sign(data)

    def rotate(self) -> PublicKey:
        """Create a new signing key, delete the private half of the old one, and return the new key."""
        with _translate_errors(self._path), _locked(self._path.parent):
            now = time.time()
            entries = _read_entries(self._path)
            for entry in entries:
                entry["retired_at"] = entry["retired_at"] or now
                entry.pop("private_key", None)
            replace_private_file(self._path, _write_entries([*entries, _new_entry(now)]))
        self._refresh()
        return self._public[-1]

    def _refresh(self) -> None:
        with _translate_errors(self._path):
            status = self._path.stat()
            version = (status.st_ino, status.st_mtime_ns)
            if version == self._version:
                return
            entries = _read_entries(self._path)
        self._public = tuple(_public_key(entry) for entry in entries)
        private = entries[-1].get("private_key")
        self.__private = private and Ed25519PrivateKey.from_private_bytes(base64.b64decode(private))
        self._version = version


def open_keyring(data_dir: Path) -> Keyring:
    """Open the signing keys of this data directory; create a key if there is none.

    Raises:
        InfrastructureError: The file can be neither read nor created.
        BadSetting: Other users can read the file, or it is damaged.
    """
    path = data_dir / FILE_NAME
    with _translate_errors(path):
        data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not path.exists():
            create_private_file(path, _write_entries([_new_entry(time.time())]))
    keyring = Keyring(path)
    keyring.public_keys()
    return keyring


def local_public_keys(data_dir: Path) -> tuple[PublicKey, ...]:
    """Return the public keys of this data directory without creating any; empty if there is no keyring."""
    path = data_dir / FILE_NAME
    try:
        exists = path.exists()
    except PermissionError:
        return ()
    return Keyring(path).public_keys() if exists and os.access(path, os.R_OK) else ()


def _new_entry(now: float) -> dict[str, Any]:
    private = Ed25519PrivateKey.generate()
    return {
        "created_at": now,
        "retired_at": None,
        "public_key": base64.b64encode(private.public_key().public_bytes_raw()).decode(),
        "private_key": base64.b64encode(private.private_bytes_raw()).decode(),
    }


def _public_key(entry: dict[str, Any]) -> PublicKey:
    raw = base64.b64decode(entry["public_key"])
    return PublicKey.from_bytes(raw, entry["created_at"], entry["retired_at"])


def _read_entries(path: Path) -> list[dict[str, Any]]:
    content = read_private_file(path, _FILE_TITLE)
    try:
        entries: list[dict[str, Any]] = json.loads(content)["keys"]
        _public_key(entries[-1])
    except (ValueError, LookupError, TypeError):
        raise BadSetting(
            f"The signing keys {path} are damaged.",
            hint="Restore the file from a backup. Without it, a new key is created, and receipts that the "
            "lost key signed can be verified only with a saved copy of its public half.",
        ) from None
    return entries


def _write_entries(entries: list[dict[str, Any]]) -> bytes:
    return json.dumps({"keys": entries}, indent=1).encode()


@contextmanager
def _locked(directory: Path) -> Iterator[None]:
    """Lock the file, so that two concurrent rotations do not lose a key."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def _translate_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InfrastructureError(
            f"The signing keys {path} cannot be read or written: {error.strerror}.",
            hint="Set WARMFRONT_DATA_DIR to a directory that this user may write to.",
        ) from error
