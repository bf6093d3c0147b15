"""The judge's programs and the examples against the real HIP headers, which are unpacked in the cache.

The compiler is the g++ of this machine, which does not know HIP: launches are rewritten as for the CPU
runtime, and `tests/support/device_names.h` declares what only device code has. `make test-rocm` uses the real
compilers.
"""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.support import real_hip
from tests.support.real_hip import ROOT, VERSIONS
from warmfront.hip.source.rewrite import rewrite
from warmfront.hip.toolchain import GUEST_SOURCE, HARNESS_SOURCE

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.rocm_headers, pytest.mark.compiler]

#: A host compiler has no matrix instructions; test_real_compilers.py compiles these.
_ON_MATRIX_CORES = {"attention", "conv_2d_matrix", "fp8_matmul", "matmul_mfma"}
_EXAMPLES = [path for path in sorted((ROOT / "examples").glob("*.hip")) if path.stem not in _ON_MATRIX_CORES]
_EXAMPLE_COUNT = 14


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("program", [GUEST_SOURCE, HARNESS_SOURCE], ids=lambda path: path.stem)
def test_the_programs_of_the_judge_parse_with_real_headers(version: str, program: Path) -> None:
    """Guest and harness use only names that HIP declares."""
    done = _parse(program, version)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("version", VERSIONS)
def test_the_examples_parse_with_real_headers(version: str, tmp_path: Path) -> None:
    """All examples, in one file and each in its own namespace, use only names that HIP declares."""
    assert len(_EXAMPLES) == _EXAMPLE_COUNT
    parts = [_in_namespace(number, path) for number, path in enumerate(_EXAMPLES)]
    joined = tmp_path / "examples.cpp"
    joined.write_text("#include <hip/hip_fp16.h>\n" + "".join(parts))
    done = _parse(joined, version)
    assert done.returncode == 0, done.stderr


def _in_namespace(number: int, path: Path) -> str:
    """Return an example, rewritten, without its includes; each has its own `solution`."""
    lines = rewrite(path.read_text()).text.split("\n")
    body = "\n".join("" if line.startswith("#include") else line for line in lines)
    body = body.replace('extern "C" ', "")
    return f'namespace example_{number} {{\n#line 1 "{path.name}"\n{body}\n}}\n'


def _parse(source: Path, version: str) -> subprocess.CompletedProcess[str]:
    command = ["g++", "-std=c++20", "-x", "c++", "-fsyntax-only", "-w", "-D__HIP_PLATFORM_AMD__=1"]
    include = ["-isystem", str(real_hip.headers(version)), "-I", str(ROOT), "-I", str(GUEST_SOURCE.parent)]
    names = ["-include", str(ROOT / "tests/support/device_names.h")]
    command += [*include, *names, str(source)]
    return subprocess.run(command, capture_output=True, text=True, check=False)
