"""Where boxes live on the host: one directory for each sandbox, one folder in it for each box.

A lock held for the sandbox's life tells a living owner from a dead one, so that what a killed process
left behind is found and removed by the next. Nothing here knows what runs in a box.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from pathlib import Path

#: Who the program is on the host when we are root: nobody.
NOBODY = 65534

PREFIX = "warmfront-"
LOCK = "lock"

SHARED_MEMORY = Path("/dev/shm")  # noqa: S108  it is the tmpfs that we want; names in it are random
#: Below this, a tmpfs is the small one of a container, and one job could fill it.
ENOUGH_BYTES = 1 << 30


class BoxFolders:
    """The folders of one sandbox. `owner` names this sandbox wherever it leaves a trace."""

    def __init__(self, kind: str, base: Path | None = None) -> None:
        self.base = base or default_base()
        self._kind = f"{PREFIX}{kind}-"
        self.owner = f"{self._kind}{os.urandom(8).hex()}"
        self._root = self.base / self.owner
        self._lock = self._take_possession()

    def make(self) -> Path:
        """An empty folder for a new box."""
        folder = self._root / os.urandom(4).hex()
        folder.mkdir()
        # Others are kept out one level up; the program inside may have any uid.
        folder.chmod(0o755)
        return folder

    def close(self) -> None:
        """Remove every folder that is left, and let go of the lock."""
        shutil.rmtree(self._root, ignore_errors=True)
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1

    def dead_owners(self) -> list[str]:
        """Sandboxes of this kind under the same base whose process is gone."""
        found = (path.parent.name for path in self.base.glob(f"{self._kind}*/{LOCK}"))
        return [owner for owner in found if owner != self.owner and self.is_dead(owner)]

    def is_dead(self, owner: str) -> bool:
        """Whether nobody holds that owner's lock."""
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

    def bury(self, owner: str) -> None:
        """Remove the folders of a dead owner."""
        shutil.rmtree(self.base / owner, ignore_errors=True)

    def _take_possession(self) -> int:
        # The lock is held before the directory gets its name, so nobody ever sees it without one.
        unnamed = Path(tempfile.mkdtemp(prefix=".warmfront-", dir=self.base))
        lock = os.open(unnamed / LOCK, os.O_CREAT | os.O_RDWR, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)
        if os.geteuid() == 0:
            os.chown(unnamed, 0, NOBODY)
            unnamed.chmod(0o710)
        unnamed.rename(self._root)
        return lock


def default_base() -> Path:
    """Shared memory where there is enough of it, for no disk is as fast, else the temp directory."""
    with contextlib.suppress(OSError):
        space = os.statvfs(SHARED_MEMORY)
        writable = os.access(SHARED_MEMORY, os.W_OK | os.X_OK)
        if writable and is_tmpfs(SHARED_MEMORY) and space.f_bavail * space.f_frsize >= ENOUGH_BYTES:
            return SHARED_MEMORY
    return Path(tempfile.gettempdir())


def is_tmpfs(path: Path) -> bool:
    """Whether a tmpfs is mounted right there."""
    mounts = Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines()
    return any(fields[1:3] == [str(path), "tmpfs"] for fields in map(str.split, mounts))


def is_open_to_all(path: Path) -> bool:
    """Whether every user of the host can reach and read this path."""
    path = path.resolve()
    if any(not parent.stat().st_mode & 0o001 for parent in path.parents):
        return False
    needed = 0o005 if path.is_dir() else 0o004
    return path.stat().st_mode & needed == needed
