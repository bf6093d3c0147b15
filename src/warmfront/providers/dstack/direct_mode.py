"""Direct mode: a VM without a listener, on which every attempt is a dstack run of its own.

It looks like any VM to the orchestrator: `DirectProvider` has it booted by a run that does nothing, and
`DirectListeners` speaks to it by submitting runs and reading their output. What an event says is believed
only if the judge signed it.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
import time
from contextlib import contextmanager
from dataclasses import asdict, dataclass
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
from warmfront.providers.dstack.configuration import run_name, submission_task
from warmfront.providers.dstack.pool_mode import DstackProvider, RunSnapshot, pauses
from warmfront.providers.dstack.run_outcome import RunOutcome, outcome_of
from warmfront.verdicts import Verdict

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from warmfront.listener.protocol import ExecuteRequest
    from warmfront.providers.dstack.client import DstackClient
    from warmfront.providers.dstack.resources import DstackInstance, DstackRun
    from warmfront.settings import Settings
    from warmfront.vm import VMInstance

_SCHEME = "dstack://"
_ATTEMPT_FILE = "attempt.json"
#: The names of the runs that are attempts.
_ATTEMPTS = run_name("att_")


class DirectProvider(DstackProvider):
    """VMs of a dstack fleet that idle between runs; its `idle_duration` must be longer than ours."""

    def task(self, vm_id: str, token: str) -> dict[str, Any]:
        """A run that brings a VM up and leaves it."""
        del token  # nobody listens there
        return submission_task(self.settings, name=run_name(vm_id), commands=["true"])

    def has_failed(self, seen: RunSnapshot) -> bool:
        """Its run is expected to end; what must not is the VM."""
        return seen.is_over if seen.outcome is RunOutcome.DONE else seen.outcome.is_final

    async def reach(self, seen: RunSnapshot, *, doubt: bool) -> None:
        """There is no tunnel to a VM, only to runs."""

    async def clear(self, seen: RunSnapshot) -> None:
        """Stop what runs on it: dstack deletes no VM that is in use."""
        for run in await self.client.runs(_ATTEMPTS):
            if seen.stay is not None and run.hostname == seen.stay.instance.hostname:
                await self.client.stop(run.name)

    def lease(self, vm_id: str, seen: RunSnapshot) -> Lease:
        """Ready is a VM that its first run has left."""
        if seen.outcome is RunOutcome.DONE and not seen.is_over and seen.stay is not None:
            instance = seen.stay.instance
            address = f"{_SCHEME}{instance.fleet}/{instance.num}"
            return Lease(vm_id=vm_id, phase=Phase.READY, started_at=seen.stay.since, address=address)
        return super().lease(vm_id, seen)

    def listeners(self, key_of: Callable[[str], str]) -> DirectListeners:
        """What speaks to these VMs."""
        return DirectListeners(client=self.client, settings=self.settings, key_of=key_of)


@dataclass(kw_only=True)
class DirectListeners:
    """Speaks to VMs by dstack runs."""

    client: DstackClient
    settings: Settings
    key_of: Callable[[str], str]  #: the key of an attempt, the same whenever it is asked

    async def execute(self, vm: VMInstance, attempt: ExecuteRequest) -> AsyncIterator[AttemptEvent]:
        """Submit a run for the attempt, or follow the one that it has."""
        name = run_name(attempt.id)
        with _reaching(vm):
            if await self.client.run(name) is None:
                await self._submit(vm, attempt)
        async for progress in self._follow(vm, attempt.id, after=0):
            yield progress

    async def events(self, vm: VMInstance, attempt_id: str, after: int) -> AsyncIterator[AttemptEvent]:
        """Follow it again: its output is read from the beginning, and the events after `after` are taken."""
        async for progress in self._follow(vm, attempt_id, after=after):
            yield progress

    async def cancel(self, vm: VMInstance, attempt_id: str) -> None:
        """Stop its run; returns when that is over, and with it its boxes.

        dstack may forget a stop that comes while it is at work on the run: it is asked again then.
        """
        name = run_name(attempt_id)
        with _reaching(vm):
            for pause_s in pauses():
                run = await self.client.run(name)
                if run is None or outcome_of(run).is_final:
                    return
                if outcome_of(run) is not RunOutcome.STOPPING:
                    await self.client.stop(name)
                await asyncio.sleep(pause_s)

    async def health(self, vm: VMInstance) -> ListenerHealth:
        """Whether dstack has the VM, and can reach it."""
        with _reaching(vm):
            await self._instance(vm)
        uptime_s = time.time() - (vm.started_at or vm.created_at)
        return ListenerHealth(
            version=__version__, toolchain="", gpu=vm.gpu, simulated=False, running=(), uptime_s=uptime_s
        )

    async def heartbeat(self, vm: VMInstance) -> ListenerHealth:
        """The same: nobody there waits for a sign of ours."""
        return await self.health(vm)

    async def close(self) -> None:
        """The client is the provider's to close."""

    async def _submit(self, vm: VMInstance, attempt: ExecuteRequest) -> None:
        packed = await asyncio.to_thread(listener_bundle.pack, self.settings.cache_dir)
        instance = await self._free(vm)
        with tempfile.TemporaryDirectory(prefix="warmfront-attempt-") as folder:
            file = Path(folder) / _ATTEMPT_FILE
            file.write_text(json.dumps(asdict(attempt)))
            task = submission_task(
                self.settings,
                name=run_name(attempt.id),
                commands=[f"exec {' '.join(listener_bundle.LISTENER)} --once {_ATTEMPT_FILE}"],
                environ={KEY_VARIABLE: self.key_of(attempt.id)},
                files=[f"{packed}:{listener_bundle.FOLDER}", f"{file}:{_ATTEMPT_FILE}"],
            )
            # On this VM and no other: its time is what the submission pays for.
            place = {"fleet": instance.fleet, "instance": instance.num}
            await self.client.apply_task({**task, "instances": [place]})

    async def _free(self, vm: VMInstance) -> DstackInstance:
        """The VM when dstack is done with the run before, whose verdict we had long ago."""
        for pause_s in pauses():
            instance = await self._instance(vm)
            if instance.status == "idle":
                return instance
            await asyncio.sleep(pause_s)
        raise AssertionError  # pauses have no end

    async def _instance(self, vm: VMInstance) -> DstackInstance:
        if vm.address is None:
            raise VMUnreachable(f"{vm.id} has no address yet.")
        fleet, _, num = vm.address.removeprefix(_SCHEME).partition("/")
        for each in await self.client.instances(only_active=True):
            if (each.fleet, str(each.num)) == (fleet, num) and not each.is_unreachable:
                return each
        raise VMUnreachable(f"{vm.id}: dstack has no such VM, or cannot reach it.")

    async def _follow(self, vm: VMInstance, attempt_id: str, *, after: int) -> AsyncIterator[AttemptEvent]:
        """From the runner while it runs, then from dstack's record; an end without a verdict is told too."""
        name = run_name(attempt_id)
        reader = SignedEventReader(self.key_of(attempt_id), attempt_id, after=after)
        with _reaching(vm):
            if await self._until_it_runs(name) is RunOutcome.RUNNING:
                async for progress in self._live(name, reader):
                    yield progress
            for pause_s in pauses():
                if reader.is_over:
                    return
                outcome = outcome_of(await self._run(name))  # before its output, which is whole then
                reader.rewind()
                for progress in reader.feed(await self.client.logs(name)):
                    yield progress
                if outcome is RunOutcome.LOST and not reader.is_over:
                    raise VMUnreachable(f"{vm.id} is gone: run {name} is {outcome.value}.")
                if outcome.is_final and not reader.is_over:
                    yield AttemptEvent(seq=reader.seen + 1, fields=_without_verdict(outcome).fields())
                    return
                await asyncio.sleep(0.0 if reader.is_over else pause_s)

    async def _until_it_runs(self, name: str) -> RunOutcome:
        waits = (RunOutcome.QUEUED, RunOutcome.BOOTING, RunOutcome.PULLING)
        for pause_s in pauses():
            outcome = outcome_of(await self._run(name))
            if outcome not in waits:
                return outcome
            await asyncio.sleep(pause_s)
        raise AssertionError  # pauses have no end

    async def _live(self, name: str, reader: SignedEventReader) -> AsyncIterator[AttemptEvent]:
        """Nothing is lost where this fails: dstack's record has it all, only later."""
        try:
            address = await self.client.attach(name, live_logs.RUNNER_PORT)
        except WarmfrontError:
            return
        try:
            async for data in live_logs.follow(address):
                for progress in reader.feed(data):
                    yield progress
                if reader.is_over:
                    return
        finally:
            await self.client.detach(name)

    async def _run(self, name: str) -> DstackRun:
        run = await self.client.run(name)
        if run is None:
            raise UnknownAttempt(f"dstack has no run {name}.")
        return run


@contextmanager
def _reaching(vm: VMInstance) -> Iterator[None]:
    """A dstack server that does not answer is to the orchestrator a VM that does not."""
    try:
        yield
    except (VMUnreachable, UnknownAttempt):
        raise
    except WarmfrontError as error:
        raise VMUnreachable(f"{vm.id}: {error.message}") from error


def _without_verdict(outcome: RunOutcome) -> Failed:
    """A run that ended, and whose judge said nothing last."""
    if outcome is RunOutcome.TIMED_OUT:
        return Failed(
            verdict=Verdict.TIME_LIMIT_EXCEEDED,
            code="TIME_LIMIT",
            message="The run took longer than WARMFRONT_TASK_TIMEOUT allows.",
        )
    return cancelled_event()  # by nobody who owns it, so that it is tried again
