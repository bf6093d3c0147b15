"""The commands of docs/amd_devcloud_setup.md, executed with the fake cloud instead of the real one."""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest

from tests.dstack.harness import PYTHON, SCALE
from tests.support import dstack_scaled_server
from tests.support.dstack_server import CONTAINED
from tests.support.fake_cloud import FakeCloudThread
from tests.support.registry import registry
from warmfront.providers.dstack import vm_image
from warmfront.providers.dstack.image_registry import MANIFEST_TYPES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.dstack.harness import Stack

#: The real dstack server is slow.
pytestmark = pytest.mark.slow
ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "amd_devcloud_setup.md"
#: A backstop: on a busy machine the steps take many times as long as on an idle one.
TIMEOUT_S = 3600
#: Takes the place of `docker`: the base images need the internet. test_image_registry.py and
#: test_image_build.py test the real one.
DOCKER = f"""\
#!/bin/sh
echo "docker $1" >&2
case "$*" in
  *.Size*) echo 1000000000 ;;
  *RepoDigests*) for name; do :; done; echo "[\\"${{name%:*}}@sha256:{"0123456789abcdef" * 4}\\"]" ;;
  run*) echo 300000; echo 80000; echo 300 ;;
esac
"""


def blocks(kind: str, page: Path = PAGE) -> str:
    """Return all commands of a page in code blocks of this kind, in order."""
    return "\n".join(re.findall(rf"^```{kind}\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL))


def adapted(script: str, replacements: dict[str, str]) -> Iterator[str]:
    """Adapt the commands for a test: free ports, the fake cloud, and no installation.

    The commands use the virtual environment of the test run.
    """
    for line in script.splitlines():
        for original, replacement in replacements.items():
            line = line.replace(original, replacement)  # noqa: PLW2901 - changed step by step
        if line.startswith("scripts/setup"):  # tests/acceptance/test_fresh_clone.py covers it
            line = f"bash -n {line}"  # noqa: PLW2901 - changed step by step
        if "pip install" in line:  # only check that the command is valid
            line += " --dry-run --no-deps --no-index --no-build-isolation"  # noqa: PLW2901 - changed step by step
        yield line
        if line.endswith(" &") and "attach" not in line:
            yield "wait_for_port"


def use_registry(folder: Path, address: str) -> None:
    """Use base images from a registry on loopback, because the real ones need the internet."""
    lock = folder / vm_image.LOCK
    text = lock.read_text()
    for name, base in vm_image.read_lock(folder).items():
        local = f"{address}/{name}:{base.image.rpartition(':')[2]}"
        text = text.replace(f'"{base.image}"', f'"{local}"')
        url = f"http://{address}/v2/{name}/manifests/{base.image.rpartition(':')[2]}"
        manifest = json.dumps({"schemaVersion": 2, "mediaType": MANIFEST_TYPES[0], "layers": []})
        httpx.put(url, content=manifest, headers={"Content-Type": MANIFEST_TYPES[0]}).raise_for_status()
    lock.write_text(text)


def run_script(script: str, folder: Path, environ: dict[str, str], *, address: str | None = None) -> str:
    """Run the script in a copy of the repository and return its output. No command may fail."""
    shutil.copytree(ROOT / "deploy", folder / "deploy")  # `warmfront image lock` writes to it
    if address is not None:
        use_registry(folder, address)
    programs = folder.parent / "programs"
    programs.mkdir()
    (programs / "docker").write_text(DOCKER)
    (programs / "docker").chmod(0o755)
    for entry in ROOT.iterdir():
        if entry.name not in {".env", ".git"} and not (folder / entry.name).exists():
            (folder / entry.name).symlink_to(entry)
    done = subprocess.run(
        [*CONTAINED, "bash", "-euo", "pipefail", "-c", script],
        cwd=folder,
        env={"PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "LANG": "C.UTF-8", **environ},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=TIMEOUT_S,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


def free_port() -> int:
    """Return a free port."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


def wait_function(*ports: int) -> str:
    """Return a shell function that waits until a server listens on the first port, then on the next."""
    return f"""
    ports=({" ".join(map(str, ports))})
    wait_for_port() {{
      for _ in $(seq 6000); do
        ! (exec 3<>/dev/tcp/127.0.0.1/${{ports[0]}}) 2>/dev/null || {{ ports=("${{ports[@]:1}}"); return; }}
        sleep 0.2
      done
      return 1
    }}
    """


def test_commands_of_the_page_work(tmp_path: Path) -> None:
    """The page leads from the image to a cold and a warm verdict; one VM is billed and none is left."""
    server, service = free_port(), free_port()
    key = next(
        backend["creds"]["api_key"]
        for backend in FakeCloudThread.backends
        if backend["type"] == "amddevcloud"
    )
    changes = {
        "dop_v1_...": key,
        ".venv-dstack/bin/dstack server": f"{PYTHON} {dstack_scaled_server.__file__} {SCALE}",
        "3001": str(server),
        # The fake VM has no GPU, so the checks fail.
        "warmfront doctor --gpu": "warmfront doctor --gpu || [ $? = 1 ]",
    }
    script = "\n".join([wait_function(server, service), *adapted(blocks("sh"), changes)])
    folder = tmp_path / "repository"
    folder.mkdir()
    # The path of a socket, which dstack creates in the home directory, is limited to 107 bytes.
    with (
        tempfile.TemporaryDirectory(prefix="home-") as home,
        FakeCloudThread() as cloud,
        registry(token="for anyone") as address,  # noqa: S106 - no secret
    ):
        printed = run_script(
            script,
            folder,
            {
                **cloud.environment,
                "HOME": home,
                "WARMFRONT_PORT": str(service),
                "WARMFRONT_WORKER_TOOLCHAIN": "cpu",
                "WARMFRONT_URL": f"http://127.0.0.1:{service}",
                "WARMFRONT_DATA_DIR": str(tmp_path / "data"),
            },
            address=address,
        )
        assert not cloud.droplets
        assert len(cloud.bill()) == 1
    assert printed.count("\nACCEPTED, ") == 2
    assert printed.index("✓ new VM") < printed.index("✓ warm VM")
    assert "is active: nodes 0..1" in printed
    assert "Fleet amd-mi300x-fleet and its VMs have been deleted" in printed
    assert "WARMFRONT_WORKER_IMAGE=ghcr.io/you/warmfront-vm:" in printed
    assert printed.count("Project main has no fleets.") == 2
    assert all(base.digest in printed for base in vm_image.read_lock(folder).values() if base.digest)
    assert all(base.digest for base in vm_image.read_lock(folder).values())
    assert "no     /dev/kfd" in printed
    assert "this machine cannot judge kernels on a GPU" in printed


def test_every_step_says_what_it_costs_and_how_to_see_that_it_worked() -> None:
    """Steps are numbered without gaps; each that has commands has both sentences after them."""
    steps = re.split(r"^## ", PAGE.read_text(), flags=re.MULTILINE)[1:]
    numbered = [step for step in steps if re.match(r"\d+[ab]?\. ", step)]
    numbers = [re.match(r"\d+[ab]?", step)[0] for step in numbered]  # type: ignore[index]  # they match
    assert numbers == ["1", "2", "3a", "3b", "4", "5", "6", "7", "8", "9"]
    for step in numbered:
        after = step.rpartition("```")[2]
        assert step.count("```") >= 2, step
        assert "*Cost:*" in after, step
        assert "*It worked* if" in after, step


def test_commands_do_not_count_jobs() -> None:
    """With dstack Sky there is no server in the background, so the numbers of the other jobs differ."""
    assert not re.findall(r"%\d", PAGE.read_text())


def test_commands_for_dstack_sky_work(stack: Stack, tmp_path: Path) -> None:
    """With a hosted server, address and token come from dstack's own configuration file."""
    changes = {
        "https://sky.dstack.ai": stack.server.url,
        "DSTACK_TOKEN=...": f"DSTACK_TOKEN={stack.server.token}",
    }
    home = tmp_path / "home"
    home.mkdir()
    folder = tmp_path / "repository"
    folder.mkdir()
    printed = run_script("\n".join(adapted(blocks("sh sky"), changes)), folder, {"HOME": str(home)})
    assert "Dry run: nothing was created." in printed
    assert "WARMFRONT_PROVIDER=dstack" in (folder / ".env").read_text()
