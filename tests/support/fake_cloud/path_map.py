"""The mapping of a task's paths to paths of this machine, below the folder of its VM, without a chroot.

A task may declare absolute paths: files, working directory and volumes. Each is mapped below the VM's folder,
and rewritten in the task's commands and environment. Undeclared paths are this machine's own, as if its file
system were the container's image.
"""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class PathMap:
    """The path mapping of one task."""

    def __init__(
        self, *, root: Path, host: Path, spec: Mapping[str, Any], mounts: Sequence[Mapping[str, Any]]
    ) -> None:
        """Create the mapping; `root` is the container's file system, `host` the VM's, which outlives it."""
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
        """Return the real path for a path of the task."""
        if path == "~" or path.startswith("~/"):
            return self.home / path[2:]
        if not path.startswith("/"):
            return self.working_dir / path
        return self._below(path)

    def rewrite(self, text: str) -> str:
        """Replace each declared path in the text by its real path."""
        if not self._declared:
            return text
        longest_first = sorted(self._declared, key=len, reverse=True)
        # Match whole paths only, not parts of longer paths or names.
        pattern = rf"(?<![\w./-])({'|'.join(map(re.escape, longest_first))})(?![\w-]|\.\w)"
        return re.sub(pattern, lambda match: str(self._declared[match[1]]), text)

    def create_folders(self) -> None:
        """Create the folders that a container would have."""
        self.home.mkdir(parents=True, exist_ok=True)
        self.working_dir.mkdir(parents=True, exist_ok=True)

    def _below(self, path: str) -> Path:
        pure = PurePosixPath(path)
        for parent in [pure, *pure.parents]:
            if str(parent) in self._declared:
                return self._declared[str(parent)] / pure.relative_to(parent)
        return self._root / pure.relative_to("/")


def _volume(host: Path, path: str) -> Path:
    """Return a directory of the VM; a socket, such as Docker's, is this machine's."""
    if Path(path).is_socket():
        return Path(path)
    folder = host / path.lstrip("/")
    folder.mkdir(parents=True, exist_ok=True)
    return folder
