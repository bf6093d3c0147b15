"""The signing keys: created once, private, and rotated without invalidating earlier signatures."""

from __future__ import annotations

import json
import stat
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from warmfront.errors import BadSetting, InfrastructureError, UsageError
from warmfront.receipts.key_files import read_key_file
from warmfront.receipts.keyring import FILE_NAME, local_public_keys, open_keyring

if TYPE_CHECKING:
    from pathlib import Path


def test_the_key_is_created_once_and_private(tmp_path: Path) -> None:
    """A second opening uses the same key; only the owner may read the file."""
    first, second = open_keyring(tmp_path / "data"), open_keyring(tmp_path / "data")
    assert first.public_keys() == second.public_keys()
    assert stat.S_IMODE((tmp_path / "data" / FILE_NAME).stat().st_mode) == 0o600
    assert [path.name for path in (tmp_path / "data").iterdir()] == [FILE_NAME]


def test_concurrent_processes_agree_on_one_key(tmp_path: Path) -> None:
    """If several processes create the key at the same time, all use the same one."""
    with ThreadPoolExecutor(8) as pool:
        keys = list(pool.map(lambda _: open_keyring(tmp_path).public_keys()[0].id, range(16)))
    assert len(set(keys)) == 1


def test_a_rotated_key_is_retired_and_forgotten(tmp_path: Path) -> None:
    """The old key stays listed, without its private half; a running service signs with the new one."""
    running = open_keyring(tmp_path)
    old_id, signature = running.sign(b"before")
    new = open_keyring(tmp_path).rotate()
    old, current = running.public_keys()
    assert (old.id, current.id) == (old_id, new.id)
    assert old.retired_at is not None
    assert current.retired_at is None
    assert running.sign(b"after")[0] == new.id
    assert old.has_signed(b"before", signature)
    assert ["private_key" in entry for entry in json.loads((tmp_path / FILE_NAME).read_text())["keys"]] == [
        False,
        True,
    ]


def test_concurrent_rotations_lose_no_key(tmp_path: Path) -> None:
    """Each rotation adds a key."""
    open_keyring(tmp_path)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda _: open_keyring(tmp_path).rotate(), range(8)))
    assert len({key.id for key in open_keyring(tmp_path).public_keys()}) == 9


def test_a_file_that_others_can_read_is_refused(tmp_path: Path) -> None:
    """The error names the file and the command that fixes it."""
    open_keyring(tmp_path)
    (tmp_path / FILE_NAME).chmod(0o640)
    with pytest.raises(BadSetting, match="Other users can read the signing keys") as raised:
        open_keyring(tmp_path)
    assert "chmod 600" in str(raised.value.hint)


def test_a_damaged_file_is_not_replaced(tmp_path: Path) -> None:
    """A key that may still be restored is never overwritten."""
    path = tmp_path / FILE_NAME
    path.write_text("{}")
    path.chmod(0o600)
    with pytest.raises(BadSetting, match="damaged"):
        open_keyring(tmp_path)
    assert path.read_text() == "{}"


def test_a_directory_that_cannot_be_created(tmp_path: Path) -> None:
    """The error names the setting."""
    (tmp_path / "file").write_text("")
    with pytest.raises(InfrastructureError, match="cannot be read or written"):
        open_keyring(tmp_path / "file" / "data")


def test_reading_public_keys_creates_nothing(tmp_path: Path) -> None:
    """Verification leaves no key behind on a machine that never signed."""
    assert local_public_keys(tmp_path / "data") == ()
    assert not (tmp_path / "data").exists()


def test_no_text_of_a_keyring_reveals_its_private_key(tmp_path: Path) -> None:
    """Logging it by mistake reveals nothing."""
    keyring = open_keyring(tmp_path)
    private = json.loads((tmp_path / FILE_NAME).read_text())["keys"][0]["private_key"]
    assert private not in f"{keyring!r}{keyring}{keyring.public_keys()}"


def test_a_key_file_in_pem(tmp_path: Path) -> None:
    """A PEM file has the same key, and so the same id."""
    key = open_keyring(tmp_path).public_keys()[0]
    (tmp_path / "key.pem").write_text(key.pem)
    assert [saved.id for saved in read_key_file(tmp_path / "key.pem")] == [key.id]


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"items":[]}', '{"items":[{}]}', "-----BEGIN X-----"])
def test_a_file_without_a_key_is_refused(tmp_path: Path, content: str) -> None:
    """The error names the file."""
    path = tmp_path / "keys"
    path.write_text(content)
    with pytest.raises(UsageError, match="contains no Ed25519 public key"):
        read_key_file(path)
