"""What keep-warm costs over the best possible: nine traces and three held back, at four values of waiting.

Each policy runs in the real orchestrator, store and ledger on the virtual clock. `knows the rates` is given
the rates that `adaptive` must learn, but no arrivals: the rest of the gap is not a matter of learning.
"""

from __future__ import annotations

import argparse
import math
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING
from unittest import mock

import numpy as np

from warmfront.money.billing import Billing
from warmfront.orchestrator import adaptive
from warmfront.orchestrator.arrival_model import ArrivalModel, fit
from warmfront.settings import Settings
from warmfront.simulate.offline_optimum import ServingCosts, find_optimum
from warmfront.simulate.replay import EPOCH_S, ReplayConfig, replay
from warmfront.simulate.traces import TRACES

if TYPE_CHECKING:
    from collections.abc import Sequence

DAYS = 60
SEED, HELD_BACK = 1, 4242
PER_DAY = (10, 50, 200)
WAIT_USD_PER_H = (0.0, 5.0, 20.0, 100.0)
#: How long each policy keeps a VM where that is fixed.
FIXED = {"release at once": 0.001, "fixed 10 min": 600.0, "always on": 1e9}
LEARNS, KNOWS = "adaptive", "knows the rates"
POLICIES = (*FIXED, LEARNS, KNOWS)
_RATE = Decimal("1.99")
#: The policy that knows the rates has them from this many arrivals of the same authors.
_YEARS_ARRIVALS, _YEARS_SEED = 60_000, 99


@dataclass(frozen=True)
class TraceRow:
    """One policy on one trace."""

    trace: str
    per_day: int
    seed: int
    policy: str
    waits: tuple[float, ...]
    longest_s: float

    def ratios(self) -> list[float]:
        """Return the cost relative to the optimum without prewarming, for each value of waiting."""
        arrivals_s = TRACES[self.trace](self.per_day, DAYS, self.seed)
        ratios, result = [], None
        for wait in self.waits:
            if (
                result is None or self.policy not in FIXED
            ):  # a fixed timeout does not depend on the value of waiting
                with mock.patch.object(adaptive.AdaptivePolicy, "_model", self._arrival_model()):
                    result = replay(arrivals_s, self._plan(wait))
            cost_usd = float(result.usd) + float(result.waited_s.sum()) * wait / 3600
            ratios.append(cost_usd / find_optimum(arrivals_s, ServingCosts(wait_usd_per_h=wait)).cost_usd)
        return ratios

    def _plan(self, wait: float) -> ReplayConfig:
        settings = Settings(
            keep_warm="fixed" if self.policy in FIXED else "adaptive",
            idle_timeout_s=FIXED.get(self.policy, 600.0),
            idle_timeout_max_s=1e9 if self.policy in FIXED else self.longest_s,
            wait_value_usd_per_h=wait,
            max_vms=1,
        )
        return ReplayConfig(settings=settings, billing=Billing(rate_usd_per_h=_RATE))

    def _arrival_model(self) -> object:
        if self.policy != KNOWS:
            return adaptive.AdaptivePolicy._model  # noqa: SLF001 - put back as it was
        known = _rates(self.trace, self.per_day)
        return lambda _policy, _now: known


def _rates(trace: str, per_day: int) -> ArrivalModel:
    days = 7 * math.ceil(_YEARS_ARRIVALS / per_day / 7)
    arrivals = EPOCH_S - days * 86_400 + TRACES[trace](per_day, days, _YEARS_SEED)
    with mock.patch("warmfront.orchestrator.arrival_model._HALF_LIFE_DAYS", 1e9):
        return fit(np.asarray(arrivals), EPOCH_S)


def traces() -> list[tuple[str, int, int]]:
    """Nine, and three of another seed."""
    return [(name, n, SEED) for name in TRACES for n in PER_DAY] + [(name, 50, HELD_BACK) for name in TRACES]


def main() -> None:
    """Print a line for each policy and value of waiting."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--policy", choices=POLICIES, action="append", help="only these")
    parser.add_argument("--wait", type=float, action="append", help="only these values of waiting")
    parser.add_argument("--longest", type=float, default=14_400.0, help="AMD_VM_IDLE_TIMEOUT_MAX of adaptive")
    asked = parser.parse_args()
    waits = tuple(asked.wait or WAIT_USD_PER_H)
    print(f"Cost over the optimum, {DAYS} days; 10, 50 and 200 per day; held back: 50 per day of each")
    print(f"{'':23} {'Poisson':^17} {'working day':^17} {'bursts':^17} {'held back':^17}   mean  most")
    with ProcessPoolExecutor() as pool:
        for policy in asked.policy or POLICIES:
            rows = [TraceRow(*trace, policy, waits, asked.longest) for trace in traces()]
            table = list(pool.map(TraceRow.ratios, rows))
            for wait, ratios in zip(waits, zip(*table, strict=True), strict=True):
                shown = " ".join(f"{ratio:5.2f}" for ratio in ratios)
                print(
                    f"{policy:16} ${wait:<4g}/h {shown}  {_mean(ratios):5.2f} {max(ratios):5.2f}", flush=True
                )
            every = [ratio for row in table for ratio in row]
            print(f"{policy:16} {'all together':79}  {_mean(every):5.2f} {max(every):5.2f}", flush=True)


def _mean(ratios: Sequence[float]) -> float:
    """Return the geometric mean."""
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


if __name__ == "__main__":
    main()
