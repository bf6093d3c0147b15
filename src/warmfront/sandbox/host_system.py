"""The parts of the host's root directory that a dynamically linked program needs.

No home directories, no accounts, and no configuration except for the linker and Debian's alternatives.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

DIRECTORIES = ("usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32", "etc/alternatives", "etc/ld.so.cache")


@dataclass(frozen=True, kw_only=True)
class HostSystem:
    """The directories and symbolic links of the host that a box sees."""

    binds: tuple[str, ...]
    links: dict[str, str]  #: path → target, such as /bin → usr/bin


def find_host_system(root: Path = Path("/")) -> HostSystem:
    """Return the parts that exist on this host."""
    paths = [root / name for name in DIRECTORIES]
    return HostSystem(
        binds=tuple(str(path) for path in paths if path.exists() and not path.is_symlink()),
        links={str(path): str(path.readlink()) for path in paths if path.is_symlink()},
    )
