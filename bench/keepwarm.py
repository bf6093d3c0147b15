"""What keep-warm costs over the best possible: nine traces and three held back, at four values of waiting.

Each policy runs in the real orchestrator, store and ledger on the virtual clock. Beside it stands the least
that one who knows every rate, and no arrival, was seen to reach: no learner can be asked for more than that.
"""

from __future__ import annotations

import argparse
import math
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from decimal import Decimal

from warmfront.money.billing import Billing
from warmfront.settings import Settings
from warmfront.simulate.optimum import Terms, best
from warmfront.simulate.replay import Plan, replay
from warmfront.simulate.traces import TRACES

DAYS = 60
SEED, HELD_BACK = 1, 4242
PER_DAY = (10, 50, 200)
WAIT_USD_PER_H = (0.0, 5.0, 20.0, 100.0)
#: The policies, and how long each keeps a VM where that is fixed.
POLICIES = {"release at once": 0.001, "fixed 10 min": 600.0, "always on": 1e9, "adaptive": 600.0}
_RATE = Decimal("1.99")


@dataclass(frozen=True)
class Cell:
    """One policy on one trace at one value of waiting."""

    trace: str
    per_day: int
    seed: int
    policy: str
    wait_usd_per_h: float
    longest_s: float = 14_400.0

    def ratio(self) -> float:
        """What it cost, over the least that it could have cost without booting ahead."""
        arrivals_s = TRACES[self.trace](self.per_day, DAYS, self.seed)
        fixed = self.policy != "adaptive"
        settings = Settings(
            keep_warm="fixed" if fixed else "adaptive",
            idle_timeout_s=POLICIES[self.policy],
            idle_timeout_max_s=1e9 if fixed else self.longest_s,
            wait_value_usd_per_h=self.wait_usd_per_h,
            max_vms=1,
        )
        went = replay(arrivals_s, Plan(settings=settings, billing=Billing(rate_usd_per_h=_RATE)))
        cost_usd = float(went.usd) + float(went.waited_s.sum()) * self.wait_usd_per_h / 3600
        return cost_usd / best(arrivals_s, Terms(wait_usd_per_h=self.wait_usd_per_h)).cost_usd


def traces() -> list[tuple[str, int, int]]:
    """Nine, and three of another seed."""
    return [(name, n, SEED) for name in TRACES for n in PER_DAY] + [(name, 50, HELD_BACK) for name in TRACES]


def main() -> None:
    """Print a table for each value of waiting."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--policy", choices=POLICIES, action="append", help="only these")
    parser.add_argument("--wait", type=float, action="append", help="only these values of waiting")
    parser.add_argument("--longest", type=float, default=14_400.0, help="AMD_VM_IDLE_TIMEOUT_MAX of adaptive")
    asked = parser.parse_args()
    with ProcessPoolExecutor() as pool:
        for wait in asked.wait or WAIT_USD_PER_H:
            print(f"waiting at ${wait:g} an hour: cost over the optimum, {DAYS} days")
            print(
                f"  {'':16} {'Poisson':^17} {'working day':^17} {'bursts':^17} {'held back':^17}   mean  most"
            )
            for policy in asked.policy or POLICIES:
                cells = [Cell(*trace, policy, wait, asked.longest) for trace in traces()]
                ratios = list(pool.map(Cell.ratio, cells))
                mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
                shown = " ".join(f"{ratio:5.2f}" for ratio in ratios)
                print(f"  {policy:16} {shown}  {mean:5.2f} {max(ratios):5.2f}", flush=True)


if __name__ == "__main__":
    main()
