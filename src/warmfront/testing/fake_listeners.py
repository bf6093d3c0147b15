"""Fake listeners on the VMs of a `FakeProvider`, with network outages and a watchdog.

They record every executed attempt, and attempts that overlapped, which must not happen. The source of a
submission determines the result of its kernel (see `FakeKernel`); nothing is compiled or run.
"""

from __future__ import annotations

import asyncio
import random
import re
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

from warmfront.errors import SlotFailed, UnknownAttempt, VMUnhealthy, VMUnreachable
from warmfront.gpus import CPU_NODE
from warmfront.listener.protocol import AttemptEvent, ExecuteRequest, ListenerHealth
from warmfront.value_class import dataclass
from warmfront.verdicts import SUCCESS, Endpoint, Verdict

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from warmfront.clock import Clock
    from warmfront.testing.fake_provider import FakeProvider, FakeVM
    from warmfront.vm import VMInstance

#: The timeout of a request to a listener that does not respond.
_CLIENT_TIMEOUT_S = 5.0
_CASES = 2

#: The detail of a VM that was ended by its watchdog.
WATCHDOG_EXPIRED = "no heartbeat received"


@dataclass(frozen=True, kw_only=True)
class FakeKernel:
    r"""The behavior of a submission, which is written in its source.

    Example:
        >>> FakeKernel(key="k1", verdict=Verdict.WRONG_ANSWER, work_s=2.0).source()
        '// k1 WRONG_ANSWER 2.000\n'
    """

    key: str  #: identifies the submission; unique within a test
    verdict: Verdict | None = None  #: its failure; None if it succeeds
    work_s: float = 5.0  #: how long an attempt takes

    def source(self) -> str:
        """Return the source to submit."""
        return f"// {self.key} {self.verdict or 'GOOD'} {self.work_s:.3f}\n"

    @classmethod
    def read(cls, source: str) -> FakeKernel:
        """Parse a source; any other text is a kernel that succeeds."""
        match = re.match(r"// (\S+) (\w+) ([\d.]+)\n", source)
        if match is None:
            return cls(key=source)
        verdict = None if match[2] == "GOOD" else Verdict(match[2])
        return cls(key=match[1], verdict=verdict, work_s=float(match[3]))


@dataclass(kw_only=True, eq=False)
class FakeRun:
    """One attempt, as seen by its listener."""

    attempt: ExecuteRequest
    kernel: FakeKernel
    vm_id: str
    started_at: float
    events: list[dict[str, Any]] = field(default_factory=list)
    ended_at: float | None = None
    end: str = ""  #: finished, cancelled, or lost with its VM
    task: asyncio.Task[None] | None = None
    is_cancelling: bool = False
    slot: int = 0  #: the slot of its VM


@dataclass(kw_only=True, eq=False)
class _ListenerState:
    """The listener of one VM."""

    vm: FakeVM
    ready_at: float
    heartbeat_at: float
    runs: dict[str, FakeRun] = field(default_factory=dict)
    slots: int
    failed_slots: set[int] = field(default_factory=set)
    reachable: bool = True
    silent: bool = False  #: while unreachable, requests time out instead of failing immediately
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def notify(self) -> None:
        self.changed.set()
        self.changed = asyncio.Event()

    def running(self) -> list[FakeRun]:
        return [run for run in self.runs.values() if run.ended_at is None]


@dataclass(frozen=True, kw_only=True)
class NetworkFaults:
    """Outages of the network between the control plane and healthy VMs."""

    outage: float = 0.0  #: the probability that a VM has an outage
    within_s: float = 120.0  #: an outage begins at most this long after the VM is ready
    lasts_s: float = 60.0  #: the longest duration of an outage


