"""A whole control plane in virtual time: authors, orchestrator, cloud, VMs and store, driven by a seed.

It crashes and restarts the orchestrator, checks the invariants at every step and at the end, and reports how
to reproduce a failure.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import random
import traceback
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from tests.support.world.author import Author, OrchestratorPort, RunningService
from tests.support.world.faults import ControlPlaneProcess, FaultInjector, Faults
from tests.support.world.faulty_ports import FaultyDatabase, FaultyListeners, FaultyProvider
from tests.support.world.invariants import Invariants, ObservedOrchestrator
from tests.support.world.scenario import PlannedSubmission, Scenario
from warmfront.errors import InfrastructureError, ToolchainFailed
from warmfront.events import Xray
from warmfront.orchestrator.event_log import EventBus, EventLog
from warmfront.simulate.virtual_time import VirtualClock, VirtualLoop, run_virtual
from warmfront.store.memory_database import MemoryDatabase
from warmfront.store.store import Store
from warmfront.testing.fake_listeners import FakeKernel, FakeListeners
from warmfront.testing.fake_provider import FakeProvider
from warmfront.verdicts import Verdict

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from warmfront.clock import Clock
    from warmfront.listener.protocol import ListenerClient
    from warmfront.providers.base import Provider
    from warmfront.settings import Settings
    from warmfront.submission import Submission

#: A world must become quiescent within this time after its last fault.
_QUIESCENT_WITHIN_S = 3000.0
#: The number of trace steps in a failure message.
_SHOWN = 60


class Violation(AssertionError):
    """An invariant is violated."""


class WorldOrchestrator(OrchestratorPort, ObservedOrchestrator, Protocol):
    """The orchestrator as a world uses it."""

    async def start(self) -> None:
        """Continue from the state in the store."""

    async def stop(self) -> None:
        """Stop."""


@dataclass(frozen=True, kw_only=True)
class Ports:
    """The arguments of an orchestrator, by the names of its parameters."""

    store: Store
    provider: Provider
    listeners: ListenerClient
    xray: Callable[[Submission, str], Awaitable[Xray]]
    settings: Settings
    clock: Clock
    token_for: Callable[[str], str]
    new_id: Callable[[str], str]
    send_alert: Callable[[dict[str, Any]], Awaitable[None]]


@dataclass(frozen=True, kw_only=True)
class WorldResult:
    """The result of a world."""

    seed: int
    scenario: str
    steps: int
    seconds: float  #: of virtual time
    crashes: int
    verdicts: tuple[str, ...]
    trace: tuple[str, ...]


def simulate(
    seed: int,
    build: Callable[[Ports], WorldOrchestrator] | None = None,
    scenario: Scenario | None = None,
    *,
    shown: int = _SHOWN,
) -> WorldResult:
    """Run the world of a seed; raises `Violation` with the last steps if an invariant is violated."""
    loop = VirtualLoop()
    world = World(seed, scenario or Scenario.of(seed), build=build or _real_orchestrator, loop=loop)
    loop.timer_delay_s = world.faults.timer_delay_s
    try:
        with _logged(world):
            run_virtual(world.run(), loop=loop)
    except BaseException as error:
        steps = "\n".join(world.faults.trace[-shown:])
        message = f"seed {seed} ({world.scenario.name}), step {world.invariants.steps}: {error}"
        message += f"\nReplay it: python -m tests.support.world {seed}"
        if isinstance(error, Exception):
            raise Violation(f"{message}\n{steps}") from error
        raise
    finally:
        world.database.dispose()
    return world.result()


class World:
    """All parts of one simulation."""

    def __init__(
        self, seed: int, scenario: Scenario, *, build: Callable[[Ports], WorldOrchestrator], loop: VirtualLoop
    ) -> None:
        self.seed = seed
        self.scenario = scenario
        self.clock = VirtualClock(loop)
        self.faults = Faults(
            seed, scenario.rates, clock=self.clock, until_s=scenario.faulty_s, crashes=scenario.crashes
        )
        self.database = MemoryDatabase()
        cloud_clock = VirtualClock(loop, self.clock.now() + scenario.skew_s)
        self.provider = FakeProvider(
            clock=cloud_clock,
            seed=seed,
            faults=scenario.provider_faults,
            slots=scenario.slots,
            gpu_counts=scenario.gpu_counts,
            spot_price_ratio=scenario.spot_price_ratio,
            max_cpu_nodes=scenario.max_cpu_nodes,
            offers=scenario.offers,
        )
        self.listeners = FakeListeners(
            self.provider,
            clock=self.clock,
            seed=seed,
            network=scenario.network,
            watchdog_s=scenario.settings.watchdog_s,
            slot_failures=scenario.slot_failures,
        )
        self.invariants = Invariants(
            scenario=scenario,
            provider=self.provider,
            listeners=self.listeners,
            database=self.database,
            clock=self.clock,
            report_violation=self.report_violation,
        )
        self.authors = [self._author(planned) for planned in scenario.planned_submissions]
        self._build = build
        self._loop = loop
        self._rng = random.Random(f"world {seed}")  # noqa: S311 - must be reproducible
        self._ids = itertools.count(1)
        self._failure: asyncio.Future[None] | None = None
        self._starts = 0
        self._process: ControlPlaneProcess | None = None
        self._service: RunningService | None = None
        self._orchestrator: WorldOrchestrator | None = None
        self._is_up = asyncio.Event()

    async def run(self) -> None:
        """Run from the first start to the end of the last VM."""
        self._failure = asyncio.get_running_loop().create_future()
        everything = asyncio.ensure_future(self._run_all())
        await asyncio.wait(
            [everything, self._failure],
            timeout=self.scenario.faulty_s + _QUIESCENT_WITHIN_S,
            return_when=asyncio.FIRST_COMPLETED,
        )
        if not everything.done() and not self._failure.done():
            self._check_quiescence()
            self.report_violation("it does not become quiescent")
        everything.cancel()
        if self._failure.done():
            self._failure.result()
        everything.result()

    def result(self) -> WorldResult:
        """Return the result."""
        return WorldResult(
            seed=self.seed,
            scenario=self.scenario.name,
            steps=self.invariants.steps,
            seconds=self._loop.time(),
            crashes=self._starts - 1,
            verdicts=tuple(author.events[-1].status for author in self.authors if author.events),
            trace=tuple(self.faults.trace),
        )

    async def _run_all(self) -> None:
        for number in range(self.scenario.zombies):
            self.provider.add_unknown_vm(f"zombie{number}")
        keeper = asyncio.ensure_future(self._keep_running())
        killer = asyncio.ensure_future(self._kill())
        await asyncio.gather(*(author.live() for author in self.authors))
        await self._wait_until_quiescent()
        killer.cancel()
        self.faults.stop()
        service = await self._up()
        keeper.cancel()
        self._check_quiescence()
        await service.process.call(self._stop())

    def _check_quiescence(self) -> None:
        self.invariants.check_quiescent(
            self.authors, len(self._orchestrator.pool()) if self._orchestrator else 0
        )

    async def _wait_until_quiescent(self) -> None:
        """Wait until every submission has its verdict and every VM has ended."""
        waits = "SELECT count(*) FROM submissions WHERE state != 'DONE'"
        lives = "SELECT count(*) FROM vms WHERE state NOT IN ('TERMINATED', 'FAILED')"
        while (  # noqa: ASYNC110 - the orchestrator must not signal to the world
            self.provider.alive()
            or self.database.count(waits)
            or self.database.count(lives)
            or (self._orchestrator and self._orchestrator.pool())
        ):
            await asyncio.sleep(5.0)

    # Processes of the control plane.

    async def _keep_running(self) -> None:
        """Start the control plane, and restart it after a crash."""
        while True:
            self._process = ControlPlaneProcess(self._starts)
            self._starts += 1
            self.faults.note(f"#{self._process.number} START")
            try:
                await self._process.call(self._start(self._process))
            except (ConnectionError, InfrastructureError) as error:
                self.faults.note(f"#{self._process.number} did not start: {error}")
                self._process.crash()
            await asyncio.wait([self._process.died])  # awaited directly, it would be cancelled with us
            self._is_up.clear()
            self._orchestrator = self._service = None
            await asyncio.sleep(0.5 + 10 * self._rng.random() ** 2)

    async def _start(self, process: ControlPlaneProcess) -> None:
        injector = FaultInjector(process, self.faults, lambda: self.invariants.after_step(self._orchestrator))
        bus = EventBus()
        store = Store(FaultyDatabase(self.database, injector), bus)
        log = EventLog(store, bus)
        orchestrator = self._build(
            Ports(
                store=store,
                provider=FaultyProvider(self.provider, injector),
                listeners=FaultyListeners(self.listeners, injector),
                xray=lambda submission, code: _xray(injector, submission, code),
                settings=self.scenario.settings,
                clock=self.clock,
                token_for=lambda vm_id: f"token of {vm_id}",
                new_id=self._new_id,
                send_alert=self._alert,
            )
        )
        await orchestrator.start()
        self._orchestrator = orchestrator
        self._service = RunningService(process=process, orchestrator=orchestrator, log=log)
        self._is_up.set()

    async def _stop(self) -> None:
        if self._orchestrator is not None:
            await self._orchestrator.stop()

    async def _kill(self) -> None:
        """Kill or restart the control plane at set times."""
        times = [(at, True) for at in self.scenario.kills_at_s]
        times += [(at, False) for at in self.scenario.restarts_at_s]
        for at_s, hard in sorted(times):
            await asyncio.sleep(max(0.0, at_s - self._loop.time()))
            process = self._process
            if process is None or not process.alive:
                continue
            if not hard:
                self.faults.note(f"#{process.number} STOP")
                with contextlib.suppress(ConnectionError):
                    await process.call(self._stop())
            self.faults.note(f"#{process.number} KILL")
            process.crash()

    async def _up(self) -> RunningService:
        while self._service is None or not self._service.process.alive:
            await asyncio.sleep(0)
            await self._is_up.wait()
        return self._service

    # Arguments of the parts.

    def _author(self, planned: PlannedSubmission) -> Author:
        return Author(
            planned=planned,
            clock=self.clock,
            up=self._up,
            new_id=self._new_id,
            report_violation=self.report_violation,
            still_running=lambda key: any(run.kernel.key == key for run in self.listeners.running()),
            rng=random.Random(f"author {self.seed} {planned.kernel.key}"),  # noqa: S311 - must be reproducible
        )

    def _new_id(self, kind: str) -> str:
        return f"{kind}{next(self._ids)}"

    async def _alert(self, facts: dict[str, Any]) -> None:
        self.faults.note(f"ALERT {facts}")
        self.invariants.alerts += 1

    def report_violation(self, what: str) -> None:
        """End the world with a violation."""
        if self._failure is not None and not self._failure.done():
            self.faults.note(f"VIOLATION {what}")
            self._failure.set_exception(Violation(what))


async def _xray(injector: FaultInjector, record: Submission, code: str) -> Xray:
    """Simulate an X-ray that detects compile errors of kernels whose key ends in an even digit."""
    fault = await injector.before("xray", record.id, ToolchainFailed)
    await asyncio.sleep(0.2)
    await injector.after(fault, "xray", record.id, ToolchainFailed)
    kernel = FakeKernel.read(code)
    fails = kernel.verdict is Verdict.COMPILE_ERROR
    detected = kernel.key[-1] in "02468" or record.endpoint == "xray"
    return Xray(
        arch="gfx942",
        gpu="MI300X",
        compiler="simulated",
        compiles=None if fails and not detected else not fails,
        kernels=[],
        findings=[],
        message="a simulated compile error" if fails else "",
    )


def _real_orchestrator(ports: Ports) -> WorldOrchestrator:
    from warmfront.orchestrator.orchestrator import VMOrchestrator  # noqa: PLC0415 - a test may replace it

    return VMOrchestrator(**vars(ports))


@contextlib.contextmanager
def _logged(world: World) -> Iterator[None]:
    """Add log records to the trace."""
    logger = logging.getLogger("warmfront")
    handler = _TraceHandler(world)
    propagates, logger.propagate = logger.propagate, False
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.propagate = propagates


class _TraceHandler(logging.Handler):
    """Adds warnings to the trace. An unexpected error is a violation."""

    def __init__(self, world: World) -> None:
        super().__init__(logging.WARNING)
        self._world = world

    def emit(self, record: logging.LogRecord) -> None:
        self._world.faults.note(f"log: {record.getMessage()}")
        error = record.exc_info[1] if record.exc_info else None
        if error is not None and not isinstance(error, InfrastructureError):
            self._world.report_violation(
                f"{record.getMessage()}: {''.join(traceback.format_exception(error))}"
            )
