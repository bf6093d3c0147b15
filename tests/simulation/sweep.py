"""Run many seeds on all cores, and collect the violations."""

from __future__ import annotations

import gc
import multiprocessing
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.support.world.scenario import Scenario
from tests.support.world.world import Violation, simulate

if TYPE_CHECKING:
    from collections.abc import Iterable

#: Seeds per unit of work: few enough that all processes end at about the same time.
_CHUNK = 50
#: A sweep stops after this many violations.
_ENOUGH = 10


@dataclass(kw_only=True)
class Sweep:
    """The results of many seeds."""

    steps: int = 0
    crashes: int = 0
    verdicts: set[str] = field(default_factory=set)
    broken: list[str] = field(default_factory=list)


def sweep(seeds: Iterable[int], *, size: int = 1) -> Sweep:
    """Run the worlds of these seeds in order."""
    gc.freeze()  # the collector then skips everything loaded so far
    total = Sweep()
    for seed in seeds:
        try:
            result = simulate(seed, scenario=Scenario.of(seed, size=size))
        except Violation as violation:
            total.broken.append(str(violation))
        else:
            total.steps += result.steps
            total.crashes += result.crashes
            total.verdicts.update(result.verdicts)
        gc.collect()
    gc.unfreeze()
    return total


def sweep_all(seeds: range) -> Sweep:
    """Run the worlds of these seeds on all cores."""
    chunks = [seeds[start : start + _CHUNK] for start in range(0, len(seeds), _CHUNK)]
    total = Sweep()
    with multiprocessing.get_context("spawn").Pool(os.cpu_count()) as pool:
        for part in pool.imap_unordered(sweep, chunks):
            total.steps += part.steps
            total.crashes += part.crashes
            total.verdicts |= part.verdicts
            total.broken += part.broken
            if len(total.broken) >= _ENOUGH:
                break
    return total
