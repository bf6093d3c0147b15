"""Where the paths of a task are on this machine: below the folder of its VM, without a chroot.

A task may declare absolute paths: its files, its working directory, its volumes. Each is a path below the
VM's folder, and where the task's commands and environment name it, the folder is put before it. Paths that it
does not declare are this machine's own: its programs are the container's image.
"""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class PathMap:
    """Of one task."""

    def __init__(
        self, *, root: Path, host: Path, spec: Mapping[str, Any], mounts: Sequence[Mapping[str, Any]]
    ) -> None:
        """`root` is the container's file system, `host` the VM's, which outlives it."""
        self._root = root
        self.home = root / "root"
        self._declared = {mount["path"]: _volume(host, mount["instance_path"]) for mount in mounts}
        working_dir = spec.get("working_dir") or "~"
        files = [archive["path"] for archive in spec.get("file_archives") or []]
        for path in [working_dir, *files]:
            if path.startswith("/") and path != "/":
                self._declared.setdefault(path, self._below(path))
        self.working_dir = self.real(working_dir)

    def real(self, path: str) -> Path:
        """Where a path of the task is."""
        if path == "~" or path.startswith("~/"):
            return self.home / path[2:]
        if not path.startswith("/"):
            return self.working_dir / path
        return self._below(path)

    def rewrite(self, text: str) -> str:
        """The text with each declared path where it is."""
        if not self._declared:
            return text
        longest_first = sorted(self._declared, key=len, reverse=True)
        # A whole path, not the end of a longer one or the beginning of a longer name.
        pattern = rf"(?<![\w./-])({'|'.join(map(re.escape, longest_first))})(?![\w-]|\.\w)"
        return re.sub(pattern, lambda match: str(self._declared[match[1]]), text)

    def make(self) -> None:
        """Make the folders that a container would have."""
        self.home.mkdir(parents=True, exist_ok=True)
        self.working_dir.mkdir(parents=True, exist_ok=True)

    def _below(self, path: str) -> Path:
        pure = PurePosixPath(path)
        for parent in [pure, *pure.parents]:
            if str(parent) in self._declared:
                return self._declared[str(parent)] / pure.relative_to(parent)
        return self._root / pure.relative_to("/")


def _volume(host: Path, path: str) -> Path:
    """A directory of the VM; a socket, such as Docker's, is this machine's."""
    if Path(path).is_socket():
        return Path(path)
    folder = host / path.lstrip("/")
    folder.mkdir(parents=True, exist_ok=True)
    return folder
