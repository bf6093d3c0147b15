"""The example in docs/writing-a-problem.md works exactly as printed."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from warmfront import problems

PAGE = Path(__file__).parents[3] / "docs" / "writing-a-problem.md"


def block(language: str) -> str:
    """Return the only code block of the page in a language."""
    (text,) = re.findall(rf"^```{language}\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    return str(text)


@pytest.fixture(name="folder")
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a directory in WARMFRONT_PROBLEMS with the two files of the page."""
    (tmp_path / "dot_product.py").write_text(block("python"))
    (tmp_path / "dot_product.hip").write_text(block("cpp"))
    monkeypatch.setenv("WARMFRONT_PROBLEMS", str(tmp_path))
    return tmp_path


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `warmfront` with these arguments in the directory."""
    return subprocess.run(
        [Path(sys.executable).with_name("warmfront"), *arguments],
        capture_output=True,
        text=True,
        cwd=folder,
        env=os.environ,
        check=False,
    )


def test_the_problem_on_the_page_is_found(folder: Path) -> None:
    """The registry finds the problem without further configuration."""
    assert problems.get("dot").title == "Dot product"
    assert "dot-product" in {problem.slug for problem in problems.all_problems()}


def test_the_kernel_on_the_page_is_accepted(folder: Path) -> None:
    """The command line accepts the kernel of the page for the problem of the page."""
    done = run(
        folder, "run", "dot_product.hip", "--problem", "dot-product", "--endpoint", "checker", "--json"
    )
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert events[-1]["status"] == "CHECKED", (events[-1:], done.stderr)
    assert events[-1]["total_tests"] == 8
    assert [case.get("hidden", False) for case in events[-1]["test_results"]] == [False] * 6 + [True] * 2
    assert done.returncode == 0


def test_a_kernel_that_skips_the_last_element_is_rejected(folder: Path) -> None:
    """The cases and the tolerance of the page reject a wrong kernel."""
    source = (folder / "dot_product.hip").read_text()
    (folder / "dot_product.hip").write_text(source.replace("i < n;", "i + 1 < n;"))
    done = run(folder, "run", "dot_product.hip", "--problem", "dot", "--endpoint", "checker", "--json")
    assert json.loads(done.stdout.splitlines()[-1])["status"] == "WRONG_ANSWER"
    assert done.returncode == 1


@pytest.mark.parametrize("command", ["show", "starter"])
def test_the_commands_on_the_page_work(folder: Path, command: str) -> None:
    """The commands `problems show` and `problems starter` work for the new problem."""
    done = run(folder, "problems", command, "dot-product")
    assert done.returncode == 0, done.stderr
    assert "Dot product" in done.stdout
