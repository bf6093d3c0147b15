"""What a dynamically linked program needs of the host's own system, and nothing more.

No home, no accounts, no configuration but that of the linker and of Debian's alternatives.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

DIRECTORIES = ("usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32", "etc/alternatives", "etc/ld.so.cache")


@dataclass(frozen=True, kw_only=True)
class HostSystem:
    """Parts of the host's root directory, by the path that they have there."""

    binds: tuple[str, ...]
    links: dict[str, str]  #: where /bin is usr/bin, as on most systems today


def find_host_system(root: Path = Path("/")) -> HostSystem:
    """What there is on this host."""
    paths = [root / name for name in DIRECTORIES]
    return HostSystem(
        binds=tuple(str(path) for path in paths if path.exists() and not path.is_symlink()),
        links={str(path): str(path.readlink()) for path in paths if path.is_symlink()},
    )
