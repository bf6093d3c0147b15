"""Public keys in files: PEM, or the JSON of `GET /api/amd/keys`."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.serialization import load_pem_public_key

from warmfront.errors import UsageError
from warmfront.events import format_time
from warmfront.receipts.keyring import ALGORITHM, PublicKey

if TYPE_CHECKING:
    from pathlib import Path

_MAX_BYTES = 1024 * 1024
_HINT = (
    "Save the keys of the service that signed the receipt: the response of GET /api/amd/keys, or one of its "
    "keys in PEM format."
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
        return [key_from_json(item) for item in json.loads(data)["items"]]
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return []


def key_from_json(item: dict[str, Any]) -> PublicKey:
    """Return a key from an item of `GET /api/amd/keys`."""
    raw = base64.b64decode(item["public_key"])
    return PublicKey.from_bytes(raw, _seconds(item.get("created_at")), _seconds(item.get("retired_at")))


def key_to_json(key: PublicKey) -> dict[str, Any]:
    """Return a key as an item of `GET /api/amd/keys`."""
    return {
        "id": key.id,
        "algorithm": ALGORITHM,
        "public_key": base64.b64encode(key.raw).decode(),
        "pem": key.pem,
        "created_at": _isoformat(key.created_at),
        "retired_at": _isoformat(key.retired_at),
    }


def _isoformat(seconds: float | None) -> str | None:
    return None if seconds is None else format_time(datetime.fromtimestamp(seconds, UTC))


def _seconds(text: str | None) -> float | None:
    return None if text is None else datetime.fromisoformat(text).timestamp()
