"""The cost of keep-warm policies relative to the offline optimum, on twelve traces at four wait values.

Nine traces were used for tuning and three were held out. Each policy runs in the real orchestrator, store and
ledger, in virtual time. `knows the rates` is the adaptive policy with the true arrival rates: better learning
cannot cost less than that.
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
from warmfront.simulate.arrival_traces import TRACES
from warmfront.simulate.offline_optimum import ServingCosts, find_optimum
from warmfront.simulate.replay import EPOCH_S, ReplayConfig, replay

if TYPE_CHECKING:
    from collections.abc import Sequence

DAYS = 60
SEED, HELD_OUT_SEED = 1, 4242
PER_DAY = (10, 50, 200)
WAIT_USD_PER_H = (0.0, 5.0, 20.0, 100.0)
#: The idle timeouts of the fixed policies, in seconds.
FIXED = {"release at once": 0.001, "fixed 10 min": 600.0, "always on": 1e9}
ADAPTIVE, KNOWS_RATES = "adaptive", "knows the rates"
POLICIES = (*FIXED, ADAPTIVE, KNOWS_RATES)
_RATE = Decimal("1.99")
#: The true rates are estimated from this many arrivals of the same kind, without forgetting.
_RATE_ARRIVALS, _RATE_SEED = 60_000, 99


@dataclass(frozen=True)
class TraceRow:
    """One policy on one trace, at several wait values."""

    trace: str
    per_day: int
    seed: int
    policy: str
    waits: tuple[float, ...]
    longest_s: float

    def ratios(self) -> list[float]:
        """Return the cost divided by that of the offline optimum, for each wait value."""
        arrivals_s = TRACES[self.trace](self.per_day, DAYS, self.seed)
        ratios, result = [], None
        for wait in self.waits:
            # A fixed policy does not depend on the wait value, so one replay is enough.
            if result is None or self.policy not in FIXED:
                with mock.patch.object(adaptive.AdaptivePolicy, "_model", self._arrival_model()):
                    result = replay(arrivals_s, self._config(wait))
            cost_usd = float(result.usd) + float(result.waited_s.sum()) * wait / 3600
            ratios.append(cost_usd / find_optimum(arrivals_s, ServingCosts(wait_usd_per_h=wait)).cost_usd)
        return ratios

    def _config(self, wait: float) -> ReplayConfig:
        settings = Settings(
            keep_warm="fixed" if self.policy in FIXED else "adaptive",
            idle_timeout_s=FIXED.get(self.policy, 600.0),
            idle_timeout_max_s=1e9 if self.policy in FIXED else self.longest_s,
            wait_value_usd_per_h=wait,
            max_vms=1,
        )
        return ReplayConfig(settings=settings, billing=Billing(rate_usd_per_h=_RATE))

    def _arrival_model(self) -> object:
        if self.policy != KNOWS_RATES:
            return adaptive.AdaptivePolicy._model  # noqa: SLF001 - the patch then changes nothing
        model = _true_rates(self.trace, self.per_day)
        return lambda _policy, _now: model


def _true_rates(trace: str, per_day: int) -> ArrivalModel:
    days = 7 * math.ceil(_RATE_ARRIVALS / per_day / 7)
    arrivals = EPOCH_S - days * 86_400 + TRACES[trace](per_day, days, _RATE_SEED)
    with mock.patch("warmfront.orchestrator.arrival_model._HALF_LIFE_DAYS", 1e9):
        return fit(np.asarray(arrivals), EPOCH_S)


def traces() -> list[tuple[str, int, int]]:
    """Return kind, rate and seed of the nine traces, and of three with another seed."""
    tuned = [(name, per_day, SEED) for name in TRACES for per_day in PER_DAY]
    return tuned + [(name, 50, HELD_OUT_SEED) for name in TRACES]


def main() -> None:
    """Print one line per policy and wait value."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--policy", choices=POLICIES, action="append", help="measure only this policy")
    parser.add_argument("--wait", type=float, action="append", help="measure only this wait value")
    parser.add_argument("--longest", type=float, default=14_400.0, help="AMD_VM_IDLE_TIMEOUT_MAX of adaptive")
    options = parser.parse_args()
    waits = tuple(options.wait or WAIT_USD_PER_H)
    print(f"Cost relative to the optimum, {DAYS} days; 10, 50, 200 per day; held out: 50 per day of each")
    print(f"{'':23} {'Poisson':^17} {'working day':^17} {'bursts':^17} {'held out':^17}   mean   max")
    with ProcessPoolExecutor() as pool:
        for policy in options.policy or POLICIES:
            rows = [TraceRow(*trace, policy, waits, options.longest) for trace in traces()]
            table = list(pool.map(TraceRow.ratios, rows))
            for wait, ratios in zip(waits, zip(*table, strict=True), strict=True):
                shown = " ".join(f"{ratio:5.2f}" for ratio in ratios)
                print(
                    f"{policy:16} ${wait:<4g}/h {shown}  {_mean(ratios):5.2f} {max(ratios):5.2f}", flush=True
                )
            overall = [ratio for row in table for ratio in row]
            print(f"{policy:16} {'overall':79}  {_mean(overall):5.2f} {max(overall):5.2f}", flush=True)


def _mean(ratios: Sequence[float]) -> float:
    """Return the geometric mean."""
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


if __name__ == "__main__":
    main()
