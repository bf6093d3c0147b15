"""A cloud on virtual time: VMs that boot in phases, cost money, hang, vanish and are slow to go.

It implements `Provider` as the real ones do, and keeps its own bill, which is the truth that a ledger is
held against. Which VM misbehaves, and how, is drawn from a seed.
"""

from __future__ import annotations

import asyncio
import contextvars
import random
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING

from warmfront import gpus
from warmfront.errors import ProviderError
from warmfront.money.billing import Billing
from warmfront.providers.base import Lease, Phase

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine

    from warmfront.clock import Clock

#: What a VM goes through before it is ready, and how many seconds each takes on a good day.
_BOOT: tuple[tuple[Phase, float], ...] = (
    (Phase.QUEUED, 2.0),
    (Phase.BOOTING, 20.0),
    (Phase.PULLING, 12.0),
    (Phase.STARTING, 3.0),
)


#: Billing by the list price of each GPU type that has one.
_LIST_PRICES = {
    gpu.name: Billing(rate_usd_per_h=gpu.list_price_usd_per_h)
    for gpu in gpus.CATALOGUE
    if gpu.list_price_usd_per_h is not None
}


@dataclass(frozen=True, kw_only=True)
class Weather:
    """How often a VM of this cloud misbehaves; each from 0 to 1."""

    no_capacity: float = 0.0  #: it is not to be had just now
    slow: float = 0.0  #: its boot takes `slow_factor` times as long
    slow_factor: float = 4.0
    stuck: float = 0.0  #: its boot never ends
    vanish: float = 0.0  #: it is gone within `vanish_s`, whatever it does
    vanish_s: float = 300.0
    release_s: float = 8.0  #: its end takes up to this long
    release_slow: float = 0.0  #: its end takes four times that
    release_fails: float = 0.0  #: asking for its end fails, at most twice


CLEAR = Weather()


@dataclass(kw_only=True, eq=False)
class FakeVM:
    """A machine of the simulated cloud, as only the cloud sees it."""

    id: str
    gpu: str
    token: str
    phase: Phase = Phase.QUEUED
    started_at: float | None = None
    ended_at: float | None = None
    detail: str = ""
    refusals_left: int = 2
    ends: asyncio.Task[None] | None = None  #: its end is under way
    life: asyncio.Task[None] | None = None
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def lease(self) -> Lease:
        """What its provider says of it."""
        return Lease(
            vm_id=self.id,
            phase=self.phase,
            gpu=self.gpu,
            started_at=self.started_at,
            ended_at=self.ended_at,
            address=f"http://{self.id}.invalid" if self.phase is Phase.READY else None,
            detail=self.detail,
        )


