"""The check of SSH to VMs before there is one."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from warmfront import settings
from warmfront.errors import DstackFailed
from warmfront.providers.dstack.resources import DstackRun
from warmfront.providers.dstack.ssh_reachability import check_reachability, is_remote
from warmfront.providers.dstack.ssh_tunnel import SSHHop

OURS = settings.load({}, env_file=None)


class Client:
    """A client of a server with these runs, all of another user."""

    def __init__(self, url: str, *runs: DstackRun) -> None:
        self.url = url
        self._runs = list(runs)

    async def runs(self, prefix: str) -> list[DstackRun]:
        """Return the runs."""
        return [run for run in self._runs if run.name.startswith(prefix)]

    async def private_key(self, run: DstackRun) -> str:
        """Refuse, because the run has another key."""
        raise DstackFailed(f"Run {run.name} was submitted with a different SSH key.", hint="Use its token.")


@pytest.mark.parametrize(
    ("url", "remote"),
    [
        ("http://127.0.0.1:3001", False),
        ("http://localhost:3000", False),
        ("http://[::1]:3000", False),
        ("https://sky.dstack.ai", True),
        ("http://10.0.0.5:3000", True),
    ],
)
def test_where_the_server_is(url: str, remote: bool) -> None:  # noqa: FBT001 - a parameter
    """A server on another machine is named, because its own connection to VMs does not help the service."""
    client: Any = Client(url)
    result = asyncio.run(check_reachability(client, OURS))
    assert is_remote(url) is remote
    assert result.works
    assert result.detail.startswith("not tested, because no VM is running; ")
    assert ("the dstack server is on another machine" in result.detail) is remote


def test_vms_of_another_dstack_user() -> None:
    """If no VM accepts our key, that is reported with its own hint."""
    run = DstackRun(
        id="1",
        name="wf-vm-1",
        status="running",
        status_message="",
        termination_reason=None,
        error=None,
        fleet=OURS.fleet_name,
        submitted_at=0.0,
        cost_usd=0,  # type: ignore[arg-type]  # not used
        job_status="running",
        ssh_hops=(SSHHop(host="127.0.0.1", port=1, user="root"),),
    )
    client: Any = Client("http://127.0.0.1:3000", run)
    result = asyncio.run(check_reachability(client, OURS))
    assert (result.works, result.hint) == (False, "Use its token.")
    assert "different SSH key" in result.detail
