"""Listeners of simulated VMs: attempts that go on when nobody listens, and machines that are out of reach.

It implements `ListenerClient`, and records what was really executed, when, and what ran at the same time.
What a kernel does is written in its source, see `Kernel`; nothing is compiled and nothing is run.
"""

from __future__ import annotations

import asyncio
import random
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from warmfront.errors import UnknownAttempt, VMUnreachable
from warmfront.listener.protocol import AttemptEvent, ExecuteRequest, ListenerHealth
from warmfront.verdicts import SUCCESS, Endpoint, Verdict

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from warmfront.clock import Clock
    from warmfront.testing.fake_provider import FakeProvider, FakeVM
    from warmfront.vm import VMInstance

#: How long a client waits for a machine that swallows everything.
_CLIENT_TIMEOUT_S = 5.0
_TESTS = 2

#: Why a machine ended whose dead-man acted.
UNHEARD = "no heartbeat came"


@dataclass(frozen=True, kw_only=True)
class Kernel:
    """What a simulated kernel does. Its source says so, and so does what is read from it."""

    key: str  #: whose it is: every submission of a world has its own
    verdict: Verdict | None = None  #: how it fails; None: it does not
    work_s: float = 5.0  #: how long it takes, all in all

    def source(self) -> str:
        """The text to submit."""
        return f"// {self.key} {self.verdict or 'GOOD'} {self.work_s:.3f}\n"

    @classmethod
    def read(cls, source: str) -> Kernel:
        """The kernel of a source; any text that says nothing is a good kernel."""
        match = re.match(r"// (\S+) (\w+) ([\d.]+)\n", source)
        if match is None:
            return cls(key=source)
        verdict = None if match[2] == "GOOD" else Verdict(match[2])
        return cls(key=match[1], verdict=verdict, work_s=float(match[3]))


@dataclass(kw_only=True, eq=False)
class Run:
    """One attempt, as the machine that it runs on sees it."""

    attempt: ExecuteRequest
    kernel: Kernel
    vm_id: str
    started_at: float
    lines: list[dict[str, Any]] = field(default_factory=list)
    ended_at: float | None = None
    end: str = ""  #: finished, cancelled, or lost with its VM
    task: asyncio.Task[None] | None = None
    cancels: bool = False  #: its end was asked for


@dataclass(kw_only=True, eq=False)
class _Machine:
    vm: FakeVM
    ready_at: float
    heard_at: float
    runs: dict[str, Run] = field(default_factory=dict)
    gpu: asyncio.Lock = field(default_factory=asyncio.Lock)
    reachable: bool = True
    silent: bool = False  #: what does not get through is swallowed, not refused
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def tell(self) -> None:
        self.changed.set()
        self.changed = asyncio.Event()

    def running(self) -> list[Run]:
        return [run for run in self.runs.values() if run.ended_at is None]


@dataclass(frozen=True, kw_only=True)
class Reach:
    """How often a machine is out of reach for a while, though it is well."""

    outage: float = 0.0  #: share of the machines that it happens to
    within_s: float = 120.0  #: after they are ready
    lasts_s: float = 60.0  #: at most


