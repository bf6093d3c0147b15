"""The service's secret: created once, private, and the key from which tokens are derived."""

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


def test_tokens_survive_a_restart(tmp_path: Path) -> None:
    """A restarted service derives the same token for a VM, and different tokens for different VMs."""
    before = open_secret(tmp_path / "data")
    after = open_secret(tmp_path / "data")
    assert before.token_of("vm-1") == after.token_of("vm-1")
    assert before.token_of("vm-1") != before.token_of("vm-2")


def test_each_data_directory_has_its_own_secret(tmp_path: Path) -> None:
    """Two data directories derive different tokens for the same id."""
    assert open_secret(tmp_path / "a").token_of("vm") != open_secret(tmp_path / "b").token_of("vm")


def test_the_file_is_private(tmp_path: Path) -> None:
    """Only the owner may read the file, and creating it leaves no other file behind."""
    open_secret(tmp_path)
    assert stat.S_IMODE((tmp_path / FILE_NAME).stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == [FILE_NAME]


def test_concurrent_processes_agree_on_one_secret(tmp_path: Path) -> None:
    """If several processes create the secret at the same time, all use the same one."""
    with ThreadPoolExecutor(8) as pool:
        tokens = list(pool.map(lambda _: open_secret(tmp_path).token_of("vm"), range(32)))
    assert len(set(tokens)) == 1
    assert [path.name for path in tmp_path.iterdir()] == [FILE_NAME]


def test_the_repr_does_not_reveal_the_key(tmp_path: Path) -> None:
    """Logging the secret by mistake does not reveal the key."""
    secret = open_secret(tmp_path)
    key = (tmp_path / FILE_NAME).read_bytes()
    assert key.hex() not in repr(secret)
    assert repr(key) not in f"{secret!r}{secret}"


def test_a_secret_that_others_can_read_is_rejected(tmp_path: Path) -> None:
    """The error has the file's mode, and the hint the command that corrects it."""
    open_secret(tmp_path)
    (tmp_path / FILE_NAME).chmod(0o644)
    with pytest.raises(BadSetting, match="0644") as caught:
        open_secret(tmp_path)
    assert caught.value.hint == f"Run: chmod 600 {tmp_path / FILE_NAME}"


def test_a_truncated_secret_is_rejected(tmp_path: Path) -> None:
    """A file with the wrong length is not used as a key."""
    (tmp_path / FILE_NAME).write_bytes(b"short")
    (tmp_path / FILE_NAME).chmod(0o600)
    with pytest.raises(BadSetting, match="5 bytes"):
        open_secret(tmp_path)


def test_an_unwritable_data_directory_is_reported(tmp_path: Path) -> None:
    """The hint names the variable that sets the data directory."""
    (tmp_path / "file").write_text("")
    with pytest.raises(InfrastructureError) as caught:
        open_secret(tmp_path / "file" / "data")
    assert "WARMFRONT_DATA_DIR" in (caught.value.hint or "")
