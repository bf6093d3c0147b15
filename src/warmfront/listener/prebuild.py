"""`python -m warmfront.listener.prebuild`: build the guest and the harness into a VM's image.

The results are entries of the toolchain's cache, which a VM copies to its own cache when it starts.
"""

from __future__ import annotations

import sys
from pathlib import Path

from warmfront import gpus
from warmfront.errors import UsageError, WarmfrontError
from warmfront.hip.rocm import RocmToolchain


def prebuild(cache_dir: Path, archs: list[str]) -> None:
    """Build the guest and the harness for each architecture.

    Raises:
        UsageError: An architecture is not in the catalog.
        WarmfrontError: The compiler is missing or fails.
    """
    for arch in archs:
        gpu = gpus.by_arch(arch)
        if gpu is None:
            known = ", ".join(sorted({gpu.arch for gpu in gpus.CATALOG}))
            raise UsageError(f"Unknown architecture {arch!r}; known: {known}.")
        toolchain = RocmToolchain(cache_dir, gpu)
        toolchain.build()
        print(f"prebuild: {arch}: {toolchain.compiler}", file=sys.stderr)


def main() -> int:
    """Build for the architectures in the arguments, and return the exit code."""
    try:
        cache_dir, *archs = sys.argv[1:]
        prebuild(Path(cache_dir), archs)
    except WarmfrontError as error:
        print(f"{error.code}: {error.message} {error.hint or ''}".rstrip(), file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