class FakeListeners:
    """A `ListenerClient` for the VMs of a `FakeProvider`.

    Args:
        provider: the provider of the VMs; its `on_ready` and `on_end` callbacks are set.
        clock: the clock of the VMs.
        seed: determines the outages.
        network: the probability and the duration of outages.
        watchdog_s: a VM ends itself after this long without a heartbeat.
        slot_failures: the probability that a slot of a VM with several slots fails for a while.

    Example:
        >>> listeners = FakeListeners(provider, clock=clock)
        >>> events = [event async for event in listeners.execute(vm, attempt)]
        >>> events[-1].fields["status"]
        'ACCEPTED'
    """

    def __init__(
        self,
        provider: FakeProvider,
        *,
        clock: Clock,
        seed: int = 0,
        network: NetworkFaults | None = None,
        watchdog_s: float = 180.0,
        slot_failures: float = 0.0,
    ) -> None:
        self._provider = provider
        self._clock = clock
        self._random = random.Random(f"listeners {seed}")  # noqa: S311 - must be reproducible
        self._network = network or NetworkFaults()
        self._watchdog_s = watchdog_s
        self._slot_failures = slot_failures
        self._listeners: dict[str, _ListenerState] = {}
        self.runs: list[FakeRun] = []  #: every attempt that was started, in order
        self.overlaps: list[str] = []  #: descriptions of attempts that overlapped, which must not happen
        #: Returns fields to override in a listener's report, such as `{"failure": "no /dev/kfd"}`.
        self.reports: Callable[[FakeVM], dict[str, Any]] = lambda _: {}
        #: Returns why the VM can no longer judge after an attempt; empty if it can.
        self.breaks: Callable[[FakeRun], str] = lambda _: ""
        #: Returns fields to add to the verdict of an attempt, such as its receipt.
        self.verdict_fields: Callable[[FakeRun], dict[str, Any]] = lambda _: {}
        self.broken_code = VMUnhealthy.code  #: the code of an attempt that breaks its VM
        provider.on_ready = self._on_ready
        provider.on_end = self._on_end

    async def execute(self, vm: VMInstance, attempt: ExecuteRequest) -> AsyncIterator[AttemptEvent]:
        """Start the attempt, or attach to it if it was started, and yield all of its events.

        Raises:
            VMUnreachable: the VM has ended or the network is down.
        """
        listener = await self._connect(vm)
        if attempt.id not in listener.runs:
            self._begin(listener, attempt)
        async for line in self._stream(listener, attempt.id, 0):
            yield line

    async def events(self, vm: VMInstance, attempt_id: str, after: int) -> AsyncIterator[AttemptEvent]:
        """Yield the events of an attempt after number `after`.

        Raises:
            UnknownAttempt: the attempt was not started on this VM.
            VMUnreachable: the VM has ended or the network is down.
        """
        listener = await self._connect(vm)
        if attempt_id not in listener.runs:
            raise UnknownAttempt
        async for line in self._stream(listener, attempt_id, after):
            yield line

    async def cancel(self, vm: VMInstance, attempt_id: str) -> None:
        """Cancel the attempt and wait until it has ended; an unknown attempt is not an error.

        Raises:
            VMUnreachable: the VM has ended or the network is down.
        """
        listener = await self._connect(vm)
        run = listener.runs.get(attempt_id)
        if run is None:
            return
        if run.ended_at is None and not run.is_cancelling:
            run.is_cancelling = True
            self._provider.spawn(self._stop(listener, run))
        while run.ended_at is None:
            await listener.changed.wait()
        await self._connect(vm)

    async def health(self, vm: VMInstance) -> ListenerHealth:
        """Return the state of the listener.

        Raises:
            VMUnreachable: the VM has ended or the network is down.
        """
        listener = await self._connect(vm)
        health = ListenerHealth(
            version="simulated",
            toolchain="cpu" if listener.vm.gpu == CPU_NODE else "simulated",
            gpu=listener.vm.gpu,
            simulated=listener.vm.gpu == CPU_NODE,
            running=tuple(run.attempt.id for run in listener.running()),
            uptime_s=self._clock.now() - listener.ready_at,
            slots=listener.slots - len(listener.failed_slots),
            failed_slots=tuple(sorted(listener.failed_slots)),
        )
        return replace(health, **self.reports(listener.vm))

    async def heartbeat(self, vm: VMInstance) -> ListenerHealth:
        """Reset the watchdog of the VM.

        Raises:
            VMUnreachable: the VM has ended or the network is down.
        """
        listener = await self._connect(vm)
        listener.heartbeat_at = self._clock.now()
        return await self.health(vm)

    async def close(self) -> None:
        """Do nothing: there is nothing to close."""

    def running(self) -> Iterator[FakeRun]:
        """Yield the attempts that are running on any VM."""
        for listener in self._listeners.values():
            yield from listener.running()

    async def _connect(self, vm: VMInstance) -> _ListenerState:
        listener = self._listeners.get(vm.id)
        if listener is not None and listener.reachable:
            return listener
        if listener is not None and listener.silent:
            await asyncio.sleep(_CLIENT_TIMEOUT_S)
        raise VMUnreachable(f"{vm.id} does not respond")

    @staticmethod
    async def _stream(listener: _ListenerState, attempt_id: str, after: int) -> AsyncIterator[AttemptEvent]:
        run = listener.runs[attempt_id]
        while True:
            changed = listener.changed
            if not listener.reachable:
                if not listener.silent:
                    raise VMUnreachable(f"the stream from {listener.vm.id} was interrupted")
            else:
                for seq, fields in list(enumerate(run.events, 1))[after:]:
                    yield AttemptEvent(seq=seq, fields=fields)
                    after = seq
                if run.ended_at is not None and after == len(run.events):
                    return
            if listener.changed is changed:
                await changed.wait()

    def _begin(self, listener: _ListenerState, attempt: ExecuteRequest) -> None:
        run = FakeRun(
            attempt=attempt,
            kernel=FakeKernel.read(attempt.source),
            vm_id=listener.vm.id,
            started_at=self._clock.now(),
            slot=attempt.slot or 0,
        )
        busy = {other.slot: other.attempt.id for other in listener.running()}
        if run.slot in busy:
            self.overlaps.append(
                f"slot {run.slot} of {listener.vm.id} runs {attempt.id} in addition to {busy[run.slot]}"
            )
        if any(other.attempt.id == attempt.id for other in self.runs):
            self.overlaps.append(f"attempt {attempt.id} was executed twice")
        if others := [other.attempt.id for other in self.running() if other.kernel.key == run.kernel.key]:
            self.overlaps.append(f"{run.kernel.key} runs twice at once: {attempt.id} beside {others}")
        listener.runs[attempt.id] = run
        self.runs.append(run)
        if len(listener.running()) > listener.slots:
            self.overlaps.append(f"{listener.vm.id} has more attempts than slots with {attempt.id}")
        run.task = self._provider.spawn(self._work(listener, run))

    async def _work(self, listener: _ListenerState, run: FakeRun) -> None:
        """Write the events of a judge, over the time that the kernel takes."""
        part_s = run.kernel.work_s / (_CASES + 2)
        self._append(listener, run, {"status": "COMPILING", "compiler": "none", "toolchain": "simulated"})
        await asyncio.sleep(part_s)
        if run.kernel.verdict is Verdict.COMPILE_ERROR:
            self._finish(listener, run, _verdict_event(run), "finished")
            return
        self._append(listener, run, {"status": "CHECKING", "total_tests": _CASES, "compile_s": part_s})
        for test in range(1, _CASES + 1):
            await asyncio.sleep(part_s)
            result = {"test_id": test, "name": f"case {test}", "status": "PASSED"}
            self._append(listener, run, {"status": "TEST_RESULT", "result": result, "total_tests": _CASES})
        await asyncio.sleep(part_s)
        reason = self.breaks(run)
        simulated = {"simulated": True} if listener.vm.gpu == CPU_NODE else {}
        fields = {**_verdict_event(run), **simulated, **self.verdict_fields(run)}
        fields = _broken_event(self.broken_code, reason) if reason else fields
        self._finish(listener, run, fields, "finished")

    async def _stop(self, listener: _ListenerState, run: FakeRun) -> None:
        await asyncio.sleep(self._random.random())
        if run.ended_at is None:
            self._finish(listener, run, _failure_event(Verdict.CANCELLED), "cancelled")

    @staticmethod
    def _append(listener: _ListenerState, run: FakeRun, fields: dict[str, Any]) -> None:
        run.events.append(fields)
        listener.notify()

    def _finish(
        self, listener: _ListenerState, run: FakeRun, fields: dict[str, Any] | None, end: str
    ) -> None:
        if fields is not None:
            run.events.append(fields)
        run.ended_at = self._clock.now()
        run.end = end
        if run.task is not None and run.task is not asyncio.current_task():
            run.task.cancel()
        listener.notify()

    def _on_ready(self, vm: FakeVM) -> None:
        now = self._clock.now()
        slots = self._provider.slots(vm.gpu, vm.gpu_count)
        listener = _ListenerState(vm=vm, ready_at=now, heartbeat_at=now, slots=slots)
        self._listeners[vm.id] = listener
        self._provider.spawn(self._watchdog(listener))
        if self._random.random() < self._network.outage:
            self._provider.spawn(self._outage(listener))
        if self._slot_failures and slots > 1:
            for slot in range(1, slots):  # the first slot always works
                if self._random.random() < self._slot_failures:
                    self._provider.spawn(self._fail_slot(listener, slot))

    def _on_end(self, vm: FakeVM) -> None:
        listener = self._listeners.get(vm.id)
        if listener is None:
            return
        listener.reachable = False
        listener.silent = self._random.random() < 0.5
        for run in listener.running():
            self._finish(listener, run, None, "lost with its VM")
        listener.notify()

    async def _watchdog(self, listener: _ListenerState) -> None:
        """End the VM when no heartbeat was received for `watchdog_s`."""
        while listener.vm.ended_at is None:
            left_s = listener.heartbeat_at + self._watchdog_s - self._clock.now()
            if left_s <= 0:
                self._provider.end(listener.vm, WATCHDOG_EXPIRED)
                return
            await asyncio.sleep(left_s)

    async def _fail_slot(self, listener: _ListenerState, slot: int) -> None:
        """Make a slot fail, which loses its attempt, and recover later."""
        await asyncio.sleep(self._random.random() * 120)
        listener.failed_slots.add(slot)
        for run in listener.running():
            if run.slot == slot:
                self._finish(
                    listener, run, _broken_event(SlotFailed.code, f"Slot {slot} failed."), "finished"
                )
        await asyncio.sleep(self._random.random() * 60)
        listener.failed_slots.discard(slot)

    async def _outage(self, listener: _ListenerState) -> None:
        await asyncio.sleep(self._random.random() * self._network.within_s)
        if listener.vm.ended_at is not None:
            return
        listener.reachable = False
        listener.silent = self._random.random() < 0.5
        listener.notify()
        await asyncio.sleep(self._random.random() * self._network.lasts_s)
        if listener.vm.ended_at is None:
            listener.reachable = True
            listener.notify()


def _verdict_event(run: FakeRun) -> dict[str, Any]:
    if run.kernel.verdict is not None:
        return _failure_event(run.kernel.verdict)
    verdict = SUCCESS[Endpoint(run.attempt.endpoint)]
    return {
        "status": str(verdict),
        "test_results": [],
        "passed_tests": _CASES,
        "total_tests": _CASES,
        "avg_runtime_ms": 1.5,
        "avg_ci": [1.47, 1.53],
        "noisy": False,
        "avg_gflops": 100.0,
        "simulated": False,
    }


def _broken_event(code: str, reason: str) -> dict[str, Any]:
    return {**_failure_event(Verdict.ERROR), "code": code, "message": reason}


def _failure_event(verdict: Verdict) -> dict[str, Any]:
    return {
        "status": str(verdict),
        "code": str(verdict),
        "message": "requested by the source",
        "hint": "",
        "details": {},
    }
