"""Direct mode: a VM without a listener, on which every attempt is a separate dstack run.

The orchestrator sees ordinary VMs: `DirectProvider` boots a VM with a run that does nothing, and
`DirectListeners` executes attempts by submitting runs and reading their output. Only events that the judge
signed are accepted from that output.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
import time
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warmfront import __version__
from warmfront.errors import UnknownAttempt, VMUnreachable, WarmfrontError
from warmfront.events import Failed
from warmfront.judge.cancellation import cancelled_event
from warmfront.listener.protocol import AttemptEvent, ListenerHealth
from warmfront.listener.signed_events import KEY_VARIABLE, SignedEventReader
from warmfront.providers.base import Lease, Phase
from warmfront.providers.dstack import listener_bundle, live_logs
from warmfront.providers.dstack.configuration import (
    ATTEMPT_FILE,
    PREFIX,
    attempt_command,
    attempt_task,
    bundle_files,
    parse_run_name,
)
from warmfront.providers.dstack.pool_mode import DstackProvider, RunSnapshot, poll_pauses
from warmfront.providers.dstack.run_outcome import RunOutcome, outcome_of
from warmfront.providers.dstack.tunnels import open_tunnel
from warmfront.value_class import dataclass
from warmfront.verdicts import Verdict

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from warmfront.clock import Clock
    from warmfront.listener.protocol import ExecuteRequest
    from warmfront.money.billing import Billing
    from warmfront.providers.dstack.client import DstackClient
    from warmfront.providers.dstack.owned_runs import OwnedRuns
    from warmfront.providers.dstack.resources import DstackInstance, DstackRun
    from warmfront.providers.ownership import Ownership
    from warmfront.settings import Settings
    from warmfront.vm import VMInstance

_SCHEME = "dstack://"


class DirectProvider(DstackProvider):
    """A provider of VMs of a dstack fleet that are idle between runs.

    The fleet's `idle_duration` must be longer than our idle timeout.
    """

    def __init__(
        self, settings: Settings, client: DstackClient, *, ownership: Ownership, clock: Clock | None = None
    ) -> None:
        super().__init__(settings, client, ownership=ownership, clock=clock)
        self.toolchain = None  # each attempt sets its own; there is no listener to report it

    def gpu_counts(self, gpu: str) -> tuple[int, ...]:  # noqa: ARG002 - all GPU types are alike
        """Return one, because an attempt is a run, which occupies the whole VM."""
        return (1,)

    def spot_billing(self, gpu: str, gpu_count: int = 1) -> Billing | None:  # noqa: ARG002 - for all GPU types
        """Return None, because the runs of attempts would have to request the same kind of VM."""
        return None

    def task(self, vm_id: str, gpu: str, token: str) -> dict[str, Any]:
        """Return a run that boots a VM and exits."""
        del token  # there is no listener
        return attempt_task(self.settings, name=self.runs.name(vm_id), gpu=gpu, commands=["true"])

    def has_failed(self, snapshot: RunSnapshot) -> bool:
        """Return whether a booting VM will never be ready. Its run may end; the VM must not."""
        return (
            snapshot.has_ended_in_dstack if snapshot.outcome is RunOutcome.DONE else snapshot.outcome.is_final
        )

    async def open_tunnel(self, snapshot: RunSnapshot, *, probe: bool) -> None:
        """Do nothing, because tunnels lead to attempts, not to VMs."""

    async def stop_attempts(self, snapshot: RunSnapshot) -> None:
        """Stop the attempts on the VM, because dstack does not delete a VM that is in use."""
        for run in await self.client.runs(PREFIX):
            label = parse_run_name(run.name)
            if label is None or not label.is_attempt or label.owner not in {None, self.ownership.id}:
                continue
            if snapshot.tenancy is not None and run.hostname == snapshot.tenancy.instance.hostname:
                await self.client.stop(run.name)

    def lease(self, vm_id: str, snapshot: RunSnapshot) -> Lease:
        """Convert a snapshot to a lease. A VM is ready when the run that booted it has exited."""
        tenancy = snapshot.tenancy
        if snapshot.outcome is RunOutcome.DONE and not snapshot.has_ended_in_dstack and tenancy is not None:
            address = f"{_SCHEME}{tenancy.instance.fleet}/{tenancy.instance.num}"
            return replace(super().lease(vm_id, snapshot), phase=Phase.READY, address=address)
        return super().lease(vm_id, snapshot)

    def listeners(self, key_of: Callable[[str], str]) -> DirectListeners:
        """Return the client that executes attempts on these VMs."""
        return DirectListeners(client=self.client, runs=self.runs, settings=self.settings, key_of=key_of)


@dataclass(kw_only=True)
class DirectListeners:
    """A `ListenerClient` that executes attempts as dstack runs."""

    client: DstackClient
    runs: OwnedRuns
    settings: Settings
    key_of: Callable[[str], str]  #: returns the signing key of an attempt, the same one each time

    async def execute(self, vm: VMInstance, attempt: ExecuteRequest) -> AsyncIterator[AttemptEvent]:
        """Submit a run for the attempt, or re-attach to its run, and yield its events."""
        with _dstack_errors_as_vm_errors(vm):
            if await self.runs.find(attempt.id) is None:
                await self._submit(vm, attempt)
        async for event in self._follow(vm, attempt.id, after=0):
            yield event

    async def events(self, vm: VMInstance, attempt_id: str, after: int) -> AsyncIterator[AttemptEvent]:
        """Re-attach by reading the run's output from the beginning, and yield the events after `after`."""
        async for event in self._follow(vm, attempt_id, after=after):
            yield event

    async def cancel(self, vm: VMInstance, attempt_id: str) -> None:
        """Stop the attempt's run, and return when the run and its boxes have ended.

        dstack can lose a stop request while it processes the run; it is repeated until the run is stopping.
        """
        with _dstack_errors_as_vm_errors(vm):
            for pause_s in poll_pauses():
                run = await self.runs.find(attempt_id)
                if run is None or outcome_of(run).is_final:
                    return
                if outcome_of(run) is not RunOutcome.STOPPING:
                    await self.client.stop(run.name)
                await asyncio.sleep(pause_s)

    async def health(self, vm: VMInstance) -> ListenerHealth:
        """Return a health report if dstack has the VM and can reach it."""
        with _dstack_errors_as_vm_errors(vm):
            await self._instance(vm)
        uptime_s = time.time() - (vm.started_at or vm.created_at)
        return ListenerHealth(
            version=__version__, toolchain="", gpu=vm.gpu, simulated=False, running=(), uptime_s=uptime_s
        )

    async def heartbeat(self, vm: VMInstance) -> ListenerHealth:
        """Return the health report. Without a listener, there is no watchdog to reset."""
        return await self.health(vm)

    async def close(self) -> None:
        """Do nothing: the provider closes the client."""

    async def _submit(self, vm: VMInstance, attempt: ExecuteRequest) -> None:
        bundle = await asyncio.to_thread(listener_bundle.pack_for_upload, self.settings.cache_dir)
        instance = await self._wait_until_idle(vm)
        with tempfile.TemporaryDirectory(prefix="warmfront-attempt-") as folder:
            file = Path(folder) / ATTEMPT_FILE
            file.write_text(json.dumps(attempt.to_json()))
            task = attempt_task(
                self.settings,
                name=self.runs.name(attempt.id),
                gpu=vm.gpu,
                commands=[attempt_command(self.settings)],
                environ={KEY_VARIABLE: self.key_of(attempt.id)},
                files=[bundle_files(bundle), f"{file}:{ATTEMPT_FILE}"],
            )
            # The submission is billed for this VM's time, so it must run on this VM.
            selector = {"fleet": instance.fleet, "instance": instance.num}
            await self.client.apply_task({**task, "instances": [selector]})

    async def _wait_until_idle(self, vm: VMInstance) -> DstackInstance:
        """Wait until dstack has finished the previous run, and return the VM's instance.

        dstack takes longer for that than we take to receive the verdict.
        """
        for pause_s in poll_pauses():
            instance = await self._instance(vm)
            if instance.status == "idle":
                return instance
            await asyncio.sleep(pause_s)
        raise AssertionError  # the pauses never end

    async def _instance(self, vm: VMInstance) -> DstackInstance:
        if vm.address is None:
            raise VMUnreachable(f"VM {vm.id} has no address yet.")
        fleet, _, num = vm.address.removeprefix(_SCHEME).partition("/")
        for instance in await self.client.instances(only_active=True):
            if (instance.fleet, str(instance.num)) == (fleet, num) and not instance.is_unreachable:
                return instance
        raise VMUnreachable(f"VM {vm.id}: dstack does not have its instance, or cannot reach it.")

    async def _follow(self, vm: VMInstance, attempt_id: str, *, after: int) -> AsyncIterator[AttemptEvent]:
        """Yield events from the runner while the run is active, then from dstack's log.

        If the run ended without a verdict, yield a terminal event that says so.
        """
        reader = SignedEventReader(self.key_of(attempt_id), attempt_id, after=after)
        with _dstack_errors_as_vm_errors(vm):
            name = (await self._run(attempt_id)).name
            if await self._wait_until_started(attempt_id) is RunOutcome.RUNNING:
                async for event in self._follow_live(attempt_id, reader):
                    yield event
            for pause_s in poll_pauses():
                if reader.has_verdict:
                    return
                # Read before the output: if the run has ended, the output read afterwards is complete.
                outcome = outcome_of(await self._run(attempt_id))
                reader.rewind()
                for event in reader.feed(await self.client.logs(name)):
                    yield event
                if outcome is RunOutcome.LOST and not reader.has_verdict:
                    raise VMUnreachable(f"VM {vm.id} is lost: run {name} is {outcome.value}.")
                if outcome.is_final and not reader.has_verdict:
                    yield AttemptEvent(
                        seq=reader.last_seq + 1, fields=_event_without_verdict(outcome).fields()
                    )
                    return
                await asyncio.sleep(0.0 if reader.has_verdict else pause_s)

    async def _wait_until_started(self, attempt_id: str) -> RunOutcome:
        not_started = (RunOutcome.QUEUED, RunOutcome.BOOTING, RunOutcome.PULLING)
        for pause_s in poll_pauses():
            outcome = outcome_of(await self._run(attempt_id))
            if outcome not in not_started:
                return outcome
            await asyncio.sleep(pause_s)
        raise AssertionError  # the pauses never end

    async def _follow_live(self, attempt_id: str, reader: SignedEventReader) -> AsyncIterator[AttemptEvent]:
        """Yield events as the run prints them. If this fails, they are read from dstack's log later."""
        try:
            tunnel = await open_tunnel(
                self.client, await self._run(attempt_id), port=live_logs.RUNNER_PORT, folder=self._sockets
            )
        except WarmfrontError:
            return
        try:
            async for data in live_logs.follow(tunnel.socket):
                for event in reader.feed(data):
                    yield event
                if reader.has_verdict:
                    return
        finally:
            tunnel.close()

    @property
    def _sockets(self) -> Path:
        return self.settings.data_dir / "tunnels"

    async def _run(self, attempt_id: str) -> DstackRun:
        run = await self.runs.find(attempt_id)
        if run is None:
            raise UnknownAttempt(f"dstack has no run {self.runs.name(attempt_id)}.")
        return run


@contextmanager
def _dstack_errors_as_vm_errors(vm: VMInstance) -> Iterator[None]:
    """Raise `VMUnreachable` when dstack fails, because the orchestrator handles both the same way."""
    try:
        yield
    except (VMUnreachable, UnknownAttempt):
        raise
    except WarmfrontError as error:
        raise VMUnreachable(f"VM {vm.id}: {error.message}") from error


def _event_without_verdict(outcome: RunOutcome) -> Failed:
    """Return the terminal event of a run that ended without a verdict."""
    if outcome is RunOutcome.TIMED_OUT:
        return Failed(
            verdict=Verdict.TIME_LIMIT_EXCEEDED,
            code="TIME_LIMIT",
            message="The run took longer than WARMFRONT_TASK_TIMEOUT allows.",
        )
    return cancelled_event()  # its owner did not cancel it, so the orchestrator retries
