"""docs/amd_devcloud_setup.md, word for word, with the simulated cloud in the place of the real one."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.dstack.harness import PYTHON, SCALE
from tests.support import dstack_scaled_server
from tests.support.dstack_server import _CONTAINED
from tests.support.fake_cloud import FakeCloudThread

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.dstack.harness import Stack

#: A real server takes its time.
pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "amd_devcloud_setup.md"
PATIENCE_S = 240


def blocks(kind: str) -> str:
    """All commands of the page of one kind, in order."""
    return "\n".join(re.findall(rf"^```{kind}\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL))


def adapted(script: str, replacements: dict[str, str]) -> Iterator[str]:
    """The commands, with what a test must have otherwise: ports that are free, a cloud that is simulated.

    The environment that they are installed in is the one that runs this test, so that nothing is installed.
    """
    for line in script.splitlines():
        for there, here in replacements.items():
            line = line.replace(there, here)  # noqa: PLW2901 - one line, changed step by step
        if line.startswith("scripts/setup"):  # a fresh clone has a test of its own
            line = f"bash -n {line}"  # noqa: PLW2901 - as above
        if "pip install" in line:  # only what it would do
            line += " --dry-run --no-deps --no-index --no-build-isolation"  # noqa: PLW2901 - as above
        yield line
        if line.endswith(" &"):
            yield "until_it_answers"


def follow(script: str, folder: Path, environ: dict[str, str]) -> str:
    """Type the script at the top of a copy of the repository; all that it printed. No command may fail."""
    for entry in ROOT.iterdir():
        if entry.name not in {".env", ".git"} and not (folder / entry.name).exists():
            (folder / entry.name).symlink_to(entry)
    done = subprocess.run(
        [*_CONTAINED, "bash", "-euo", "pipefail", "-c", script],
        cwd=folder,
        env={"PATH": os.environ["PATH"], "LANG": "C.UTF-8", **environ},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def free_port() -> int:
    """A port that nobody uses."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


def test_the_page_can_be_followed_word_for_word(tmp_path: Path) -> None:
    """From the server to a cold verdict, a warm one, the cost and the end; one VM was paid, none is left."""
    server, service = free_port(), free_port()
    key = next(
        found["creds"]["api_key"] for found in FakeCloudThread.backends if found["type"] == "amddevcloud"
    )
    changes = {
        "dop_v1_...": key,
        ".venv-dstack/bin/dstack server": f"{PYTHON} {dstack_scaled_server.__file__} {SCALE}",
        "3001": str(server),
    }
    waits = f"""
    ports=({server} {service})
    until_it_answers() {{
      for _ in $(seq 600); do
        ! (exec 3<>/dev/tcp/127.0.0.1/${{ports[0]}}) 2>/dev/null || {{ ports=("${{ports[@]:1}}"); return; }}
        sleep 0.2
      done
      return 1
    }}
    """
    script = "\n".join([waits, *adapted(blocks("sh"), changes)])
    folder = tmp_path / "repository"
    folder.mkdir()
    # The name of a socket, which dstack makes below the home, may have 107 letters at most.
    with tempfile.TemporaryDirectory(prefix="home-") as home, FakeCloudThread() as cloud:
        printed = follow(
            script,
            folder,
            {
                **cloud.environment,
                "HOME": home,
                "WARMFRONT_PORT": str(service),
                "WARMFRONT_URL": f"http://127.0.0.1:{service}",
                "WARMFRONT_DATA_DIR": str(tmp_path / "data"),
            },
        )
        assert not cloud.droplets
        assert len(cloud.bill()) == 1
    assert printed.count("\nACCEPTED, ") == 2
    assert printed.index("✓ new VM") < printed.index("✓ warm VM")
    assert "is active: nodes 0..1" in printed
    assert "Fleet amd-mi300x-fleet is gone" in printed


def test_the_way_through_sky(stack: Stack, tmp_path: Path) -> None:
    """Whoever uses a server of others has its address and token in dstack's own file, and no more to set."""
    changes = {
        "https://sky.dstack.ai": stack.server.url,
        "DSTACK_TOKEN=...": f"DSTACK_TOKEN={stack.server.token}",
    }
    home = tmp_path / "home"
    home.mkdir()
    folder = tmp_path / "repository"
    folder.mkdir()
    printed = follow("\n".join(adapted(blocks("sh sky"), changes)), folder, {"HOME": str(home)})
    assert "Dry run: nothing was created." in printed
    assert "WARMFRONT_PROVIDER=dstack" in (folder / ".env").read_text()
