"""The clairvoyant optimum against every choice there is, and the traces against what they are meant to be."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

from warmfront.simulate.optimum import Terms, best
from warmfront.simulate.traces import DAY_S, TRACES, bursts, poisson, workday

if TYPE_CHECKING:
    from numpy.typing import NDArray

TERMS = (
    Terms(),
    Terms(wait_usd_per_h=0.0),
    Terms(boot_s=60.0, task_s=200.0),
    Terms(granularity_s=3600.0),
    Terms(granularity_s=60.0, wait_usd_per_h=5.0),
    Terms(minimum_s=7200.0, wait_usd_per_h=2.0),
    Terms(minimum_s=3600.0, granularity_s=600.0, boot_s=120.0, wait_usd_per_h=1.0),
)


def cost_of(arrivals: list[float], released: tuple[bool, ...], terms: Terms) -> float:
    """What one sequence of choices costs: before which arrivals the VM, if idle, is let go."""
    waited = billed = 0.0
    started: float | None = None
    free_at = 0.0
    for arrival, release in zip(arrivals, (False, *released), strict=True):
        if started is not None and arrival > free_at and release:
            billed += float(terms.bill_usd(np.array([free_at - started]))[0])
            started = None
        if started is None:
            started = arrival
            free_at = arrival + terms.boot_s
        begins = max(free_at, arrival)
        waited += begins - arrival
        free_at = begins + terms.task_s
    assert started is not None
    billed += float(terms.bill_usd(np.array([free_at - started]))[0])
    return billed + waited * terms.wait_usd_per_h / 3600


@pytest.mark.parametrize("terms", TERMS, ids=str)
def test_optimum_is_the_least_of_all_choices(terms: Terms) -> None:
    """No sequence of keeping and releasing is cheaper than the optimum, and one costs just as much."""
    for seed in range(25):
        chance = np.random.default_rng(seed)
        gaps = chance.exponential(chance.choice([60.0, 600.0, 5000.0]), 9) * chance.choice([0.1, 1.0], 9)
        arrivals = np.cumsum(gaps)
        if seed % 5 == 0:
            arrivals[3] = arrivals[4]  # two at the same moment
        choices = itertools.product((False, True), repeat=arrivals.size - 1)
        least = min(cost_of(arrivals.tolist(), released, terms) for released in choices)
        found = best(arrivals, terms)
        assert found.cost_usd == pytest.approx(least, rel=1e-9)
        assert found.usd + found.waited_s * terms.wait_usd_per_h / 3600 == pytest.approx(found.cost_usd)


def test_blocks_of_a_microsecond_change_nothing() -> None:
    """The two ways to compute it, with blocks and without, agree on a trace too long to try every choice."""
    arrivals = workday(50, 14, 3)
    fine = best(arrivals, Terms(granularity_s=1e-6))
    assert fine.cost_usd == pytest.approx(best(arrivals, Terms()).cost_usd, rel=1e-6)


def test_nothing_to_serve_costs_nothing() -> None:
    """An empty trace costs nothing; one arrival costs one boot, one task and one wait."""
    assert best(np.array([]), Terms()).cost_usd == 0
    one = best(np.array([5.0]), Terms())
    assert (one.cold_starts, one.waited_s) == (1, 450.0)
    assert one.usd == pytest.approx(1.99 * 480 / 3600)


@pytest.mark.parametrize("name", sorted(TRACES))
@pytest.mark.parametrize("per_day", [10, 50, 200])
def test_traces_have_the_pace_asked_for(name: str, per_day: int) -> None:
    """A trace is sorted, within its days, the same for the same seed, and about as busy as was asked for."""
    arrivals = TRACES[name](per_day, 84, 1)
    assert np.all(np.diff(arrivals) >= 0)
    assert arrivals[0] >= 0
    assert arrivals[-1] < 84 * DAY_S
    assert arrivals.size / 84 == pytest.approx(per_day, rel=0.15)
    assert np.array_equal(arrivals, TRACES[name](per_day, 84, 1))
    assert not np.array_equal(arrivals[:9], TRACES[name](per_day, 84, 2)[:9])


def test_traces_have_their_shapes() -> None:
    """Nights are quiet on a working day, and bursts have many short gaps; Poisson has neither."""

    def at_night(arrivals: NDArray[np.float64]) -> float:
        return float(np.mean(arrivals % DAY_S < DAY_S / 4))

    def short_gaps(arrivals: NDArray[np.float64]) -> float:
        return float(np.mean(np.diff(arrivals) < 300))

    assert at_night(workday(50, 60, 1)) < 0.05
    assert at_night(poisson(50, 60, 1)) == pytest.approx(0.25, abs=0.03)
    assert short_gaps(bursts(10, 60, 1)) > 0.7
    assert short_gaps(poisson(10, 60, 1)) == pytest.approx(1 - math.exp(-300 / 8640), abs=0.02)
