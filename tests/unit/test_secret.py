"""The service's secret: made once, private, and the root of every VM's token."""

from __future__ import annotations

import hashlib
import hmac
import stat
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from warmfront.errors import BadSetting, InfrastructureError
from warmfront.secret import FILE_NAME, Secret, open_secret

if TYPE_CHECKING:
    from pathlib import Path


def test_a_token_is_the_hmac_of_the_id() -> None:
    """A VM's token is HMAC-SHA256 of its id under the secret, in hex."""
    key = b"k" * 32
    assert Secret(key).token_of("vm-1") == hmac.new(key, b"vm-1", hashlib.sha256).hexdigest()


def test_the_secret_outlives_the_service(tmp_path: Path) -> None:
    """A service that starts again gives each VM the token that it had, and each VM one of its own."""
    before = open_secret(tmp_path / "data")
    after = open_secret(tmp_path / "data")
    assert before.token_of("vm-1") == after.token_of("vm-1")
    assert before.token_of("vm-1") != before.token_of("vm-2")


def test_two_data_directories_share_nothing(tmp_path: Path) -> None:
    """Every data directory has a secret of its own."""
    assert open_secret(tmp_path / "a").token_of("vm") != open_secret(tmp_path / "b").token_of("vm")


def test_the_file_is_private_and_alone(tmp_path: Path) -> None:
    """Only its owner may read the file, and making it leaves nothing else behind."""
    open_secret(tmp_path)
    assert stat.S_IMODE((tmp_path / FILE_NAME).stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == [FILE_NAME]


def test_whoever_starts_at_once_gets_the_same(tmp_path: Path) -> None:
    """Many that start in the same moment agree on one secret."""
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: open_secret(tmp_path).token_of("vm"), range(32)))
    assert len(set(found)) == 1
    assert [path.name for path in tmp_path.iterdir()] == [FILE_NAME]


def test_it_does_not_show_itself(tmp_path: Path) -> None:
    """A log line that has it in it by mistake does not have the key."""
    secret = open_secret(tmp_path)
    key = (tmp_path / FILE_NAME).read_bytes()
    assert key.hex() not in repr(secret)
    assert repr(key) not in f"{secret!r}{secret}"


def test_a_secret_that_others_can_read_is_refused(tmp_path: Path) -> None:
    """A file that lost its permissions is named, with the line that mends it."""
    open_secret(tmp_path)
    (tmp_path / FILE_NAME).chmod(0o644)
    with pytest.raises(BadSetting, match="0644") as caught:
        open_secret(tmp_path)
    assert caught.value.hint == f"chmod 600 {tmp_path / FILE_NAME}"


def test_a_damaged_secret_is_refused(tmp_path: Path) -> None:
    """A file that was cut short is no secret."""
    (tmp_path / FILE_NAME).write_bytes(b"short")
    (tmp_path / FILE_NAME).chmod(0o600)
    with pytest.raises(BadSetting, match="5 bytes"):
        open_secret(tmp_path)


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    """Where the data directory cannot be made, the error says which variable to set."""
    (tmp_path / "file").write_text("")
    with pytest.raises(InfrastructureError) as caught:
        open_secret(tmp_path / "file" / "data")
    assert "WARMFRONT_DATA_DIR" in (caught.value.hint or "")
