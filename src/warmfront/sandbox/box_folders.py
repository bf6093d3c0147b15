"""The folders of boxes on the host: one directory per sandbox, with one folder per box.

Each sandbox holds a file lock for its lifetime. A directory whose lock is free was left behind by a killed
process, and the next sandbox removes it.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from pathlib import Path

#: The uid and gid of user `nobody`, as which programs run on the host if we are root.
UNPRIVILEGED_ID = 65534

PREFIX = "warmfront-"
LOCK = "lock"

SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - names in it are random
#: Minimum free space: the small tmpfs of a container could be filled by one job.
MIN_FREE_BYTES = 1 << 30


class BoxFolders:
    """The folders of one sandbox. `owner` identifies this sandbox in folders, cgroups and containers."""

    def __init__(self, kind: str, base: Path | None = None) -> None:
        self.base = base or default_base()
        self._kind = f"{PREFIX}{kind}-"
        self.owner = f"{self._kind}{os.urandom(8).hex()}"
        self._root = self.base / self.owner
        self._lock = self._create_locked_root()

    def make(self) -> Path:
        """Create an empty folder for a new box."""
        folder = self._root / os.urandom(4).hex()
        folder.mkdir()
        # The parent directory keeps other users out; the program inside may have any uid.
        folder.chmod(0o755)
        return folder

    def close(self) -> None:
        """Remove all folders and release the lock."""
        shutil.rmtree(self._root, ignore_errors=True)
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def dead_owners(self) -> list[str]:
        """Return the owners of this kind, under the same base, whose process has ended."""
        owners = (path.parent.name for path in self.base.glob(f"{self._kind}*/{LOCK}"))
        return [owner for owner in owners if owner != self.owner and self.is_dead(owner)]

    def is_dead(self, owner: str) -> bool:
        """Return whether that owner's lock is free."""
        try:
            lock = os.open(self.base / owner / LOCK, os.O_RDONLY)
        except FileNotFoundError:
            return True
        except PermissionError:
            return False
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        finally:
            os.close(lock)
        return True

    def remove_owner(self, owner: str) -> None:
        """Remove the folders of an owner whose process has ended."""
        shutil.rmtree(self.base / owner, ignore_errors=True)

    def _create_locked_root(self) -> int:
        # Take the lock before the directory gets its final name, so that it is never visible without a lock.
        unnamed = Path(tempfile.mkdtemp(prefix=".warmfront-", dir=self.base))
        lock = os.open(unnamed / LOCK, os.O_CREAT | os.O_RDWR, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
        if os.geteuid() == 0:
            os.chown(unnamed, 0, UNPRIVILEGED_ID)
            unnamed.chmod(0o710)
        unnamed.rename(self._root)
        return lock


def default_base() -> Path:
    """Return shared memory if it is large enough, because it is fastest, else the temporary directory."""
    with contextlib.suppress(OSError):
        space = os.statvfs(SHARED_MEMORY)
        writable = os.access(SHARED_MEMORY, os.W_OK | os.X_OK)
        if writable and is_tmpfs(SHARED_MEMORY) and space.f_bavail * space.f_frsize >= MIN_FREE_BYTES:
            return SHARED_MEMORY
    return Path(tempfile.gettempdir())


def is_tmpfs(path: Path) -> bool:
    """Return whether a tmpfs is mounted at this path."""
    mounts = Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines()
    return any(fields[1:3] == [str(path), "tmpfs"] for fields in map(str.split, mounts))


def is_world_readable(path: Path) -> bool:
    """Return whether every user of the host can reach and read this path."""
    path = path.resolve()
    if any(not parent.stat().st_mode & 0o001 for parent in path.parents):
        return False
    needed = 0o005 if path.is_dir() else 0o004
    return path.stat().st_mode & needed == needed
