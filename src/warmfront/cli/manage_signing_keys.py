"""`warmfront signing-key`: list and rotate the keys that sign receipts on this machine.

The commands use the data directory, even while the service is running; the service signs with a new key
immediately. A private key is never printed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from warmfront import settings
from warmfront.cli.error_report import report
from warmfront.cli.formatting import print_columns, print_json
from warmfront.errors import WarmfrontError
from warmfront.receipts.key_files import key_to_json
from warmfront.receipts.keyring import local_public_keys, open_keyring

if TYPE_CHECKING:
    from warmfront.receipts.keyring import PublicKey


def show_all(*, as_json: bool) -> int:
    """List the public keys, oldest first."""
    try:
        keys = local_public_keys(settings.load().data_dir)
    except WarmfrontError as error:
        return report(error, as_json=as_json)
    if as_json:
        print_json({"items": [key_to_json(key) for key in keys]})
    else:
        print_columns([("ID", "CREATED", "RETIRED", "PUBLIC KEY"), *map(_row, keys)])
    return 0


def rotate(*, as_json: bool) -> int:
    """Replace the signing key. Receipts of the old one remain valid."""
    try:
        key = open_keyring(settings.load().data_dir).rotate()
    except WarmfrontError as error:
        return report(error, as_json=as_json)
    if as_json:
        print_json(key_to_json(key))
    else:
        print(f"{key.id}  signs from now on; receipts of the retired keys remain valid")
    return 0


def _row(key: PublicKey) -> tuple[str, ...]:
    item: dict[str, Any] = key_to_json(key)
    return (item["id"], item["created_at"] or "", item["retired_at"] or "", item["public_key"])