class FakeProvider:
    """A `Provider` whose VMs exist in virtual time alone."""

    name = "simulated"
    simulated = False
    vms_outlive_service = True

    def __init__(
        self,
        *,
        clock: Clock,
        seed: int = 0,
        weather: Weather = CLEAR,
        billing: Billing | None = None,
        slots: int = 1,
    ) -> None:
        self._billing = billing
        self._slots = slots
        self.weather = weather  #: may be changed on the way
        self.vms: dict[str, FakeVM] = {}  #: all that ever were
        self.on_create: Callable[[FakeVM], None] = lambda _: None
        self.on_ready: Callable[[FakeVM], None] = lambda _: None
        self.on_end: Callable[[FakeVM], None] = lambda _: None
        self._clock = clock
        self._random = random.Random(f"cloud {seed}")  # noqa: S311 - chance that can be had again
        # What the cloud does goes on when the one who asked for it dies.
        self._context = contextvars.copy_context()

    def billing(self, gpu: str) -> Billing:
        """Return the billing model given at creation, or the list price of the GPU type, by the second."""
        return self._billing or _LIST_PRICES[gpu]

    def typical_boot_s(self, gpu: str) -> float:  # noqa: ARG002 - all GPU types boot alike
        """Return how long a boot takes when nothing goes wrong."""
        return sum(seconds for _, seconds in _BOOT)

    def slots(self, gpu: str) -> int:  # noqa: ARG002 - all GPU types are alike
        """Return the number of slots given at creation."""
        return self._slots

    async def provision(self, vm_id: str, gpu: str, token: str) -> AsyncIterator[Lease]:
        """Lease a VM, or go on with the one of this id."""
        vm = self.vms.get(vm_id) or self._create(vm_id, gpu, token)
        while True:
            changed = vm.changed
            lease = vm.lease()
            if lease.phase is Phase.ENDED:
                raise ProviderError(f"{vm_id} ended on the way: {vm.detail}")
            yield lease
            if lease.phase is Phase.READY:
                return
            if vm.changed is changed:
                await changed.wait()

    async def release(self, vm_id: str) -> Lease:
        """End it, and return when it ended."""
        vm = self.vms.get(vm_id)
        if vm is None:
            return Lease(vm_id=vm_id, phase=Phase.ENDED, detail="there is no such VM")
        if vm.phase is Phase.ENDED:
            return vm.lease()
        if vm.ends is None:
            if vm.refusals_left and self._random.random() < self.weather.release_fails:
                vm.refusals_left -= 1
                raise ProviderError(f"the end of {vm_id} could not be asked for")
            slow = 4 if self._random.random() < self.weather.release_slow else 1
            vm.ends = self.spawn(self._end_soon(vm, slow * self.weather.release_s * self._random.random()))
        await asyncio.shield(vm.ends)
        return vm.lease()

    async def describe(self, vm_id: str) -> Lease | None:
        """The VM of this id, also when it ended."""
        vm = self.vms.get(vm_id)
        return vm.lease() if vm else None

    async def leases(self) -> list[Lease]:
        """Every VM that is not ENDED."""
        return [vm.lease() for vm in self.alive()]

    async def close(self) -> None:
        """Nothing to let go of."""

    def plant(self, vm_id: str) -> None:
        """A VM that is ready, and that nobody asked for in this life."""
        vm = FakeVM(id=vm_id, gpu=gpus.MI300X.name, token="", started_at=self._clock.now())
        self.vms[vm_id] = vm
        self._enter(vm, Phase.READY)
        self.on_ready(vm)

    def alive(self) -> list[FakeVM]:
        """The machines that are not ENDED."""
        return [vm for vm in self.vms.values() if vm.phase is not Phase.ENDED]

    def bill_usd(self, vm_id: str) -> Decimal:
        """What this VM has come to so far."""
        vm = self.vms[vm_id]
        if vm.started_at is None:
            return Decimal(0)
        until = self._clock.now() if vm.ended_at is None else vm.ended_at
        return self.billing(vm.gpu).cost_usd(max(0.0, until - vm.started_at))

    def spent_usd(self) -> Decimal:
        """What all VMs have come to so far."""
        return sum((self.bill_usd(vm_id) for vm_id in self.vms), Decimal(0))

    def end(self, vm: FakeVM, why: str) -> None:
        """The machine is gone, now."""
        if vm.phase is Phase.ENDED:
            return
        vm.ended_at = self._clock.now()
        if vm.life is not None:
            vm.life.cancel()
        vm.detail = why
        self._enter(vm, Phase.ENDED)
        self.on_end(vm)

    def spawn(self, coro: Coroutine[None, None, None]) -> asyncio.Task[None]:
        """A task of the cloud's own."""
        return asyncio.get_running_loop().create_task(coro, context=self._context.copy())

    def _create(self, vm_id: str, gpu: str, token: str) -> FakeVM:
        if self._random.random() < self.weather.no_capacity:
            raise ProviderError("no capacity")
        vm = FakeVM(id=vm_id, gpu=gpu, token=token)
        self.vms[vm_id] = vm
        self.on_create(vm)
        vm.life = self.spawn(self._boot(vm))
        if self._random.random() < self.weather.vanish:
            self.spawn(self._vanish(vm, self._random.random() * self.weather.vanish_s))
        return vm

    async def _boot(self, vm: FakeVM) -> None:
        factor = self.weather.slow_factor if self._random.random() < self.weather.slow else 1.0
        stuck_in = self._random.randrange(len(_BOOT)) if self._random.random() < self.weather.stuck else None
        for number, (phase, seconds) in enumerate(_BOOT):
            if phase is Phase.BOOTING:
                vm.started_at = self._clock.now()
            self._enter(vm, phase)
            if number == stuck_in:
                return
            await asyncio.sleep(factor * seconds * (0.5 + self._random.random()))
        self._enter(vm, Phase.READY)
        self.on_ready(vm)

    async def _vanish(self, vm: FakeVM, seconds: float) -> None:
        await asyncio.sleep(seconds)
        self.end(vm, "taken back by the cloud")

    async def _end_soon(self, vm: FakeVM, seconds: float) -> None:
        await asyncio.sleep(seconds)
        self.end(vm, "released")

    @staticmethod
    def _enter(vm: FakeVM, phase: Phase) -> None:
        vm.phase = phase
        vm.changed.set()
        vm.changed = asyncio.Event()
