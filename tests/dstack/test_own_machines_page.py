"""The commands of docs/own-machines.md, executed with two hosts on loopback."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import asyncssh
import pytest

from tests.dstack.harness import PYTHON, SCALE
from tests.dstack.test_fleet_setup_page import ROOT, adapted, blocks, free_port, run_script, wait_function
from tests.support import dstack_scaled_server
from tests.support.dstack_services import IMAGE
from tests.support.fake_cloud import FakeCloudThread

#: The real dstack server is slow.
pytestmark = pytest.mark.slow
PAGE = ROOT / "docs" / "own-machines.md"


def test_commands_of_the_page_work(tmp_path: Path) -> None:
    """The page leads from two hosts to a verdict; both hosts keep running after the cleanup."""
    server, service = free_port(), free_port()
    key = asyncssh.generate_private_key("ssh-ed25519")
    folder = tmp_path / "repository"
    folder.mkdir()
    with tempfile.TemporaryDirectory(prefix="home-") as home, FakeCloudThread() as cloud:
        (Path(home) / ".ssh").mkdir(mode=0o700)
        key.write_private_key(Path(home) / ".ssh" / "hosts")
        (Path(home) / ".ssh" / "hosts").chmod(0o600)
        first, second = (cloud.add_own_host(key.export_public_key().decode()) for _ in range(2))
        changes = {
            ".venv-dstack/bin/dstack server": f"{PYTHON} {dstack_scaled_server.__file__} {SCALE}",
            "3001": str(server),
            "10.0.0.11": first,
            "10.0.0.12": second,
            "AMD_VM_GPUS=8": "AMD_VM_GPUS=1",  # the fake hosts have one
            "warmfront doctor": "warmfront doctor | grep dstack -A 1",
            "ssh -o": f"ssh -o UserKnownHostsFile={home}/known_hosts -o",
        }
        script = "\n".join([wait_function(server, service), *adapted(blocks("sh", PAGE), changes)])
        printed = run_script(
            script,
            folder,
            {
                **cloud.environment,
                "HOME": home,
                "WARMFRONT_PORT": str(service),
                "WARMFRONT_WORKER_TOOLCHAIN": "cpu",
                "WARMFRONT_WORKER_IMAGE": IMAGE,
                "WARMFRONT_URL": f"http://127.0.0.1:{service}",
                "WARMFRONT_DATA_DIR": str(tmp_path / "data"),
            },
        )
        assert all(host.is_active for host in cloud.own_hosts.values())
        assert not cloud.bill()
    assert printed.count("\nACCEPTED, ") == 1
    assert printed.count(f"{first}  idle    1 x MI300X") == 2  # after `create`, and from `verify`
    assert "2 SSH hosts, 1 of them free" in printed
    assert "tested with 2 hosts, without logging in" in printed
    assert "Fleet own-mi300x has been deleted. Its hosts keep running" in printed


def test_every_step_says_how_to_see_that_it_worked() -> None:
    """Steps are numbered without gaps, and each has commands and that sentence."""
    steps = re.split(r"^### (?=\d)", PAGE.read_text(), flags=re.MULTILINE)[1:]
    assert [step[0] for step in steps] == list("123456")
    assert all("```sh\n" in step and "*It worked* if" in step for step in steps)
