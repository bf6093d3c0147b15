"""A thin, typed face of dstack's client: each call in a thread, with a time-out, its failures as our errors.

It asks and tells; it keeps nothing but the connection and the tunnels, and decides nothing.
"""

from __future__ import annotations

import asyncio
import functools
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from warmfront.errors import DstackFailed, DstackUnreachable, FleetNotFound
from warmfront.providers.dstack import assignment_events, server_session
from warmfront.providers.dstack.resources import fleet_from, instance_from, plan_from, run_from

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from warmfront.providers.dstack.resources import DstackFleet, DstackInstance, DstackRun, FleetPlan
    from warmfront.settings import Settings

#: dstack answers in milliseconds; plans ask the cloud for its offers and take seconds.
CALL_TIMEOUT_S = 60.0
#: Opening a tunnel tries for ten seconds and more.
ATTACH_TIMEOUT_S = 60.0
#: Calls at once; a tunnel that opens holds one for seconds.
_THREADS = 8
_PAGE = 1000


class DstackClient:
    """One project of one dstack server."""

    def __init__(self, session: server_session.DstackSession) -> None:
        self._session = session
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="dstack")
        self._tunnels: dict[str, Any] = {}
        self._ssh = asyncio.Lock()

    @classmethod
    def open(cls, settings: Settings) -> DstackClient:
        """Connect, and see that the server answers and takes us. It blocks for up to a few seconds.

        Raises `DstackMissing`, `DstackUnreachable`, `DstackDenied` or `BadSetting`, each with the next step.
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
        """Close the tunnels; runs and fleets stay."""
        for name in [*self._tunnels]:
            await self.detach(name)
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._session.close()

    # --- fleets

    async def fleet(self, name: str) -> DstackFleet | None:
        """The fleet of that name, if there is one."""
        found = await self._call(lambda api: api.fleets.get(self.project, name=name), missing=None)
        return fleet_from(found) if found else None

    async def fleets(self) -> list[DstackFleet]:
        """Every fleet of the project."""
        return [fleet_from(model) for model in await self._call(lambda api: api.fleets.list(self.project))]

    async def backends(self) -> list[str]:
        """The names of the project's backends."""
        project = await self._call(lambda api: api.projects.get(self.project))
        return [getattr(backend.name, "value", backend.name) for backend in project.backends]

    async def plan_fleet(self, configuration: Mapping[str, Any]) -> FleetPlan:
        """What dstack would do with this configuration: its offers, and the fleet that it would change."""
        spec = server_session.fleet_spec(configuration)
        return plan_from(await self._call(lambda api: api.fleets.get_plan(self.project, spec)))

    async def apply_fleet(self, plan: FleetPlan) -> DstackFleet:
        """Make the fleet as planned; refused if it changed since."""
        return fleet_from(await self._call(lambda api: api.fleets.apply_plan(self.project, plan.model)))

    async def delete_fleet(self, name: str) -> None:
        """Have the fleet and all of its VMs ended; dstack takes some seconds after this returns."""
        if await self.fleet(name) is None:
            raise FleetNotFound(
                f"Project {self.project} has no fleet {name!r}.",
                hint="`warmfront fleet list` has all of them.",
            )
        await self._call(lambda api: api.fleets.delete(self.project, [name]))

    async def delete_instances(self, fleet: str, nums: Sequence[int]) -> None:
        """End single VMs of a fleet; those that are gone already are no error."""
        await self._call(
            lambda api: api.fleets.delete_instances(self.project, fleet, list(nums)), missing=None
        )

    async def instances(self, *, only_active: bool = False) -> list[DstackInstance]:
        """Every VM of the project, newest first, also those that ended: what the cloud bills."""
        body = {"project_names": [self.project], "only_active": only_active, "limit": _PAGE}
        return [instance_from(model) for model in await self._call(server_session.list_instances(body))]

    async def assignments(
        self, *, run: str | None = None, instance: str | None = None
    ) -> list[assignment_events.InstanceAssignment]:
        """Which runs came to which VMs, oldest first: of one run, by its id, or of one VM."""
        found: list[assignment_events.InstanceAssignment] = await self._call(
            assignment_events.listing(run=run, instance=instance)
        )
        return found

    # --- runs

    async def apply_task(self, configuration: Mapping[str, Any]) -> DstackRun:
        """Submit a task; the same again, while it is active, is the same run.

        Another configuration under the name of an active run is refused.
        """
        task = server_session.parse(configuration)
        submit = functools.partial(server_session.submit, project=self.project, task=task)
        return run_from(await self._call(submit))

    async def run(self, name: str) -> DstackRun | None:
        """The latest run of that name, fresh."""
        found = await self._call(lambda api: api.runs.get(self.project, name), missing=None)
        return run_from(found) if found else None

    async def runs(self, prefix: str = "", *, only_active: bool = True) -> list[DstackRun]:
        """The runs whose names begin so, newest first; without `only_active` the latest hundred."""
        found = await self._call(
            lambda api: api.runs.list(
                project_name=self.project, repo_id=None, only_active=only_active, limit=100
            )
        )
        return [run for run in map(run_from, found) if run.name.startswith(prefix)]

    async def stop(self, name: str, *, abort: bool = False) -> None:
        """Ask for the run's end; a run that is over or unknown is no error.

        With `abort` its command is not told, and dstack waits for its output for longer than a stop takes.
        """
        await self._call(lambda api: api.runs.stop(self.project, [name], abort), missing=None)

    async def logs(self, name: str) -> bytes:
        """What the run's latest job has printed so far, as far as dstack has fetched it."""
        read = functools.partial(server_session.read_logs, project=self.project, name=name)
        return bytes(await self._call(read, missing=b""))

    async def attach(self, name: str, port: int) -> str:
        """A tunnel to a port of a running run: the local base URL. It stays open until `detach`."""
        attach = functools.partial(server_session.attach, project=self.project, name=name)
        async with self._ssh:  # dstack rewrites one file of ssh's for every tunnel
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
            async with self._ssh:
                await self._call(lambda _: server_session.detach(tunnel))

    async def _call(
        self, work: Callable[[Any], Any], *, timeout_s: float = CALL_TIMEOUT_S, **default: Any
    ) -> Any:
        """Do it in a thread. `missing=…` is the answer where dstack has nothing of that name."""
        loop = asyncio.get_running_loop()
        doing = loop.run_in_executor(self._threads, self._session.call, work, default)
        try:
            return await asyncio.wait_for(doing, timeout_s)
        except TimeoutError:
            raise DstackUnreachable(
                f"The dstack server at {self.url} did not answer within {timeout_s:g} s.",
                hint="Look at the server's log; it may be restarting or overloaded.",
            ) from None
