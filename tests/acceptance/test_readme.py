"""The commands of the README and the quickstart, as a newcomer types them."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.services import serving

ROOT = Path(__file__).parent.parent.parent
LINES = [
    line.split(" #", 1)[0].strip()
    for page in ("README.md", "docs/quickstart.md")
    for block in re.findall(r"```sh\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
    for line in block.splitlines()
]
#: `make test` runs this test, and the test has its own environment and service.
NOT_RUN = {"make serve", "make demo", "make test", ". .venv/bin/activate"}
#: The starter code is wrong on purpose, and the quickstart says so.
WRONG = "warmfront run softmax.hip --problem softmax --endpoint checker"


def _shell(line: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    # Otherwise make would assume that it was started by the make that runs the tests.
    inherited = {name: value for name, value in os.environ.items() if name not in {"MAKEFLAGS", "MAKELEVEL"}}
    inherited["PATH"] = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return subprocess.run(
        ["/bin/bash", "-c", line],
        cwd=folder,
        env={**inherited, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_every_documented_command_works(tmp_path: Path) -> None:
    """In an empty directory with the examples, all commands succeed in order, except for the starter code."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    (tmp_path / "data").mkdir()
    commands = [line for line in LINES if line and line not in NOT_RUN]
    assert WRONG in commands
    assert len(commands) >= 16
    output = {}
    with serving(tmp_path / "data") as service:
        for line in commands:
            here = line.replace("http://127.0.0.1:3000", service.url)
            # A variable that one line sets is available to the next, as in a terminal.
            here = f"[ -f vars ] && . ./vars; {here}; code=$?; declare -p ID > vars 2>/dev/null; exit $code"
            result = _shell(here, tmp_path, WARMFRONT_URL=service.url)
            assert result.returncode == (1 if line == WRONG else 0), (line, result.stdout, result.stderr)
            output[line] = result.stdout
    assert "WRONG_ANSWER" in output[WRONG]
    submitted = next(text for line, text in output.items() if "/api/amd/submit" in line and "-d @" in line)
    names = [line.removeprefix("event: ") for line in submitted.splitlines() if line.startswith("event: ")]
    assert names[:2] == ["IN_QUEUE", "XRAY"]
    assert "VM_READY" in names
    assert names[-1] == "ACCEPTED"


def test_make_serve_prints_its_address(tmp_path: Path) -> None:
    """It prints the address and a command for a new terminal, and stops at Ctrl-C."""
    inherited = {name: value for name, value in os.environ.items() if name not in {"MAKEFLAGS", "MAKELEVEL"}}
    own = {"WARMFRONT_PORT": "0", "WARMFRONT_DATA_DIR": str(tmp_path)}
    with subprocess.Popen(
        ["make", "serve", f"PYTHON={sys.executable}"],
        cwd=ROOT,
        env={**inherited, **own},
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as make:
        assert make.stdout is not None
        address = next(line for line in make.stdout if "listens on http://127.0.0.1:" in line)
        url = address.split()[-1]
        assert f"Open {url} in a browser" in make.stdout.readline()
        assert (
            f"WARMFRONT_URL={url} .venv/bin/warmfront submit examples/softmax.hip" in make.stdout.readline()
        )
        os.killpg(make.pid, signal.SIGINT)
        rest = make.stdout.read()
    assert "stopping" in rest


def test_make_demo_ends_with_an_accepted_kernel() -> None:
    """`make demo` prints the verdict last."""
    assert "make demo" in LINES
    result = _shell(f"make demo PYTHON={sys.executable}", ROOT)
    assert result.returncode == 0, result.stderr
    assert result.stdout.splitlines()[-1].startswith("ACCEPTED")


@pytest.mark.parametrize("page", sorted((ROOT / "docs").rglob("*.md")), ids=lambda page: page.name)
def test_links_of_the_docs_exist(page: Path) -> None:
    """Every relative link of a page names an existing file."""
    targets = re.findall(r"\]\((?!http)([^)#]+)", page.read_text())
    missing = [target for target in targets if not (page.parent / target).exists()]
    assert not missing


def test_links_of_the_readme_exist() -> None:
    """Every relative link of the README names an existing file."""
    targets = re.findall(r"\]\((?!http)([^)#]+)", (ROOT / "README.md").read_text())
    assert targets
    assert not [target for target in targets if not (ROOT / target).exists()]
