"""Tests of the HIP headers, from vectors to cooperative groups, with real kernels."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from warmfront.hip import cpu
from warmfront.hip.headers import copy_headers

if TYPE_CHECKING:
    from tests.support.programs import Programs

pytestmark = pytest.mark.compiler

FOLDER = Path(__file__).parents[3] / "corpus" / "programs"
CASES = [
    (path.stem, case)
    for path in sorted(FOLDER.glob("headers_*.hip"))
    for case in re.findall(r"^CASE\((\w+)\)", path.read_text(), re.MULTILINE)
]
PORTED = [path.stem for path in sorted(FOLDER.glob("ported_*.hip"))]


@pytest.mark.parametrize(("program", "case"), CASES)
def test_header_case(program: str, case: str, programs: Programs) -> None:
    """Every check of the case holds, in kernels and on the host."""
    result = programs.run(program, case)
    assert (result.returncode, result.stdout) == (0, ""), result.stderr


@pytest.mark.parametrize("program", PORTED)
def test_a_ported_program_runs_unmodified(program: str, programs: Programs) -> None:
    """A typical program that was ported from CUDA to HIP runs and verifies its own results."""
    result = programs.run(program)
    assert result.returncode == 0, result.stdout + result.stderr
    assert "PASSED" in result.stdout


def test_the_main_header_includes_tuple(tmp_path: Path) -> None:
    """ROCm's header includes <tuple>, so kernels that use it without an #include compile."""
    copy_headers(cpu.INCLUDE, tmp_path)
    compiled = subprocess.run(
        ["g++", "-x", "c++", "-std=c++20", "-fsyntax-only", "-I", tmp_path, "-"],
        input="#include <hip/hip_runtime.h>\nconst auto pair = std::make_tuple(1, 2.0f);\n",
        capture_output=True,
        text=True,
        check=False,
    )
    assert compiled.returncode == 0, compiled.stderr
