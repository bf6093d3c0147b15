"""Read public keys that were saved to a file: PEM, or the JSON of `GET /api/amd/keys`."""

from __future__ import annotations

import base64
import json
from datetime import datetime
from typing import TYPE_CHECKING, Any

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import load_pem_public_key

from warmfront.errors import UsageError
from warmfront.receipts.keyring import PublicKey

if TYPE_CHECKING:
    from pathlib import Path

_MAX_BYTES = 1024 * 1024
_HINT = (
    "Save the keys of the service that signed: the response of GET /api/amd/keys, or one of its PEM texts."
)


def read_key_file(path: Path) -> list[PublicKey]:
    """Return the public keys in a file.

    Raises:
        UsageError: The file cannot be read or contains no Ed25519 public key.
    """
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_BYTES)
    except OSError as error:
        raise UsageError(f"The key file {path} cannot be read: {error.strerror}.", hint=_HINT) from None
    keys = _read_pem(data) if data.lstrip().startswith(b"-----BEGIN") else _read_json(data)
    if not keys:
        raise UsageError(f"The key file {path} contains no Ed25519 public key.", hint=_HINT)
    return keys


def _read_pem(data: bytes) -> list[PublicKey]:
    try:
        key = load_pem_public_key(data)
    except (ValueError, UnsupportedAlgorithm):
        return []
    return [PublicKey(key=key)] if isinstance(key, Ed25519PublicKey) else []


def _read_json(data: bytes) -> list[PublicKey]:
    try:
        return [_from_json(item) for item in json.loads(data)["items"]]
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return []


def _from_json(item: dict[str, Any]) -> PublicKey:
    retired_at = item.get("retired_at")
    return PublicKey.from_bytes(
        base64.b64decode(item["public_key"]),
        datetime.fromisoformat(item["created_at"]).timestamp(),
        None if retired_at is None else datetime.fromisoformat(retired_at).timestamp(),
    )
