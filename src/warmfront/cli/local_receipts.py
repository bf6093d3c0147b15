"""Sign the receipts of `warmfront run` with this machine's own key, and save receipts for any command."""

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
    """The receipt of a run: signs its ACCEPTED event, and saves the receipt if a file was given."""

    def __init__(self, keyring: Keyring | None, file: Path | None) -> None:
        self._keyring = keyring
        self._file = file
        self._signed = ""

    @classmethod
    def open(cls, data_dir: Path, file: Path | None) -> LocalReceipts:
        """Open the key in this data directory, or create it.

        A verdict does not need a key: if the directory is not writable and no file was given, there is no
        signed receipt and no error.
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
        """Save the receipt if a file was given; return `exit_code`, or the code of a failure to save."""
        return exit_code if self._file is None else save_receipt(self._file, self._signed.encode(), exit_code)


def save_receipt(file: Path, receipt: bytes, exit_code: int) -> int:
    """Write a receipt to a file, byte for byte; return `exit_code`, or the code of a failure to write.

    Args:
        file: The file to write.
        receipt: The receipt; empty if the verdict is not ACCEPTED.
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
