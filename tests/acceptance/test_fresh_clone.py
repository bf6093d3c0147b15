"""A fresh clone with `make demo`, and the benchmarks that the documentation quotes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
BENCHMARKS = {
    "verdict": r"warmfront run relative to by hand: \d+\.\d+",
    "compile": r"with the header relative to without it: \d+\.\d+",
    "kernels": r"matmul_tiled +[\d.]+ ms +[\d.]+ ms +[\d.]+",
    "sandbox": r"bubblewrap",
}


#: Variables of the environment and the make that run the tests.
INHERITED = {"VIRTUAL_ENV", "MAKEFLAGS", "MAKELEVEL"}


def _make(target: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    # The interpreter that the virtual environment of the tests was created from.
    python = Path(sys.base_prefix) / "bin" / "python3"
    clean = {name: value for name, value in os.environ.items() if name not in INHERITED}
    command = ["make", target, f"PYTHON={python}"]
    return subprocess.run(
        command, cwd=folder, env={**clean, **environment}, capture_output=True, text=True, check=False
    )


@pytest.mark.slow
def test_a_fresh_clone_judges_a_kernel_with_one_command(tmp_path: Path) -> None:
    """`make demo` sets up a clone and accepts the example; the second run sets up nothing."""
    clone = tmp_path / "warmfront"
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
    first = _make("demo", clone, WARMFRONT_CACHE_DIR=str(tmp_path / "cache"))
    assert first.returncode == 0, first.stderr
    assert "setup: creating the virtual environment" in first.stderr
    assert first.stdout.splitlines()[-1].startswith("ACCEPTED")
    second = _make("demo", clone, WARMFRONT_CACHE_DIR=str(tmp_path / "cache"))
    assert second.stdout.splitlines()[-1].startswith("ACCEPTED")
    assert "setup:" not in second.stderr
    assert "Building" not in second.stderr


@pytest.mark.slow
@pytest.mark.parametrize("name", BENCHMARKS)
def test_a_benchmark_prints_its_figure(name: str) -> None:
    """Each benchmark runs and prints its ratio."""
    command = [sys.executable, "-m", f"bench.{name}"]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert re.search(BENCHMARKS[name], result.stdout), result.stdout
