"""Check whether the data directory can be written, to notice a full disk before a submission arrives."""

from __future__ import annotations

import os
import shutil
import tempfile
from typing import TYPE_CHECKING

from warmfront.errors import InfrastructureError

if TYPE_CHECKING:
    from pathlib import Path

MIB = 1024**2


def check_storage(data_dir: Path, min_free_bytes: int) -> None:
    """Write a file to the data directory and compare its free space with the minimum.

    Raises:
        InfrastructureError: the directory cannot be written, or less than `min_free_bytes` are free.
    """
    try:
        with tempfile.NamedTemporaryFile(dir=data_dir, prefix=".ready-") as file:
            file.write(b"ready")
            file.flush()
            os.fsync(file.fileno())
        free_bytes = shutil.disk_usage(data_dir).free
    except OSError as error:
        raise InfrastructureError(
            f"The data directory cannot be written: {error.strerror or type(error).__name__}.",
            hint="Check the disk and the owner of WARMFRONT_DATA_DIR.",
        ) from error
    if free_bytes < min_free_bytes:
        raise InfrastructureError(
            f"The disk of the data directory is almost full: {free_bytes // MIB:,} MiB are free, "
            f"{min_free_bytes // MIB:,} MiB are required (WARMFRONT_MIN_FREE_DISK).",
            hint="Free some space on its disk.",
        )
