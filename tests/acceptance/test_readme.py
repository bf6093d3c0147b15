"""The README's own commands, as a newcomer types them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
LINES = [
    line.split("#", 1)[0].strip()
    for block in re.findall(r"```sh\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    for line in block.splitlines()
]
#: `make test` is what runs this; the environment is the test's own.
ELSEWHERE = {"make test", ". .venv/bin/activate"}
#: The starter is wrong on purpose, and the README says so.
WRONG = "warmfront run softmax.hip --problem softmax --endpoint checker"


def _shell(line: str, folder: Path) -> subprocess.CompletedProcess[str]:
    # Not a make within the make that runs the tests.
    inherited = {name: value for name, value in os.environ.items() if name not in {"MAKEFLAGS", "MAKELEVEL"}}
    inherited["PATH"] = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return subprocess.run(
        ["/bin/sh", "-c", line],
        cwd=folder,
        env=inherited,
        capture_output=True,
        text=True,
        check=False,
    )


def test_every_command_does_what_the_readme_says(tmp_path: Path) -> None:
    """In their order, in an empty directory with the examples: all succeed, but for the starter."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    commands = [line for line in LINES if line and line not in ELSEWHERE and not line.startswith("make")]
    assert WRONG in commands
    assert len(commands) >= 8
    for line in commands:
        result = _shell(line, tmp_path)
        expected = 1 if line == WRONG else 0
        assert result.returncode == expected, (line, result.stdout, result.stderr)
        if line == WRONG:
            assert "WRONG_ANSWER" in result.stdout


def test_make_demo_ends_with_an_accepted_kernel() -> None:
    """The first command of the README, in this checkout, prints the verdict last."""
    assert "make demo" in LINES
    result = _shell(f"make demo PYTHON={sys.executable}", ROOT)
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines()[-1].startswith("ACCEPTED")


@pytest.mark.parametrize("page", sorted((ROOT / "docs").glob("*.md")), ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    """Every relative link of a page leads to a file that exists."""
    targets = re.findall(r"\]\((?!http)([^)#]+)", page.read_text())
    missing = [target for target in targets if not (page.parent / target).exists()]
    assert not missing


def test_the_readme_links_lead_somewhere() -> None:
    """Every relative link of the README leads to a file that exists."""
    targets = re.findall(r"\]\((?!http)([^)#]+)", (ROOT / "README.md").read_text())
    assert targets
    assert not [target for target in targets if not (ROOT / target).exists()]
