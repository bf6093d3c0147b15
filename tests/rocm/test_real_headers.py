"""The judge's programs and the examples against the real HIP headers, which are unpacked in the cache."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.support import real_hip
from tests.support.real_hip import ROOT, VERSIONS
from warmfront.hip.toolchain import GUEST_SOURCE

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.rocm_headers, pytest.mark.compiler]


@pytest.mark.parametrize("version", VERSIONS)
def test_the_guest_compiles_with_real_headers(version: str) -> None:
    """The host code of the guest uses only what HIP declares."""
    done = _parse(GUEST_SOURCE, version)
    assert done.returncode == 0, done.stderr


def _parse(source: Path, version: str) -> subprocess.CompletedProcess[str]:
    command = ["g++", "-std=c++20", "-x", "c++", "-fsyntax-only", "-w", "-D__HIP_PLATFORM_AMD__=1"]
    include = ["-isystem", str(real_hip.headers(version)), "-I", str(ROOT)]
    return subprocess.run([*command, *include, str(source)], capture_output=True, text=True, check=False)
