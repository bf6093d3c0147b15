"""Runs many seeds, on every core, and says which worlds broke."""

from __future__ import annotations

import gc
import multiprocessing
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from warmfront.testing.scenario import Scenario
from warmfront.testing.world import Violation, simulate

if TYPE_CHECKING:
    from collections.abc import Iterable

#: Seeds that a process takes at a time: few enough for all to end at about the same moment.
_CHUNK = 50
#: A sweep that broke this often need not go on.
_ENOUGH = 10


@dataclass(kw_only=True)
class Sweep:
    """What came of many seeds."""

    steps: int = 0
    crashes: int = 0
    verdicts: set[str] = field(default_factory=set)
    broken: list[str] = field(default_factory=list)


def sweep(seeds: Iterable[int], *, size: int = 1) -> Sweep:
    """Run the worlds of these seeds, one after the other."""
    gc.freeze()  # what was loaded stays: only a world's own garbage is looked at
    total = Sweep()
    for seed in seeds:
        try:
            outcome = simulate(seed, scenario=Scenario.of(seed, size=size))
        except Violation as violation:
            total.broken.append(str(violation))
        else:
            total.steps += outcome.steps
            total.crashes += outcome.crashes
            total.verdicts.update(outcome.verdicts)
        gc.collect()
    gc.unfreeze()
    return total


def sweep_all(seeds: range) -> Sweep:
    """Run them on every core."""
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
