"""A true receipt is accepted; one with any byte changed, or signed by anyone else, is refused."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.receipt_samples import SOURCE, accepted_fields
from warmfront.errors import ReceiptRefused, UnknownSigningKey
from warmfront.receipts.canonical import canonical_json
from warmfront.receipts.keyring import Keyring, open_keyring
from warmfront.receipts.signer import add_signed_receipt, sign
from warmfront.receipts.verification import MAX_RECEIPT_BYTES, check_source, verify_receipt

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NOW = 1_790_000_000.0


@pytest.fixture(scope="module")
def keyring(tmp_path_factory: pytest.TempPathFactory) -> Keyring:
    """Return the keys of a service."""
    return open_keyring(tmp_path_factory.mktemp("data"))


def issue(keyring: Keyring) -> bytes:
    """Return a true receipt."""
    fields = add_signed_receipt(accepted_fields(), keyring, submission_id="sub_1", now=NOW)
    return str(fields["signed_receipt"]).encode()


@pytest.fixture(scope="module")
def receipt(keyring: Keyring) -> bytes:
    """Return a true receipt."""
    return issue(keyring)


def test_a_true_receipt_is_valid(keyring: Keyring, receipt: bytes) -> None:
    """It states the problem, the time, the cost and the id."""
    body = verify_receipt(receipt, keyring.public_keys()).body
    assert (body["problem"], body["submission_id"], body["verdict"]) == ("relu", "sub_1", "ACCEPTED")
    assert body["issued_at"] == "2026-09-21T14:13:20.000Z"
    assert len(body["timings"][0]["windows"]) == 14
    assert "host" not in json.dumps(body)


def test_every_changed_byte_is_refused(keyring: Keyring, receipt: bytes) -> None:
    """At every position, a byte with one other bit is noticed."""
    keys = keyring.public_keys()
    for index in range(len(receipt)):
        changed = bytearray(receipt)
        changed[index] ^= 1 << index % 8
        with pytest.raises(ReceiptRefused):
            verify_receipt(bytes(changed), keys)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.data())
def test_every_other_change_is_refused(keyring: Keyring, receipt: bytes, data: st.DataObject) -> None:
    """Any bytes inserted, removed or replaced anywhere are noticed."""
    start = data.draw(st.integers(0, len(receipt)))
    end = data.draw(st.integers(start, min(start + 3, len(receipt))))
    middle = data.draw(st.binary(max_size=3) | st.text(" \t\n\r,0", max_size=3).map(str.encode))
    changed = receipt[:start] + middle + receipt[end:]
    if changed != receipt:
        with pytest.raises(ReceiptRefused):
            verify_receipt(changed, keyring.public_keys())


@pytest.mark.parametrize(
    "change",
    [
        lambda data: json.dumps(json.loads(data)).encode(),
        lambda data: json.dumps(json.loads(data), separators=(",", ":")).encode(),
        lambda data: data + b"\n",
        lambda data: data.replace(b'{"body":', b'{"body":{},"body":', 1),
        lambda data: data.replace(b"==", b"=", 1),
        lambda data: data + b" " * MAX_RECEIPT_BYTES,
    ],
)
def test_another_spelling_of_the_same_receipt_is_refused(
    keyring: Keyring, receipt: bytes, change: Callable[[bytes], bytes]
) -> None:
    """A receipt has one spelling: the bytes that were issued."""
    with pytest.raises(ReceiptRefused):
        verify_receipt(change(receipt), keyring.public_keys())


@pytest.mark.parametrize("data", [b"", b"{}", b"[]", b'{"body":[],"key_id":1,"signature":""}'])
def test_what_is_not_a_receipt_is_refused(keyring: Keyring, data: bytes) -> None:
    """Other files are refused like changed receipts."""
    with pytest.raises(ReceiptRefused):
        verify_receipt(data, keyring.public_keys())


def test_unused_bits_of_the_signature_are_refused(keyring: Keyring, receipt: bytes) -> None:
    """Base64 has several spellings of 64 bytes; only one is accepted."""
    text = json.loads(receipt)["signature"]
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    other = text[:-3] + alphabet[alphabet.index(text[-3]) + 1] + "=="
    assert base64.b64decode(other) == base64.b64decode(text)
    with pytest.raises(ReceiptRefused, match="canonical base64"):
        verify_receipt(receipt.replace(text.encode(), other.encode()), keyring.public_keys())


def test_a_receipt_of_a_retired_key_remains_valid(tmp_path: Path) -> None:
    """Rotation invalidates nothing, and new receipts have the new key."""
    keyring = open_keyring(tmp_path)
    before = issue(keyring)
    keyring.rotate()
    old, new = keyring.public_keys()
    assert verify_receipt(before, keyring.public_keys()).key.id == old.id
    assert verify_receipt(issue(keyring), keyring.public_keys()).key.id == new.id


def test_a_receipt_that_someone_else_signed_is_refused(
    tmp_path: Path, keyring: Keyring, receipt: bytes
) -> None:
    """Better times under another key are refused, even with the id of a known key."""
    forger = open_keyring(tmp_path)
    body: dict[str, Any] = json.loads(receipt)["body"]
    body["timings"][0]["windows"][0]["time_ms"] = 0.1
    forged = sign(body, forger)
    with pytest.raises(UnknownSigningKey, match="not known here"):
        verify_receipt(forged, keyring.public_keys())
    claimed = canonical_json({**json.loads(forged), "key_id": keyring.public_keys()[0].id})
    with pytest.raises(ReceiptRefused, match="not that of key"):
        verify_receipt(claimed, keyring.public_keys())


def test_a_seed_that_was_not_committed_to_is_refused(keyring: Keyring, receipt: bytes) -> None:
    """Even the service cannot name another seed afterwards."""
    body = {**json.loads(receipt)["body"], "seed": "0" * 32}
    with pytest.raises(ReceiptRefused, match="committed"):
        verify_receipt(sign(body, keyring), keyring.public_keys())


def _faster(body: dict[str, Any]) -> None:
    body["timings"][0]["runtime_ms"] /= 2


def _faster_average(body: dict[str, Any]) -> None:
    body["avg_runtime_ms"] /= 2


def _narrower(body: dict[str, Any]) -> None:
    body["avg_ci"] = [body["avg_runtime_ms"]] * 2
    body["timings"][0]["ci"] = [body["timings"][0]["runtime_ms"] * share for share in (0.98, 1.1)]


def _slower_windows(body: dict[str, Any]) -> None:
    for window in body["timings"][0]["windows"]:
        window["time_ms"] *= 2


def _no_windows(body: dict[str, Any]) -> None:
    body["timings"][0]["windows"] = []


def _equal_windows(body: dict[str, Any]) -> None:
    for window in body["timings"][0]["windows"]:
        window["calls"] = 2


def _no_timings(body: dict[str, Any]) -> None:
    body["timings"] = []


def _noisy(body: dict[str, Any]) -> None:
    body["noisy"] = True


@pytest.mark.parametrize(
    "change",
    [
        _faster,
        _faster_average,
        _narrower,
        _slower_windows,
        _no_windows,
        _equal_windows,
        _no_timings,
        _noisy,
    ],
)
def test_a_score_that_the_windows_do_not_give_is_refused(
    keyring: Keyring, receipt: bytes, change: Callable[[dict[str, Any]], None]
) -> None:
    """The known key does not help: the figures must agree with each other."""
    body = json.loads(receipt)["body"]
    change(body)
    with pytest.raises(ReceiptRefused, match=r"windows|timings"):
        verify_receipt(sign(body, keyring), keyring.public_keys())


@pytest.mark.parametrize(("field", "value"), [("format", "warmfront-receipt/2"), ("verdict", "WRONG_ANSWER")])
def test_another_format_or_verdict_is_refused(
    keyring: Keyring, receipt: bytes, field: str, value: str
) -> None:
    """A valid signature does not make every document a receipt."""
    body = {**json.loads(receipt)["body"], field: value}
    with pytest.raises(ReceiptRefused, match=value):
        verify_receipt(sign(body, keyring), keyring.public_keys())


def test_the_source_can_be_checked(keyring: Keyring, receipt: bytes) -> None:
    """The source of the submission passes, any other does not."""
    verified = verify_receipt(receipt, keyring.public_keys())
    check_source(verified, SOURCE)
    with pytest.raises(ReceiptRefused, match="another source"):
        check_source(verified, SOURCE + " ")


def test_other_events_are_left_alone(keyring: Keyring) -> None:
    """Only ACCEPTED has a receipt."""
    fields = {"status": "CHECKED", "output": ""}
    assert add_signed_receipt(fields, keyring, submission_id="sub_1", now=NOW) == fields


def test_facts_that_contradict_the_submission_are_not_signed(
    keyring: Keyring, caplog: pytest.LogCaptureFixture
) -> None:
    """A VM that claims to have judged another source gets no signature."""
    fields = add_signed_receipt(
        accepted_fields(), keyring, submission_id="sub_1", now=NOW, known_facts={"source_sha256": "0" * 64}
    )
    assert fields["signed_receipt"] == ""
    assert "the judge states source_sha256" in caplog.text


@pytest.mark.parametrize(
    "change",
    [{"receipt": {"compiler": "\ud800"}}, {"receipt": {}, "benchmark_results": None}, {"receipt": None}],
)
def test_a_verdict_survives_a_receipt_that_cannot_be_signed(
    keyring: Keyring, change: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    """The author keeps ACCEPTED; the operator finds the reason in the log."""
    fields = add_signed_receipt(accepted_fields() | change, keyring, submission_id="sub_1", now=NOW)
    assert (fields["status"], fields["signed_receipt"]) == ("ACCEPTED", "")
    assert "the receipt of sub_1 cannot be signed" in caplog.text
