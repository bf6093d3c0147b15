"""Scenarios of simulated worlds: authors, settings and fault rates.

A scenario is drawn from a seed and belongs to one of seven families.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import TYPE_CHECKING

from tests.support.world.faults import Rates
from warmfront.settings import Settings
from warmfront.testing.fake_listeners import FakeKernel, NetworkFaults
from warmfront.testing.fake_provider import NO_FAULTS, ProviderFaults
from warmfront.verdicts import Endpoint, Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

#: The families; seed modulo their number selects one.
FAMILIES = ("calm", "crashing", "stormy", "worst", "poor", "spot", "slots")
#: The prices of the backends in a world, relative to the configured rate.
_OFFERS = ((), (Decimal(1), Decimal("0.75")), (Decimal("0.9"), Decimal("0.5"), Decimal("0.25")))


@dataclass(frozen=True, kw_only=True)
class PlannedSubmission:
    """A submission that an author will make."""

    owner: str
    at_s: float
    kernel: FakeKernel
    endpoint: Endpoint
    cancel_after_s: float | None = None
    retries: bool = True  #: with an idempotency key: retried until there is a response
    timeout_s: float | None = None  #: timeout of the first request
    reconnect_s: float | None = None  #: how often the author reconnects; None: only after an error

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
    planned_submissions: tuple[PlannedSubmission, ...]
    settings: Settings
    slots: int = 1  #: per GPU
    gpu_counts: tuple[int, ...] = (1,)  #: how many GPUs a VM can have
    max_cpu_nodes: int = 0  #: the most CPU nodes; 0: there are none
    offers: tuple[Decimal, ...] = ()  #: prices of offers, relative to the configured rate; empty: one price
    slot_failures: float = 0.0  #: the probability that a slot of a VM fails for a while
    provider_faults: ProviderFaults = NO_FAULTS
    network: NetworkFaults = field(default_factory=NetworkFaults)
    rates: Mapping[str, Rates] = field(default_factory=dict)
    faulty_s: float = 0.0  #: the time when faults stop
    crashes: int = 0
    kills_at_s: tuple[float, ...] = ()  #: when the control plane is killed
    restarts_at_s: tuple[float, ...] = ()  #: when it is stopped in order and restarted
    zombies: int = 0  #: VMs that exist at the start without a record in our store
    skew_s: float = 0.0  #: offset of the cloud's clock
    spot_price_ratio: Decimal | None = None  #: the price of spot VMs; None: there are none
    #: Only the control plane fails: every verdict is known, and nothing may run twice.
    is_sound: bool = True
    #: Seconds for which a VM may be free while a submission waits.
    patience_s: float = 2.0

    @classmethod
    def of(cls, seed: int, *, size: int = 1) -> Scenario:
        """Draw the scenario of a seed; a seventh have no faults. `size` multiplies the submissions."""
        rng = random.Random(f"scenario {seed}")  # noqa: S311 - must be reproducible
        make = (_calm, _crashing, _stormy, _worst, _poor, _spot, _slots)[seed % len(FAMILIES)]
        # Drawn apart, so that the rest of a world is the same with and without CPU nodes and offers.
        max_cpu_nodes = random.Random(f"CPU nodes {seed}").choice((0, 0, 2))  # noqa: S311 - reproducible
        offers = random.Random(f"offers {seed}").choice(_OFFERS)  # noqa: S311 - reproducible
        return replace(make(rng, size), max_cpu_nodes=max_cpu_nodes, offers=offers)


def _calm(rng: random.Random, size: int) -> Scenario:
    """Draw a world without faults, in which one author floods the queue."""
    flood = tuple(
        _plan_submission(rng, "flood", number, at_s=rng.random())
        for number in range(size * rng.randint(4, 7))
    )
    single = tuple(
        replace(
            _plan_submission(rng, f"single{number}", number, at_s=5 + 60 * rng.random()), cancel_after_s=None
        )
        for number in range(rng.randint(1, 2))
    )
    return Scenario(
        name="calm",
        planned_submissions=flood + single,
        settings=_settings(rng),
        slots=rng.choice((1, 1, 2)),
    )


def _crashing(rng: random.Random, size: int) -> Scenario:
    """Draw a world in which only the control plane crashes, repeatedly."""
    return replace(
        _calm(rng, size),
        name="crashing",
        planned_submissions=_plan_submissions(rng, size),
        rates={
            "store": Rates(delay=0.1, delay_s=0.5, crash=0.01),
            "provider": Rates(delay=0.2, crash=0.04),
            "phase": Rates(delay=0.1, crash=0.02),
            "listener": Rates(delay=0.1, crash=0.02),
            "line": Rates(crash=0.02),
            "examine": Rates(delay=0.2, crash=0.03),
        },
        faulty_s=400.0,
        crashes=rng.randint(1, 3),
        kills_at_s=tuple(200 * rng.random() for _ in range(rng.randint(0, 1))),
        restarts_at_s=tuple(200 * rng.random() for _ in range(rng.randint(0, 1))),
        zombies=int(rng.random() < 0.1),
        skew_s=rng.choice((0.0, 0.0, 3.0, -3.0)),
        patience_s=15.0,
    )


def _stormy(rng: random.Random, size: int) -> Scenario:
    """Draw a world in which cloud, VMs and store fail, but not the control plane."""
    return replace(
        _calm(rng, size),
        name="stormy",
        planned_submissions=_plan_submissions(rng, size),
        provider_faults=ProviderFaults(
            no_capacity=0.15,
            slow=0.2,
            stuck=0.1,
            vanish=0.3,
            release_slow=0.2,
            release_fails=0.3,
            spot_interruptions_per_h=20.0,
            fails_after_charge=0.05,
        ),
        spot_price_ratio=rng.choice((None, Decimal("0.4"))),
        network=NetworkFaults(outage=0.3),
        rates={
            "store": Rates(delay=0.1, delay_s=1.0, error_before=0.03),
            "provider": Rates(delay=0.2, delay_s=3.0, hang=0.03, error_before=0.05, error_after=0.05),
            "phase": Rates(delay=0.1, delay_s=3.0, error_before=0.02, error_after=0.02),
            "listener": Rates(
                delay=0.1, hang=0.02, error_before=0.05, error_after=0.03, break_stream=0.05, duplicate=0.05
            ),
            "line": Rates(delay=0.1),
            "examine": Rates(delay=0.2, error_before=0.05),
            "timer": Rates(delay=0.1, delay_s=0.5),
        },
        faulty_s=600.0,
        zombies=int(rng.random() < 0.1),
        skew_s=rng.choice((0.0, 0.0, 3.0, -3.0)),
        is_sound=False,
        patience_s=120.0,
    )


def _worst(rng: random.Random, size: int) -> Scenario:
    """Draw a world in which everything fails."""
    stormy = _stormy(rng, size)
    rates = {kind: replace(rates, crash=0.01) for kind, rates in stormy.rates.items() if kind != "timer"}
    return replace(
        stormy,
        name="worst",
        rates={**stormy.rates, **rates},
        crashes=rng.randint(1, 3),
        kills_at_s=tuple(300 * rng.random() for _ in range(rng.randint(0, 2))),
        restarts_at_s=tuple(300 * rng.random() for _ in range(rng.randint(0, 1))),
    )


def _poor(rng: random.Random, size: int) -> Scenario:
    """Draw a world in which everything fails, with credits for one or two VMs and no unknown VMs."""
    worst = _worst(rng, size)
    credits_usd = Decimal(rng.randint(30, 110)) / 100
    # Far more is reserved than spent, so that only a low threshold is reached.
    settings = replace(worst.settings, credits_usd=credits_usd, alert_threshold=Decimal("0.1"))
    return replace(worst, name="poor", settings=settings, zombies=0)


def _spot(rng: random.Random, size: int) -> Scenario:
    """Draw a world with spot VMs that are soon preempted, in which the control plane crashes too.

    An image takes as long as its size and the bandwidth say, and ROCm has to be prepared.
    """
    crashing = _crashing(rng, size)
    return replace(
        crashing,
        name="spot",
        settings=replace(crashing.settings, wait_value_usd_per_h=rng.choice((0.0, 20.0))),
        provider_faults=ProviderFaults(
            spot_interruptions_per_h=rng.choice((5.0, 30.0, 120.0)),
            bytes_per_s=rng.choice((0.5e9, 2e9)),
            rocm_s=rng.choice((0.0, 10.0)),
        ),
        spot_price_ratio=Decimal(rng.choice(("0.2", "0.4"))),
    )


def _slots(rng: random.Random, size: int) -> Scenario:
    """Draw a world with VMs of several sizes, in which everything fails, slots too."""
    worst = _worst(rng, size)
    many = tuple(
        _plan_submission(rng, rng.choice(("ada", "bob", "eve")), 100 + number, at_s=100 * rng.random())
        for number in range(size * rng.randint(8, 16))
    )
    return replace(
        worst,
        name="slots",
        planned_submissions=worst.planned_submissions + many,
        slots=rng.choice((1, 1, 2)),
        gpu_counts=rng.choice(((8,), (1, 8), (1, 4), (2, 4, 8))),
        slot_failures=rng.choice((0.0, 0.1)),
    )


def _settings(rng: random.Random) -> Settings:
    return Settings(
        idle_timeout_s=float(rng.choice((20, 45, 90))),
        max_vms=rng.randint(1, 3),
        provision_timeout_s=200.0,
        task_timeout_s=120.0,
        stop_lag_s=240.0,
        heartbeat_s=10.0,
        lost_after_s=30.0,
        watchdog_s=120.0,
    )


def _plan_submissions(rng: random.Random, size: int) -> tuple[PlannedSubmission, ...]:
    return tuple(
        _plan_submission(rng, rng.choice(("ada", "bob", "eve")), number, at_s=120 * rng.random() ** 2)
        for number in range(size * rng.randint(4, 8))
    )


_VERDICTS = (
    *(None,) * 7,
    Verdict.WRONG_ANSWER,
    Verdict.RUNTIME_ERROR,
    Verdict.TIME_LIMIT_EXCEEDED,
    Verdict.COMPILE_ERROR,
)
_ENDPOINTS = (*(Endpoint.SUBMIT,) * 3, Endpoint.CHECKER, Endpoint.BENCHMARK, Endpoint.XRAY)


def _plan_submission(rng: random.Random, owner: str, number: int, *, at_s: float) -> PlannedSubmission:
    return PlannedSubmission(
        owner=owner,
        at_s=at_s,
        kernel=FakeKernel(
            key=f"{owner}-{number}",
            verdict=rng.choice(_VERDICTS),
            work_s=round(2 + 28 * rng.random() ** 2, 3),
        ),
        endpoint=rng.choice(_ENDPOINTS),
        cancel_after_s=80 * rng.random() ** 2 if rng.random() < 0.2 else None,
        retries=rng.random() < 0.8,
        timeout_s=0.5 * rng.random() if rng.random() < 0.15 else None,
        reconnect_s=5 + 30 * rng.random() if rng.random() < 0.5 else None,
    )
