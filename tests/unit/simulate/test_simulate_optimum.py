"""The offline optimum against exhaustive search, and the properties of the generated traces."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

from warmfront.simulate.arrival_traces import DAY_S, TRACES, bursts, poisson, workday
from warmfront.simulate.offline_optimum import ServingCosts, find_optimum

if TYPE_CHECKING:
    from numpy.typing import NDArray

COSTS = (
    ServingCosts(),
    ServingCosts(wait_usd_per_h=0.0),
    ServingCosts(boot_s=60.0, task_s=200.0),
    ServingCosts(granularity_s=3600.0),
    ServingCosts(granularity_s=60.0, wait_usd_per_h=5.0),
    ServingCosts(minimum_s=7200.0, wait_usd_per_h=2.0),
    ServingCosts(minimum_s=3600.0, granularity_s=600.0, boot_s=120.0, wait_usd_per_h=1.0),
)


def cost_of(arrivals: list[float], released: tuple[bool, ...], costs: ServingCosts) -> float:
    """Return the cost of releasing an idle VM before the arrivals marked in `released`."""
    waited = billed = 0.0
    started: float | None = None
    free_at = 0.0
    for arrival, release in zip(arrivals, (False, *released), strict=True):
        if started is not None and arrival > free_at and release:
            billed += float(costs.bill_usd(np.array([free_at - started]))[0])
            started = None
        if started is None:
            started = arrival
            free_at = arrival + costs.boot_s
        begins = max(free_at, arrival)
        waited += begins - arrival
        free_at = begins + costs.task_s
    assert started is not None
    billed += float(costs.bill_usd(np.array([free_at - started]))[0])
    return billed + waited * costs.wait_usd_per_h / 3600


@pytest.mark.parametrize("costs", COSTS, ids=str)
def test_optimum_is_the_minimum_of_all_schedules(costs: ServingCosts) -> None:
    """The optimum costs the same as the cheapest of all sequences of keeping and releasing."""
    for seed in range(25):
        random = np.random.default_rng(seed)
        gaps = random.exponential(random.choice([60.0, 600.0, 5000.0]), 9) * random.choice([0.1, 1.0], 9)
        arrivals = np.cumsum(gaps)
        if seed % 5 == 0:
            arrivals[3] = arrivals[4]  # two at the same moment
        choices = itertools.product((False, True), repeat=arrivals.size - 1)
        minimum = min(cost_of(arrivals.tolist(), released, costs) for released in choices)
        optimum = find_optimum(arrivals, costs)
        assert optimum.cost_usd == pytest.approx(minimum, rel=1e-9)
        assert optimum.usd + optimum.waited_s * costs.wait_usd_per_h / 3600 == pytest.approx(optimum.cost_usd)


def test_blocks_of_a_microsecond_change_nothing() -> None:
    """The algorithms for billing with and without blocks agree on a trace too long for exhaustive search."""
    arrivals = workday(50, 14, 3)
    fine = find_optimum(arrivals, ServingCosts(granularity_s=1e-6))
    assert fine.cost_usd == pytest.approx(find_optimum(arrivals, ServingCosts()).cost_usd, rel=1e-6)


def test_an_empty_trace_costs_nothing() -> None:
    """An empty trace costs nothing; one arrival costs one boot, one attempt and one wait."""
    assert find_optimum(np.array([]), ServingCosts()).cost_usd == 0
    one = find_optimum(np.array([5.0]), ServingCosts())
    assert (one.cold_starts, one.waited_s) == (1, 450.0)
    assert one.usd == pytest.approx(1.99 * 480 / 3600)


@pytest.mark.parametrize("name", sorted(TRACES))
@pytest.mark.parametrize("per_day", [10, 50, 200])
def test_traces_have_the_requested_rate(name: str, per_day: int) -> None:
    """A trace is sorted, lies within its days, depends only on the seed, and has about the requested rate."""
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
