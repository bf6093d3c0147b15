"""A real dstack server with a simulated cloud behind it, and a client of it, for tests.

It says what to do in dstack's own words, through dstack's own client; nothing of ours is in between.
"""

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
#: Rests of the server are a twentieth of what they are.
SCALE = 0.05
MI300X = {"name": "MI300X", "memory": "192GB", "count": 1}
#: For whatever is waited for; the unmodified server takes a minute for some.
_PATIENCE_S = 180.0
_LOOK_S = 0.05


@dataclass(frozen=True, kw_only=True)
class Stack:
    """A cloud, a server in front of it, and a client of the server."""

    cloud: FakeCloudThread
    server: DstackServer
    client: Any

    def plan_fleet(self, name: str, **changes: Any) -> Any:
        """What dstack would do for a fleet that may have one VM for ten minutes, unless told otherwise."""
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
        """Create a fleet."""
        return self.client.client.fleets.apply_plan(PROJECT, self.plan_fleet(name, **changes))

    def delete_fleet(self, name: str) -> None:
        """Delete it, and return when it is gone."""
        self.client.client.fleets.delete(PROJECT, [name])
        until(lambda: name not in self.fleets())

    def remove_fleet(self, name: str) -> None:
        """Delete it if it is there, whatever still runs on it."""
        for run in self.client.runs.list():
            asked = {getattr(fleet, "name", fleet) for fleet in run._run.run_spec.configuration.fleets or []}
            if name in asked:
                stopped(run)
        if name in self.fleets():
            self.delete_fleet(name)

    def fleets(self) -> set[str]:
        """The names of all fleets."""
        return {fleet.name for fleet in self.client.client.fleets.list(PROJECT)}

    def billed(self, run: str) -> list[BillEntry]:
        """What AMD's cloud bills for the VMs that dstack made for a run: it names them after it."""
        prefix = f"dstack-{PROJECT}-{run}-"
        return [billed for billed in self.cloud.bill() if billed.name.startswith(prefix)]

    def instances(self, fleet: str) -> list[Any]:
        """The VMs of a fleet, as dstack sees them."""
        found: list[Any] = self.client.client.fleets.get(PROJECT, name=fleet).instances
        return found

    def submit(self, name: str, fleet: str, *commands: str, **changes: Any) -> Any:
        """Ask for a task on a fleet."""
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
        """Ask for a task, and return when it has ended."""
        return finished(self.submit(name, fleet, *commands, **changes))


@contextmanager
def open_stack(
    folder: Path, *, scale: float | None = SCALE, switches: Switches | None = None
) -> Iterator[Stack]:
    """A stack of its own; all of it is gone afterwards."""
    with (
        FakeCloudThread(switches) as cloud,
        DstackServer(
            folder,
            python=PYTHON,
            cache=default_cache_dir(),
            backends=cloud.backends,
            environment=cloud.environment,
            scale=scale,
        ) as server,
    ):
        client = Client.from_config(project_name=PROJECT, server_url=server.url, user_token=server.token)
        yield Stack(cloud=cloud, server=server, client=client)


def until(holds: Callable[[], object]) -> None:
    """Look until something holds that no event tells of."""
    give_up_at = time.monotonic() + _PATIENCE_S
    while not holds():
        assert time.monotonic() < give_up_at, "it did not come to hold"
        time.sleep(_LOOK_S)


def finished(run: Any) -> Any:
    """The run when it has ended."""
    until(lambda: bool(_fresh(run).status.is_finished()))
    return run


def stopped(run: Any) -> Any:
    """The run when it was stopped. dstack may forget a stop that comes while it is at work on the run."""

    def is_over() -> bool:
        if not _fresh(run).status.is_finished() and run.status.value != "terminating":
            run.stop()
        return bool(run.status.is_finished())

    until(is_over)
    return run


def running(run: Any) -> Any:
    """The run when it has begun."""
    until(lambda: _fresh(run).status.value == "running" or run.status.is_finished())
    assert run.status.value == "running", job(run).termination_reason_message
    return run


def job(run: Any) -> Any:
    """The last submission of a run's only job, which has the exit status, the reason and the VM."""
    return run._run.latest_job_submission


def logs(run: Any) -> str:
    """What its commands printed."""
    return b"".join(run.logs()).decode()


def _fresh(run: Any) -> Any:
    run.refresh()
    return run
