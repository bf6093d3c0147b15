"""A typed client of a dstack server: calls run in threads, with timeouts, and raise our errors.

It keeps no state but the connection and the open tunnels, and makes no decisions.
"""

from __future__ import annotations

import asyncio
import functools
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from warmfront.errors import DstackFailed, DstackUnreachable, FleetNotFound
from warmfront.providers.dstack import server_session
from warmfront.providers.dstack.assignment_events import list_assignments
from warmfront.providers.dstack.resources import fleet_from, instance_from, plan_from, run_from

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from warmfront.providers.dstack.assignment_events import InstanceAssignment
    from warmfront.providers.dstack.resources import DstackFleet, DstackInstance, DstackRun, FleetPlan
    from warmfront.settings import Settings

#: dstack responds in milliseconds, except to plans, which query the cloud's offers and take seconds.
CALL_TIMEOUT_S = 60.0
#: dstack retries for more than ten seconds to open a tunnel.
ATTACH_TIMEOUT_S = 60.0
#: Concurrent calls; opening a tunnel occupies a thread for seconds.
_THREADS = 8
_INSTANCE_LIMIT = 1000
_RUN_LIMIT = 100


class DstackClient:
    """One project of one dstack server."""

    def __init__(self, session: server_session.DstackSession) -> None:
        self._session = session
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="dstack")
        self._tunnels: dict[str, Any] = {}
        self._ssh_lock = asyncio.Lock()

    @classmethod
    def open(cls, settings: Settings) -> DstackClient:
        """Connect, and check that the server responds and accepts our token. Blocks for up to a few seconds.

        Raises:
            DstackMissing: dstack's client is not installed, or is too old.
            BadSetting: Server, token or project are not set.
            DstackUnreachable: The server does not respond.
            DstackDenied: The token is wrong or has no access to the project.
        """
        return cls(server_session.open_session(settings))

    @property
    def project(self) -> str:
        """The project's name."""
        return self._session.project

    @property
    def url(self) -> str:
        """The server's address."""
        return self._session.url

    async def close(self) -> None:
        """Close the connection and the tunnels; runs and fleets stay."""
        for name in [*self._tunnels]:
            await self.detach(name)
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._session.close()

    # --- fleets

    async def fleet(self, name: str) -> DstackFleet | None:
        """Return the fleet with this name, or None."""
        model = await self._call(lambda api: api.fleets.get(self.project, name=name), missing=None)
        return fleet_from(model) if model else None

    async def fleets(self) -> list[DstackFleet]:
        """Return all fleets of the project."""
        return [fleet_from(model) for model in await self._call(lambda api: api.fleets.list(self.project))]

    async def backends(self) -> list[str]:
        """Return the names of the project's backends."""
        project = await self._call(lambda api: api.projects.get(self.project))
        return [getattr(backend.name, "value", backend.name) for backend in project.backends]

    async def plan_fleet(self, configuration: Mapping[str, Any]) -> FleetPlan:
        """Return dstack's plan for this configuration: the offers, and the existing fleet to change."""
        spec = server_session.fleet_spec(configuration)
        return plan_from(await self._call(lambda api: api.fleets.get_plan(self.project, spec)))

    async def apply_fleet(self, plan: FleetPlan) -> DstackFleet:
        """Create or change the fleet as planned.

        Raises:
            DstackRefused: The fleet has changed since it was planned.
        """
        return fleet_from(await self._call(lambda api: api.fleets.apply_plan(self.project, plan.model)))

    async def delete_fleet(self, name: str) -> None:
        """Delete the fleet and its VMs; dstack needs some seconds after this returns.

        Raises:
            FleetNotFound: There is no fleet with this name.
        """
        if await self.fleet(name) is None:
            raise FleetNotFound(
                f"Project {self.project} has no fleet {name!r}.",
                hint="`warmfront fleet list` shows the existing fleets.",
            )
        await self._call(lambda api: api.fleets.delete(self.project, [name]))

    async def delete_instances(self, fleet: str, nums: Sequence[int]) -> None:
        """Delete individual VMs of a fleet; VMs that no longer exist are ignored."""
        await self._call(
            lambda api: api.fleets.delete_instances(self.project, fleet, list(nums)), missing=None
        )

    async def instances(self, *, only_active: bool = False) -> list[DstackInstance]:
        """Return the project's VMs, newest first, including those that ended."""
        body = {"project_names": [self.project], "only_active": only_active, "limit": _INSTANCE_LIMIT}
        return [instance_from(model) for model in await self._call(server_session.list_instances(body))]

    async def assignments(
        self, *, run: str | None = None, instance: str | None = None
    ) -> list[InstanceAssignment]:
        """Return the assignments of one run or of one instance, by id, oldest first."""
        assignments: list[InstanceAssignment] = await self._call(list_assignments(run=run, instance=instance))
        return assignments

    # --- runs

    async def apply_task(self, configuration: Mapping[str, Any]) -> DstackRun:
        """Submit a task; while its run is active, repeating the call returns the same run.

        Raises:
            DstackRefused: An active run has the same name and another configuration.
        """
        task = server_session.parse(configuration)
        submit = functools.partial(server_session.submit, project=self.project, task=task)
        return run_from(await self._call(submit))

    async def run(self, name: str) -> DstackRun | None:
        """Return the current state of the latest run with this name, or None."""
        model = await self._call(lambda api: api.runs.get(self.project, name), missing=None)
        return run_from(model) if model else None

    async def runs(self, prefix: str = "", *, only_active: bool = True) -> list[DstackRun]:
        """Return the runs whose names begin with `prefix`, newest first; at most the latest hundred."""
        models = await self._call(
            lambda api: api.runs.list(
                project_name=self.project, repo_id=None, only_active=only_active, limit=_RUN_LIMIT
            )
        )
        return [run for run in map(run_from, models) if run.name.startswith(prefix)]

    async def stop(self, name: str, *, abort: bool = False) -> None:
        """Request the end of a run; a run that has ended or does not exist is ignored.

        With `abort` the command is not signalled, and dstack waits longer for its output than a stop takes.
        """
        await self._call(lambda api: api.runs.stop(self.project, [name], abort), missing=None)

    async def logs(self, name: str) -> bytes:
        """Return the output of the run's latest job, as far as dstack has fetched it."""
        read = functools.partial(server_session.read_logs, project=self.project, name=name)
        return bytes(await self._call(read, missing=b""))

    async def attach(self, name: str, port: int) -> str:
        """Open a tunnel to a port of a running run and return its local base URL; `detach` closes it.

        Raises:
            DstackFailed: The run is not running, has no such port, or the tunnel cannot be opened.
        """
        attach = functools.partial(server_session.attach, project=self.project, name=name)
        async with self._ssh_lock:  # dstack rewrites one ssh configuration file for every tunnel
            tunnel = await self._call(attach, timeout_s=ATTACH_TIMEOUT_S)
        self._tunnels[name] = tunnel
        if tunnel.ports is None or port not in tunnel.ports:
            await self.detach(name)
            raise DstackFailed(f"Run {name} has no port {port} to attach to.")
        return f"http://127.0.0.1:{tunnel.ports[port]}"

    async def detach(self, name: str) -> None:
        """Close the tunnel to a run, if there is one."""
        tunnel = self._tunnels.pop(name, None)
        if tunnel is not None:
            async with self._ssh_lock:
                await self._call(lambda _: server_session.detach(tunnel))

    async def _call(
        self, work: Callable[[Any], Any], *, timeout_s: float = CALL_TIMEOUT_S, **default: Any
    ) -> Any:
        """Call `work` in a thread. Pass `missing=…` for the result if the resource does not exist."""
        loop = asyncio.get_running_loop()
        future = loop.run_in_executor(self._threads, self._session.call, work, default)
        try:
            return await asyncio.wait_for(future, timeout_s)
        except TimeoutError:
            raise DstackUnreachable(
                f"The dstack server at {self.url} did not respond within {timeout_s:g} s.",
                hint="Check the dstack server's log; the server may be restarting or overloaded.",
            ) from None
