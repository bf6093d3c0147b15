"""The output of `warmfront verify`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.receipt_samples import accepted_fields
from warmfront.cli.verify_receipt import VerifyOptions, verify
from warmfront.receipts.keyring import open_keyring
from warmfront.receipts.signer import add_signed_receipt

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_no_field_controls_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An escape sequence in a signed text is printed as replacement characters."""
    monkeypatch.setenv("WARMFRONT_DATA_DIR", str(tmp_path))
    fields = accepted_fields()
    fields["receipt"]["compiler"] = "g++\x1b[2Jx\nVALID"
    signed = add_signed_receipt(fields, open_keyring(tmp_path), submission_id="sub_1", now=1.8e9)
    (tmp_path / "receipt.json").write_text(signed["signed_receipt"])
    options = VerifyOptions(file=tmp_path / "receipt.json", key=None, server=None, source=None)
    assert verify(options, as_json=False) == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert out.count("\nVALID") == 0
    assert "g++\ufffd[2Jx\ufffdVALID" in out
