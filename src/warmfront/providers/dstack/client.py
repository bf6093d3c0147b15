"""A typed client of a dstack server: calls run in threads, with timeouts, and raise our errors.

Its only state is the connection, and it makes no decisions.
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
from warmfront.providers.dstack.shared_call import SharedCall

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from warmfront.providers.dstack.assignment_events import InstanceAssignment
    from warmfront.providers.dstack.resources import DstackFleet, DstackInstance, DstackRun, FleetPlan
    from warmfront.settings import Settings

#: dstack responds in milliseconds, except to plans, which query the cloud's offers and take seconds.
CALL_TIMEOUT_S = 60.0
#: Concurrent calls.
_THREADS = 8

#: dstack returns at most this many runs per request.
_RECENT_RUNS = 100


class DstackClient:
    """One project of one dstack server."""

    def __init__(self, session: server_session.DstackSession) -> None:
        self._session = session
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="dstack")
        self._active_runs = SharedCall(self._list_active_runs)
        self._active_instances = SharedCall(functools.partial(self._list_instances, only_active=True))
        self._fleets = SharedCall(self._list_fleets)
        self._keys: tuple[str, str] | None = None  # the public and the private SSH key of our user

    @classmethod
    def open(cls, settings: Settings) -> DstackClient:
        """Connect, and check that the server responds and accepts our token.

        This may block for a few seconds.

        Raises:
            DstackMissing: dstack's client is not installed, or is too old.
            BadSetting: The server, token or project is not set.
            DstackUnreachable: The server does not respond.
            DstackDenied: The token is wrong or has no access to the project.
        """
        return cls(server_session.open_session(settings))

    @classmethod
    def open_when_available(cls, settings: Settings) -> DstackClient:
        """Connect like `open`. If the server does not respond, connect again with each call.

        Raises:
            DstackMissing: dstack's client is not installed, or is too old.
            BadSetting: The server, token or project is not set.
            DstackDenied: The token is wrong or has no access to the project.
        """
        return cls(server_session.open_session(settings, must_respond=False))

    @property
    def project(self) -> str:
        """The project's name."""
        return self._session.project

    @property
    def url(self) -> str:
        """The server's address."""
        return self._session.url

    async def close(self) -> None:
        """Close the connection. Runs and fleets are not affected."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._session.close()

    async def server_version(self) -> str:
        """Return the version of the server; empty if it does not report one."""
        return str(await self._call(server_session.server_version))

    # --- fleets

    async def fleet(self, name: str) -> DstackFleet | None:
        """Return the fleet with this name, or None."""
        model = await self._call(lambda api: api.fleets.get(self.project, name=name), missing=None)
        return fleet_from(model) if model else None

    async def fleets(self) -> list[DstackFleet]:
        """Return all fleets of the project."""
        return await self._fleets()

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
        """Delete the fleet and its VMs. dstack takes some seconds to finish after this returns.

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

    async def instance(self, instance_id: str) -> DstackInstance | None:
        """Return the VM with this dstack id, even if it has ended; None if there is none."""
        for fleet in await self._fleets():  # one request for all existing VMs
            for instance in fleet.instances:
                if instance.id == instance_id:
                    return instance
        get = server_session.get_instance(self.project, instance_id)
        model = await self._call(get, missing=None)
        return instance_from(model) if model else None

    async def instances(self, *, only_active: bool = False) -> list[DstackInstance]:
        """Return the project's VMs, newest first, including those that ended.

        With `only_active`, return only idle and busy VMs, not those that are booting or ending.
        """
        return await (self._active_instances() if only_active else self._list_instances(only_active=False))

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
            DstackRefused: An active run has the same name and a different configuration.
        """
        task = server_session.parse(configuration)
        submit = functools.partial(server_session.submit, project=self.project, task=task)
        return run_from(await self._call(submit))

    async def run(self, name: str) -> DstackRun | None:
        """Return the current state of the latest run with this name, or None."""
        for run in await self._active_runs():  # one request for all polled runs
            if run.name == name:
                return run
        model = await self._call(lambda api: api.runs.get(self.project, name), missing=None)
        return run_from(model) if model else None

    async def runs(self, prefix: str = "") -> list[DstackRun]:
        """Return the active runs whose names begin with `prefix`, newest first."""
        return [run for run in await self._active_runs() if run.name.startswith(prefix)]

    async def recent_runs(self, prefix: str = "") -> list[DstackRun]:
        """Return the runs with this name prefix among the latest hundred, including ended ones."""
        models = await self._call(
            lambda api: api.runs.list(
                project_name=self.project, repo_id=None, only_active=False, limit=_RECENT_RUNS
            )
        )
        return [run for run in map(run_from, models) if run.name.startswith(prefix)]

    async def stop(self, name: str, *, abort: bool = False) -> None:
        """Request the end of a run; a run that has ended or does not exist is ignored.

        With `abort`, dstack does not signal the command, but waits for its output, which takes longer than a
        stop.
        """
        await self._call(lambda api: api.runs.stop(self.project, [name], abort), missing=None)

    async def logs(self, name: str) -> bytes:
        """Return the part of the output of the run's latest job that dstack has fetched so far."""
        read = functools.partial(server_session.read_logs, project=self.project, name=name)
        return bytes(await self._call(read, missing=b""))

    async def private_key(self, run: DstackRun) -> str:
        """Return the SSH key with which our user connects to the VM of a run.

        Raises:
            DstackFailed: The run was submitted with another key.
        """
        if self._keys is None or self._keys[0] != run.ssh_public_key:
            self._keys = await self._call(server_session.user_keys)
        public, private = self._keys
        if public != run.ssh_public_key:
            raise DstackFailed(
                f"Run {run.name} was submitted with a different SSH key than dstack has for this user.",
                hint="Use the token of the dstack user who submitted it.",
            )
        return private

    async def _list_active_runs(self) -> list[DstackRun]:
        models = await self._call(functools.partial(server_session.list_active_runs, project=self.project))
        return [run_from(model) for model in models]

    async def _list_instances(self, *, only_active: bool) -> list[DstackInstance]:
        body = {"project_names": [self.project], "only_active": only_active}
        return [instance_from(model) for model in await self._call(server_session.list_instances(body))]

    async def _list_fleets(self) -> list[DstackFleet]:
        return [fleet_from(model) for model in await self._call(lambda api: api.fleets.list(self.project))]

    async def _call(self, work: Callable[[Any], Any], **default: Any) -> Any:
        """Call `work` in a thread. Pass `missing=…` for the result if the resource does not exist."""
        loop = asyncio.get_running_loop()
        future = loop.run_in_executor(self._threads, self._session.call, work, default)
        try:
            return await asyncio.wait_for(future, CALL_TIMEOUT_S)
        except TimeoutError:
            raise DstackUnreachable(
                f"The dstack server at {self.url} did not respond within {CALL_TIMEOUT_S:g} s.",
                hint="Check the dstack server's log; the server may be restarting or overloaded.",
            ) from None
