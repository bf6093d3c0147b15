"""Replay the world of a seed and print every step: `python -m tests.support.world SEED [SIZE]`."""

from __future__ import annotations

import sys

from tests.support.world import world
from tests.support.world.scenario import Scenario


def main(seed: int, size: int = 1) -> int:
    """Print the trace, and return 1 if an invariant is violated."""
    try:
        result = world.simulate(seed, scenario=Scenario.of(seed, size=size), shown=sys.maxsize)
    except world.Violation as violation:
        print(violation)
        return 1
    print("\n".join(result.trace))
    print(f"seed {seed} ({result.scenario}): {result.steps} steps, {result.crashes} crashes, all is healthy")
    return 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:3])))
