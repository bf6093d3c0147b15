"""Find ROCm and its GPU on this machine, without loading the toolchain that uses them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

#: The device file of the driver, which all GPUs share.
KFD = Path("/dev/kfd")
#: ROCm's compilers, the preferred one first: newer releases replace hipcc with amdclang++.
COMPILERS = ("hipcc", "amdclang++")


def find_hipcc() -> str | None:
    """Return the path of ROCm's compiler, from PATH, hipconfig or /opt/rocm; None if there is none."""
    if on_path := _find_compiler(None):
        return on_path
    folders = (f"{root}/{name}" for root in _rocm_roots() for name in ("bin", "lib/llvm/bin"))
    return next((path for folder in folders if (path := _find_compiler(folder))), None)


def _find_compiler(folder: str | None) -> str | None:
    """Return the path of the preferred compiler in a folder; for None, on PATH."""
    return next((path for name in COMPILERS if (path := shutil.which(name, path=folder))), None)


def _rocm_roots() -> Iterator[str]:
    """Yield the folders in which ROCm may be installed. hipconfig is used only if it is on PATH."""
    if hipconfig := shutil.which("hipconfig"):
        command = [hipconfig, "--rocmpath"]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
        if done.returncode == 0 and done.stdout.strip():
            yield done.stdout.strip()
    yield "/opt/rocm"


def has_gpu() -> bool:
    """Return whether this machine has an AMD GPU that its processes can use."""
    return KFD.exists()
