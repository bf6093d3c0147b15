"""The folders of boxes, and the directory that they are in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from warmfront.errors import NoSandbox
from warmfront.sandbox.box import BoxFolders

if TYPE_CHECKING:
    from pathlib import Path


def test_the_base_directory_is_created(tmp_path: Path) -> None:
    """A new VM lacks it."""
    base = tmp_path / "warmfront" / "boxes"
    folders = BoxFolders("docker", base)
    assert folders.make().is_dir()
    folders.close()
    assert list(base.iterdir()) == []


def test_a_base_directory_that_cannot_be_created(tmp_path: Path) -> None:
    """The error names the directory, the reason and the setting."""
    (tmp_path / "file").touch()
    with pytest.raises(
        NoSandbox, match=r"The directory for boxes, .*/file/boxes, cannot be created"
    ) as error:
        BoxFolders("docker", tmp_path / "file" / "boxes")
    assert "WARMFRONT_BOX_DIR" in str(error.value.hint)
