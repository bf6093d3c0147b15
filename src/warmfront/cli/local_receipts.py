"""Receipts of `warmfront run`, signed with this machine's own key, and how any command saves a receipt."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

from warmfront.cli.error_report import report_error
from warmfront.errors import UsageError, WarmfrontError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from warmfront.receipts.keyring import Keyring


class LocalReceipts:
    """Signs the ACCEPTED event of a run, and saves its receipt if a file was given."""

    def __init__(self, keyring: Keyring | None, file: Path | None) -> None:
        self._keyring = keyring
        self._file = file
        self._signed = ""

    @classmethod
    def open(cls, data_dir: Path, file: Path | None) -> LocalReceipts:
        """Open the key in this data directory, and create it the first time.

        A verdict does not need a key: without a file to save to, a directory that cannot be written only
        leaves the receipt unsigned.
        """
        from warmfront.receipts.keyring import open_keyring

        try:
            return cls(open_keyring(data_dir), file)
        except WarmfrontError:
            if file is not None:
                raise
            return cls(None, None)

    def sign(self, event: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the event, with a signed receipt if it is ACCEPTED."""
        if self._keyring is None:
            return event
        from warmfront.receipts.signer import add_signed_receipt

        signed = add_signed_receipt(event, self._keyring, submission_id=None, now=time.time())
        self._signed = signed.get("signed_receipt", "")
        return signed

    def save(self, exit_code: int) -> int:
        """Save the receipt, if a file was given; return the exit code, or that of a failure to save."""
        return exit_code if self._file is None else save_receipt(self._file, self._signed.encode(), exit_code)


def save_receipt(file: Path, receipt: bytes, exit_code: int) -> int:
    """Write a receipt to a file, exactly; return the exit code, or that of a failure to write.

    Args:
        file: Where to write it.
        receipt: Empty if there is none, because the verdict is not ACCEPTED.
        exit_code: The verdict's exit code.
    """
    if not receipt:
        print("No receipt was saved: only an ACCEPTED submission has one.", file=sys.stderr)
        return exit_code
    try:
        file.write_bytes(receipt)
    except OSError as error:
        return report_error(UsageError(f"The receipt cannot be written to {file}: {error.strerror}."))
    print(f"Saved the receipt to {file}; `warmfront verify {file}` verifies it.", file=sys.stderr)
    return exit_code
