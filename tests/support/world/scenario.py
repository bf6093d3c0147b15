"""Scenarios of simulated worlds: authors, settings and fault rates.

A scenario is drawn from a seed and belongs to one of five families.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import TYPE_CHECKING

from tests.support.world.faults import Rates
from warmfront.settings import Settings
from warmfront.testing.fake_listeners import Kernel, Reach
from warmfront.testing.fake_provider import CLEAR, Weather
from warmfront.verdicts import Endpoint, Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

#: The families; seed modulo their number selects one.
FAMILIES = ("calm", "crashing", "stormy", "worst", "poor")


@dataclass(frozen=True, kw_only=True)
class Order:
    """A submission that an author will make."""

    owner: str
    at_s: float
    kernel: Kernel
    endpoint: Endpoint
    cancel_after_s: float | None = None
    repeats: bool = True  #: with an idempotency key: retried until there is a response
    gives_up_s: float | None = None  #: timeout of the first request
    reads_s: float | None = None  #: how often the author reconnects; None: only after an error

    @property
    def verdict(self) -> Verdict:
        """The verdict that it must get without faults."""
        if self.endpoint is Endpoint.XRAY:
            return Verdict.XRAY
        return (
            self.kernel.verdict
            or {
                Endpoint.CHECKER: Verdict.CHECKED,
                Endpoint.BENCHMARK: Verdict.BENCHMARKED,
                Endpoint.SUBMIT: Verdict.ACCEPTED,
            }[self.endpoint]
        )


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """Everything that defines a world except its seed."""

    name: str
    orders: tuple[Order, ...]
    settings: Settings
    slots: int = 1
    weather: Weather = CLEAR
    reach: Reach = field(default_factory=Reach)
    rates: Mapping[str, Rates] = field(default_factory=dict)
    faulty_s: float = 0.0  #: the time when faults stop
    crashes: int = 0
    kills_at_s: tuple[float, ...] = ()  #: when the control plane is killed
    restarts_at_s: tuple[float, ...] = ()  #: when it is stopped in order and restarted
    zombies: int = 0  #: VMs that exist at the start without a record in our store
    skew_s: float = 0.0  #: offset of the cloud's clock
    #: Only the control plane fails: every verdict is known, and nothing may run twice.
    is_sound: bool = True
    #: Seconds for which a VM may be free while a submission waits.
    patience_s: float = 2.0

    @classmethod
    def of(cls, seed: int, *, size: int = 1) -> Scenario:
        """Draw the scenario of a seed; a fifth have no faults. `size` multiplies the submissions."""
        chance = random.Random(f"scenario {seed}")  # noqa: S311 - must be reproducible
        make = (_calm, _crashing, _stormy, _worst, _poor)[seed % len(FAMILIES)]
        return make(chance, size)


def _calm(chance: random.Random, size: int) -> Scenario:
    """Draw a world without faults, in which one author floods the queue."""
    flood = tuple(
        _order(chance, "flood", number, at_s=chance.random()) for number in range(size * chance.randint(4, 7))
    )
    single = tuple(
        replace(_order(chance, f"single{number}", number, at_s=5 + 60 * chance.random()), cancel_after_s=None)
        for number in range(chance.randint(1, 2))
    )
    return Scenario(
        name="calm",
        orders=flood + single,
        settings=_settings(chance),
        slots=chance.choice((1, 1, 2)),
    )


def _crashing(chance: random.Random, size: int) -> Scenario:
    """Draw a world in which only the control plane crashes, repeatedly."""
    return replace(
        _calm(chance, size),
        name="crashing",
        orders=_orders(chance, size),
        rates={
            "store": Rates(delay=0.1, delay_s=0.5, crash=0.01),
            "provider": Rates(delay=0.2, crash=0.04),
            "phase": Rates(delay=0.1, crash=0.02),
            "listener": Rates(delay=0.1, crash=0.02),
            "line": Rates(crash=0.02),
            "examine": Rates(delay=0.2, crash=0.03),
        },
        faulty_s=400.0,
        crashes=chance.randint(1, 3),
        kills_at_s=tuple(200 * chance.random() for _ in range(chance.randint(0, 1))),
        restarts_at_s=tuple(200 * chance.random() for _ in range(chance.randint(0, 1))),
        zombies=int(chance.random() < 0.1),
        skew_s=chance.choice((0.0, 0.0, 3.0, -3.0)),
        patience_s=15.0,
    )


def _stormy(chance: random.Random, size: int) -> Scenario:
    """Draw a world in which cloud, VMs and store fail, but not the control plane."""
    return replace(
        _calm(chance, size),
        name="stormy",
        orders=_orders(chance, size),
        weather=Weather(
            no_capacity=0.15,
            slow=0.2,
            stuck=0.1,
            vanish=0.3,
            release_slow=0.2,
            release_fails=0.3,
        ),
        reach=Reach(outage=0.3),
        rates={
            "store": Rates(delay=0.1, delay_s=1.0, error_before=0.03),
            "provider": Rates(delay=0.2, delay_s=3.0, hang=0.03, error_before=0.05, error_after=0.05),
            "phase": Rates(delay=0.1, delay_s=3.0, error_before=0.02, error_after=0.02),
            "listener": Rates(
                delay=0.1, hang=0.02, error_before=0.05, error_after=0.03, cut=0.05, double=0.05
            ),
            "line": Rates(delay=0.1),
            "examine": Rates(delay=0.2, error_before=0.05),
            "timer": Rates(delay=0.1, delay_s=0.5),
        },
        faulty_s=600.0,
        zombies=int(chance.random() < 0.1),
        skew_s=chance.choice((0.0, 0.0, 3.0, -3.0)),
        is_sound=False,
        patience_s=120.0,
    )


def _worst(chance: random.Random, size: int) -> Scenario:
    """Draw a world in which everything fails."""
    stormy = _stormy(chance, size)
    rates = {kind: replace(rates, crash=0.01) for kind, rates in stormy.rates.items() if kind != "timer"}
    return replace(
        stormy,
        name="worst",
        rates={**stormy.rates, **rates},
        crashes=chance.randint(1, 3),
        kills_at_s=tuple(300 * chance.random() for _ in range(chance.randint(0, 2))),
        restarts_at_s=tuple(300 * chance.random() for _ in range(chance.randint(0, 1))),
    )


def _poor(chance: random.Random, size: int) -> Scenario:
    """Draw a world in which everything fails, with credits for one or two VMs and no unknown VMs."""
    worst = _worst(chance, size)
    credits_usd = Decimal(chance.randint(30, 110)) / 100
    # Far more is reserved than spent, so that only a low threshold is reached.
    settings = replace(worst.settings, credits_usd=credits_usd, alert_threshold=Decimal("0.1"))
    return replace(worst, name="poor", settings=settings, zombies=0)


def _settings(chance: random.Random) -> Settings:
    return Settings(
        idle_timeout_s=float(chance.choice((20, 45, 90))),
        max_vms=chance.randint(1, 3),
        provision_timeout_s=200.0,
        task_timeout_s=120.0,
        stop_lag_s=240.0,
        heartbeat_s=10.0,
        lost_after_s=30.0,
        watchdog_s=120.0,
    )


def _orders(chance: random.Random, size: int) -> tuple[Order, ...]:
    return tuple(
        _order(chance, chance.choice(("ada", "bob", "eve")), number, at_s=120 * chance.random() ** 2)
        for number in range(size * chance.randint(4, 8))
    )


_FATES = (
    *(None,) * 7,
    Verdict.WRONG_ANSWER,
    Verdict.RUNTIME_ERROR,
    Verdict.TIME_LIMIT_EXCEEDED,
    Verdict.COMPILE_ERROR,
)
_ENDPOINTS = (*(Endpoint.SUBMIT,) * 3, Endpoint.CHECKER, Endpoint.BENCHMARK, Endpoint.XRAY)


def _order(chance: random.Random, owner: str, number: int, *, at_s: float) -> Order:
    return Order(
        owner=owner,
        at_s=at_s,
        kernel=Kernel(
            key=f"{owner}-{number}",
            verdict=chance.choice(_FATES),
            work_s=round(2 + 28 * chance.random() ** 2, 3),
        ),
        endpoint=chance.choice(_ENDPOINTS),
        cancel_after_s=80 * chance.random() ** 2 if chance.random() < 0.2 else None,
        repeats=chance.random() < 0.8,
        gives_up_s=0.5 * chance.random() if chance.random() < 0.15 else None,
        reads_s=5 + 30 * chance.random() if chance.random() < 0.5 else None,
    )
