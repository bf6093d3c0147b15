"""Verify receipts offline: turn the bytes of a file into a verified receipt, or a reason to refuse it.

A receipt is verified only with public keys that the reader obtained elsewhere: nothing in the file decides
which key to trust.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from typing import TYPE_CHECKING, Any

from warmfront.errors import ReceiptRefused, UnknownSigningKey
from warmfront.judge.committed_seed import commit
from warmfront.receipts.canonical import NotCanonical, canonical_json, parse_canonical_json
from warmfront.receipts.score import check_score
from warmfront.receipts.signer import FORMAT
from warmfront.value_class import dataclass
from warmfront.verdicts import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warmfront.receipts.keyring import PublicKey

#: Much larger than a real receipt, whose windows have a few tens of kilobytes.
MAX_RECEIPT_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True, kw_only=True)
class VerifiedReceipt:
    """A receipt that was signed by a known key and whose figures are consistent."""

    body: dict[str, Any]
    key: PublicKey


def verify_receipt(data: bytes, known_keys: Sequence[PublicKey]) -> VerifiedReceipt:
    """Verify the bytes of a receipt: form, signature, seed and score.

    Args:
        data: The whole file.
        known_keys: The public keys to trust.

    Raises:
        ReceiptRefused: A byte was changed, the key is unknown, or the figures are inconsistent.
    """
    body, key_id, signature = _parse(data)
    key = next((key for key in known_keys if key.id == key_id), None)
    if key is None:
        raise UnknownSigningKey(f"It is signed with the key {key_id[:80]!r}, which is not known here.")
    if not key.has_signed(canonical_json(body), signature):
        raise ReceiptRefused(f"The signature is not that of key {key.id} over this content.")
    _check_contents(body)
    return VerifiedReceipt(body=body, key=key)


def check_source(receipt: VerifiedReceipt, source: str) -> None:
    """Compare a source with the receipt's. Raises `ReceiptRefused` if they differ."""
    if hashlib.sha256(source.encode()).hexdigest() != receipt.body["source_sha256"]:
        raise ReceiptRefused("The receipt is for another source: the SHA-256 differs.")


def _parse(data: bytes) -> tuple[dict[str, Any], str, bytes]:
    """Return the body, the id of the key and the signature of a file in canonical form."""
    if len(data) > MAX_RECEIPT_BYTES:
        raise ReceiptRefused(f"It is larger than {MAX_RECEIPT_BYTES:,} bytes.")
    try:
        receipt = parse_canonical_json(data)
    except NotCanonical as error:
        raise ReceiptRefused(f"It was changed: {error}.") from None
    if not isinstance(receipt, dict) or receipt.keys() != {"body", "key_id", "signature"}:
        raise ReceiptRefused("It is not a receipt: a receipt has `body`, `key_id` and `signature`.")
    body, key_id, signature = receipt["body"], receipt["key_id"], receipt["signature"]
    if not (isinstance(body, dict) and isinstance(key_id, str) and isinstance(signature, str)):
        raise ReceiptRefused("It is not a receipt: `body`, `key_id` or `signature` has the wrong type.")
    return body, key_id, _decode_signature(signature)


def _decode_signature(text: str) -> bytes:
    """Decode canonical base64, in which the unused bits of the last character are zero."""
    try:
        signature = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise ReceiptRefused("The signature is not base64.") from None
    if base64.b64encode(signature).decode() != text:
        raise ReceiptRefused("The signature is not canonical base64.")
    return signature


def _check_contents(body: dict[str, Any]) -> None:
    if body.get("format") != FORMAT:
        raise ReceiptRefused(
            f"Its format is {str(body.get('format'))[:80]!r}; this release reads {FORMAT!r}.",
            hint="Use a newer release of Warmfront.",
        )
    if body.get("verdict") != Verdict.ACCEPTED:
        raise ReceiptRefused(f"Its verdict is {str(body.get('verdict'))[:80]!r}, not ACCEPTED.")
    if commit(str(body.get("seed")), str(body.get("seed_nonce"))) != body.get("seed_commitment"):
        raise ReceiptRefused("Its seed is not the one that was committed to before the run.")
    check_score(body)