class FakeListeners:
    """A `ListenerClient` to the machines of a `FakeProvider`."""

    def __init__(
        self,
        provider: FakeProvider,
        *,
        clock: Clock,
        seed: int = 0,
        reach: Reach | None = None,
        watchdog_s: float = 180.0,
    ) -> None:
        self._provider = provider
        self._clock = clock
        self._random = random.Random(f"listeners {seed}")  # noqa: S311 - chance that can be had again
        self._reach = reach or Reach()
        self._watchdog_s = watchdog_s
        self._machines: dict[str, _Machine] = {}
        self.runs: list[Run] = []  #: every attempt that was really begun, in order
        self.overlaps: list[str] = []  #: what ran at the same time and must not
        provider.on_ready = self._on_ready
        provider.on_end = self._on_end

    async def execute(self, vm: VMInstance, attempt: ExecuteRequest) -> AsyncIterator[AttemptEvent]:
        """Start the attempt, or re-attach to it; all of its lines."""
        machine = await self._reached(vm)
        if attempt.id not in machine.runs:
            self._begin(machine, attempt)
        async for line in self._lines(machine, attempt.id, 0):
            yield line

    async def events(self, vm: VMInstance, attempt_id: str, after: int) -> AsyncIterator[AttemptEvent]:
        """The lines after `after`."""
        machine = await self._reached(vm)
        if attempt_id not in machine.runs:
            raise UnknownAttempt
        async for line in self._lines(machine, attempt_id, after):
            yield line

    async def cancel(self, vm: VMInstance, attempt_id: str) -> None:
        """Stop it, and wait until it is gone."""
        machine = await self._reached(vm)
        run = machine.runs.get(attempt_id)
        if run is None:
            return
        if run.ended_at is None and not run.cancels:
            run.cancels = True
            self._provider.spawn(self._stop(machine, run))
        while run.ended_at is None:
            await machine.changed.wait()
        await self._reached(vm)

    async def health(self, vm: VMInstance) -> ListenerHealth:
        """Whether it is there."""
        machine = await self._reached(vm)
        return ListenerHealth(
            version="simulated",
            toolchain="simulated",
            gpu=machine.vm.gpu,
            simulated=False,
            running=tuple(run.attempt.id for run in machine.running()),
            uptime_s=self._clock.now() - machine.ready_at,
        )

    async def heartbeat(self, vm: VMInstance) -> ListenerHealth:
        """Keep the dead-man from acting."""
        machine = await self._reached(vm)
        machine.heard_at = self._clock.now()
        return await self.health(vm)

    async def close(self) -> None:
        """Nothing to close."""

    def running(self) -> Iterator[Run]:
        """All that runs now, on any machine."""
        for machine in self._machines.values():
            yield from machine.running()

    async def _reached(self, vm: VMInstance) -> _Machine:
        machine = self._machines.get(vm.id)
        if machine is not None and machine.reachable:
            return machine
        if machine is not None and machine.silent:
            await asyncio.sleep(_CLIENT_TIMEOUT_S)
        raise VMUnreachable(f"{vm.id} does not answer")

    @staticmethod
    async def _lines(machine: _Machine, attempt_id: str, after: int) -> AsyncIterator[AttemptEvent]:
        run = machine.runs[attempt_id]
        while True:
            changed = machine.changed
            if not machine.reachable:
                if not machine.silent:
                    raise VMUnreachable(f"the stream from {machine.vm.id} broke off")
            else:
                for seq, fields in list(enumerate(run.lines, 1))[after:]:
                    yield AttemptEvent(seq=seq, fields=fields)
                    after = seq
                if run.ended_at is not None and after == len(run.lines):
                    return
            if machine.changed is changed:
                await changed.wait()

    def _begin(self, machine: _Machine, attempt: ExecuteRequest) -> None:
        run = Run(
            attempt=attempt,
            kernel=Kernel.read(attempt.source),
            vm_id=machine.vm.id,
            started_at=self._clock.now(),
        )
        if any(other.attempt.id == attempt.id for other in self.runs):
            self.overlaps.append(f"attempt {attempt.id} was executed twice")
        if others := [other.attempt.id for other in self.running() if other.kernel.key == run.kernel.key]:
            self.overlaps.append(f"{run.kernel.key} runs twice at once: {attempt.id} beside {others}")
        machine.runs[attempt.id] = run
        self.runs.append(run)
        if len(machine.running()) > self._provider.slots(machine.vm.gpu):
            self.overlaps.append(f"{machine.vm.id} has more attempts than slots with {attempt.id}")
        run.task = self._provider.spawn(self._work(machine, run))

    async def _work(self, machine: _Machine, run: Run) -> None:
        """What the judge does, in the time that it takes."""
        part_s = run.kernel.work_s / (_TESTS + 2)
        self._say(machine, run, {"status": "COMPILING", "compiler": "none", "toolchain": "simulated"})
        await asyncio.sleep(part_s)
        if run.kernel.verdict is Verdict.COMPILE_ERROR:
            self._finish(machine, run, _last_line(run), "finished")
            return
        async with machine.gpu:
            self._say(machine, run, {"status": "CHECKING", "total_tests": _TESTS, "compile_s": part_s})
            for test in range(1, _TESTS + 1):
                await asyncio.sleep(part_s)
                result = {"test_id": test, "name": f"case {test}", "status": "PASSED"}
                self._say(machine, run, {"status": "TEST_RESULT", "result": result, "total_tests": _TESTS})
            await asyncio.sleep(part_s)
            self._finish(machine, run, _last_line(run), "finished")

    async def _stop(self, machine: _Machine, run: Run) -> None:
        await asyncio.sleep(self._random.random())
        if run.ended_at is None:
            self._finish(machine, run, _failed(Verdict.CANCELLED), "cancelled")

    @staticmethod
    def _say(machine: _Machine, run: Run, fields: dict[str, Any]) -> None:
        run.lines.append(fields)
        machine.tell()

    def _finish(self, machine: _Machine, run: Run, fields: dict[str, Any] | None, end: str) -> None:
        if fields is not None:
            run.lines.append(fields)
        run.ended_at = self._clock.now()
        run.end = end
        if run.task is not None and run.task is not asyncio.current_task():
            run.task.cancel()
        machine.tell()

    def _on_ready(self, vm: FakeVM) -> None:
        now = self._clock.now()
        machine = _Machine(vm=vm, ready_at=now, heard_at=now)
        self._machines[vm.id] = machine
        self._provider.spawn(self._watch(machine))
        if self._random.random() < self._reach.outage:
            self._provider.spawn(self._outage(machine))

    def _on_end(self, vm: FakeVM) -> None:
        machine = self._machines.get(vm.id)
        if machine is None:
            return
        machine.reachable = False
        machine.silent = self._random.random() < 0.5
        for run in machine.running():
            self._finish(machine, run, None, "lost with its VM")
        machine.tell()

    async def _watch(self, machine: _Machine) -> None:
        """The dead-man: a machine that nobody cares for ends itself."""
        while machine.vm.ended_at is None:
            left_s = machine.heard_at + self._watchdog_s - self._clock.now()
            if left_s <= 0:
                self._provider.end(machine.vm, UNHEARD)
                return
            await asyncio.sleep(left_s)

    async def _outage(self, machine: _Machine) -> None:
        await asyncio.sleep(self._random.random() * self._reach.within_s)
        if machine.vm.ended_at is not None:
            return
        machine.reachable = False
        machine.silent = self._random.random() < 0.5
        machine.tell()
        await asyncio.sleep(self._random.random() * self._reach.lasts_s)
        if machine.vm.ended_at is None:
            machine.reachable = True
            machine.tell()


def _last_line(run: Run) -> dict[str, Any]:
    if run.kernel.verdict is not None:
        return _failed(run.kernel.verdict)
    verdict = SUCCESS[Endpoint(run.attempt.endpoint)]
    return {
        "status": str(verdict),
        "test_results": [],
        "passed_tests": _TESTS,
        "total_tests": _TESTS,
        "avg_runtime_ms": 1.5,
        "avg_gflops": 100.0,
        "simulated": False,
    }


def _failed(verdict: Verdict) -> dict[str, Any]:
    return {
        "status": str(verdict),
        "code": str(verdict),
        "message": "as its source says",
        "hint": "",
        "details": {},
    }
