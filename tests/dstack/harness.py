"""A real dstack server with the fake cloud behind it, and a client, for tests.

It uses dstack's own client and models, and none of our code.
"""

from __future__ import annotations

import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dstack._internal.core.errors import ServerClientError
from dstack._internal.core.models.configurations import parse_apply_configuration
from dstack._internal.core.models.fleets import FleetSpec
from dstack._internal.core.models.profiles import Profile
from dstack.api import Client, Task

from tests.support.dstack_server import PROJECT, DstackServer
from tests.support.fake_cloud import FakeCloudThread, Switches
from warmfront.settings import default_cache_dir

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.support.fake_cloud import BillEntry

PYTHON = Path(__file__).parent.parent.parent / ".venv-dstack" / "bin" / "python"
#: Scales the server's intervals to a twentieth.
SCALE = 0.05
MI300X = {"name": "MI300X", "memory": "192GB", "count": 1}
#: Limit for every wait; only one that hangs takes this long: on a busy machine a boot takes minutes.
_TIMEOUT_S = 900.0
_POLL_S = 0.05


@dataclass(frozen=True, kw_only=True)
class Stack:
    """A fake cloud, a dstack server that uses it, and a client of the server."""

    cloud: FakeCloudThread
    server: DstackServer
    client: Any

    def plan_fleet(self, name: str, **changes: Any) -> Any:
        """Plan a fleet with one VM and an idle duration of ten minutes, with these changes."""
        configuration = parse_apply_configuration(
            {
                "type": "fleet",
                "name": name,
                "nodes": "0..1",
                "backends": ["amddevcloud"],
                "idle_duration": "10m",
                "resources": {"gpu": MI300X, "cpu": "2..", "memory": "8GB..", "disk": "100GB.."},
                **changes,
            }
        )
        spec = FleetSpec(configuration=configuration, profile=Profile(name="default"))
        return self.client.client.fleets.get_plan(PROJECT, spec)

    def apply_fleet(self, name: str, **changes: Any) -> Any:
        """Create a fleet with these changes."""
        return self.client.client.fleets.apply_plan(PROJECT, self.plan_fleet(name, **changes))

    def delete_fleet(self, name: str) -> None:
        """Delete a fleet and return when it no longer exists."""

        def is_deleted() -> bool:
            with suppress(ServerClientError):  # dstack is processing the fleet
                self.client.client.fleets.delete(PROJECT, [name])
            return name not in self.fleets()

        until(is_deleted)

    def remove_fleet(self, name: str) -> None:
        """Stop all runs on a fleet and delete it, if it exists."""
        for run in self.client.runs.list():
            fleets = {getattr(fleet, "name", fleet) for fleet in run._run.run_spec.configuration.fleets or []}
            if name in fleets:
                stopped(run)
        if name in self.fleets():
            self.delete_fleet(name)

    def fleets(self) -> set[str]:
        """Return the names of all fleets."""
        return {fleet.name for fleet in self.client.client.fleets.list(PROJECT)}

    def billed(self, run: str) -> list[BillEntry]:
        """Return the bill entries of the VMs that dstack created for a run and named after it."""
        prefix = f"dstack-{PROJECT}-{run}-"
        return [billed for billed in self.cloud.bill() if billed.name.startswith(prefix)]

    def instances(self, fleet: str) -> list[Any]:
        """Return the VMs of a fleet, according to dstack."""
        instances: list[Any] = self.client.client.fleets.get(PROJECT, name=fleet).instances
        return instances

    def submit(self, name: str, fleet: str, *commands: str, **changes: Any) -> Any:
        """Submit a task on a fleet and return its run."""
        task = Task.model_validate(
            {
                "type": "task",
                "name": name,
                "image": "registry.example/worker:1",
                "user": "root",
                "commands": list(commands),
                "fleets": [fleet],
                "resources": {"cpu": "x86:2..", "gpu": {"name": "MI300X", "count": 1}},
                **changes,
            }
        )
        return self.client.runs.apply_configuration(task, reserve_ports=False)

    def run(self, name: str, fleet: str, *commands: str, **changes: Any) -> Any:
        """Submit a task and return its run when it has ended."""
        return finished(self.submit(name, fleet, *commands, **changes))


@contextmanager
def open_stack(
    folder: Path,
    *,
    scale: float | None = SCALE,
    switches: Switches | None = None,
    python: Path = PYTHON,
) -> Iterator[Stack]:
    """Open a stack, and remove it completely afterwards."""
    with (
        FakeCloudThread(switches) as cloud,
        DstackServer(
            folder,
            python=python,
            cache=default_cache_dir(),
            backends=cloud.backends,
            environment=cloud.environment,
            scale=scale,
        ) as server,
    ):
        client = Client.from_config(project_name=PROJECT, server_url=server.url, user_token=server.token)
        yield Stack(cloud=cloud, server=server, client=client)


def until(condition: Callable[[], object]) -> None:
    """Poll until a condition holds for which there is no event."""
    give_up_at = time.monotonic() + _TIMEOUT_S
    while not condition():
        assert time.monotonic() < give_up_at, "the condition did not become true"
        time.sleep(_POLL_S)


def finished(run: Any) -> Any:
    """Wait until the run has ended, and return it."""
    until(lambda: bool(_fresh(run).status.is_finished()))
    return run


def stopped(run: Any) -> Any:
    """Stop the run and return it when it has ended. A stop that dstack loses is repeated."""

    def has_ended() -> bool:
        if not _fresh(run).status.is_finished() and run.status.value != "terminating":
            run.stop()
        return bool(run.status.is_finished())

    until(has_ended)
    return run


def running(run: Any) -> Any:
    """Wait until the run's command runs, and return the run."""
    until(lambda: _fresh(run).status.value == "running" or run.status.is_finished())
    assert run.status.value == "running", job(run).termination_reason_message
    return run


def job(run: Any) -> Any:
    """Return the last submission of a run's only job, with its exit status, reason and VM."""
    return run._run.latest_job_submission


def logs(run: Any) -> str:
    """Return the output of the run's commands."""
    return b"".join(run.logs()).decode()


def _fresh(run: Any) -> Any:
    run.refresh()
    return run
