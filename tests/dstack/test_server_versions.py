"""The table of dstack servers in docs/amd_gpu_support.md: each is tried with our client."""

from __future__ import annotations

import importlib.metadata
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.dstack.harness import PYTHON, SCALE, open_stack
from tests.dstack.test_provider import new_id, provision, responds, with_provider
from tests.support.fake_cloud import Switches
from warmfront.providers.base import Phase
from warmfront.providers.dstack import fleet_setup
from warmfront.settings import default_cache_dir

if TYPE_CHECKING:
    from warmfront.providers.dstack.pool_mode import DstackProvider

pytestmark = pytest.mark.slow
PAGE = Path(__file__).parents[2] / "docs" / "amd_gpu_support.md"
TABLE = dict(re.findall(r"^\| (\d+\.\d+\.\d+) \| (.+) \|$", PAGE.read_text(), re.MULTILINE))
#: The server that all other tests use has the version of our client.
OURS = importlib.metadata.version("dstack")


def server_python(version: str) -> Path:
    """Return the interpreter of an environment with this server, which is created once, from PyPI."""
    if version == OURS:
        return PYTHON
    folder = default_cache_dir() / "dstack-servers" / version
    folder.parent.mkdir(parents=True, exist_ok=True)
    python = folder / "bin" / "python"
    if not (folder / "bin" / "dstack").exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", f"dstack[server]=={version}"], check=True)
    return python


@pytest.mark.parametrize("version", TABLE)
def test_server_version(version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fleet is created, a VM is leased, reached, found and ended, and the fleet is deleted."""

    async def scenario(provider: DstackProvider) -> None:
        client = provider.client
        proposal = await fleet_setup.propose(client, provider.settings)
        await fleet_setup.create(client, proposal, provider.settings)
        vm_id = new_id()
        ready = (await provision(provider, vm_id))[-1]
        assert await responds(ready)
        assert await provider.leases() == [ready]
        ended = await provider.release(vm_id)
        assert ended.phase is Phase.ENDED
        assert ended.started_at is not None
        await fleet_setup.delete(client, provider.settings.fleet_name, within_s=900.0)

    python = server_python(version)  # before HOME is changed, where pip would leave its cache
    with tempfile.TemporaryDirectory(prefix="wf") as name:
        monkeypatch.setenv("HOME", f"{name}/home")
        switches = Switches(light_attempt_s=0.0)
        with open_stack(Path(name), python=python, scale=SCALE, switches=switches) as stack:
            with_provider(stack, "versions", scenario)
            assert [entry.ended_at is not None for entry in stack.cloud.bill()] == [True]
