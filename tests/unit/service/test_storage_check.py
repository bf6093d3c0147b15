"""The check of the data directory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from warmfront.errors import InfrastructureError
from warmfront.service.storage_check import check_storage

if TYPE_CHECKING:
    from pathlib import Path


def test_a_directory_with_space_passes(tmp_path: Path) -> None:
    """Nothing is left in it."""
    check_storage(tmp_path, 1)
    assert list(tmp_path.iterdir()) == []


def test_too_little_space_is_an_error(tmp_path: Path) -> None:
    """The error states the free and the required space."""
    with pytest.raises(InfrastructureError, match=r"almost full: [\d,]+ MiB are free, 1,099,511,627,776 MiB"):
        check_storage(tmp_path, 2**60)


def test_a_directory_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    """The error has the system's reason and no path."""
    with pytest.raises(InfrastructureError, match=r"cannot be written: No such file or directory\.$"):
        check_storage(tmp_path / "missing", 1)
