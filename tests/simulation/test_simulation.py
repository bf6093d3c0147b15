"""The real orchestrator in simulated worlds: its invariants hold whatever fails."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.simulation.broken_orchestrators import (
    ForgetsEscrowOnRetry,
    LockedWhileProvisioning,
    MetersAtTheHighestPrice,
    RequeuesWithoutLease,
    SharesSlots,
)
from tests.simulation.sweep import sweep, sweep_all
from tests.support.world.scenario import FAMILIES, Scenario
from tests.support.world.world import Violation, simulate
from warmfront.verdicts import Verdict

if TYPE_CHECKING:
    from warmfront.orchestrator import VMOrchestrator

#: Worlds per family in `make test`.
_EVERYDAY = 30


@pytest.mark.parametrize("family", range(len(FAMILIES)), ids=FAMILIES)
def test_invariants_hold_in_many_small_worlds(family: int) -> None:
    """No invariant is violated after any step in the first worlds of each family."""
    total = sweep(range(family, _EVERYDAY * len(FAMILIES), len(FAMILIES)))
    assert not total.broken, "\n\n".join(total.broken)
    assert total.steps > 100 * _EVERYDAY


@pytest.mark.parametrize("seed", range(len(FAMILIES)), ids=FAMILIES)
def test_invariants_hold_in_a_large_world(seed: int) -> None:
    """No invariant is violated with dozens of submissions."""
    assert sweep([seed], size=8).broken == []


@pytest.mark.slow
def test_invariants_hold_in_ten_thousand_worlds() -> None:
    """No invariant is violated in 10,000 worlds, which together include every verdict and many crashes."""
    total = sweep_all(range(10_000))
    assert not total.broken, "\n\n".join(total.broken)
    assert total.crashes > 5_000
    assert total.verdicts >= set(Verdict) - {Verdict.MEMORY_LIMIT_EXCEEDED, Verdict.RATE_LIMIT_EXCEEDED}


@pytest.mark.parametrize("seed", range(3))
def test_a_seed_replays_exactly(seed: int) -> None:
    """The same seed gives the same trace, step by step."""
    seed = seed * len(FAMILIES) + FAMILIES.index("worst")
    assert simulate(seed).trace == simulate(seed).trace


def test_a_seed_replays_exactly_in_another_process() -> None:
    """A trace depends only on the seed, not on Python's hash randomization."""
    worst = FAMILIES.index("worst")
    assert len({_replayed(worst, hash_seed) for hash_seed in ("1", "2", "3")}) == 1


def _replayed(seed: int, hash_seed: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.world", str(seed)],
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        capture_output=True,
        check=True,
        timeout=600,
    )
    return hashlib.sha256(done.stdout).hexdigest()


@pytest.mark.parametrize(
    ("broken", "family", "word"),
    [
        (LockedWhileProvisioning, "calm", "waited|a VM is free"),
        (ForgetsEscrowOnRetry, "poor", "are committed of|exceed|reserved"),
        (MetersAtTheHighestPrice, "calm", "in the provider's bill and"),
        # "never ended": the submission got its verdict, and the abandoned attempt was never closed.
        (RequeuesWithoutLease, "stormy", "runs twice at once|was retried|never ended"),
        (SharesSlots, "slots", "slot 0 of .* runs"),
    ],
)
def test_a_classic_mistake_is_found(broken: type[VMOrchestrator], family: str, word: str) -> None:
    """An orchestrator with one mistake violates the corresponding invariant."""
    with pytest.raises(Violation, match=word):
        _run_worlds_of(family, broken)


def _run_worlds_of(family: str, orchestrator: type[VMOrchestrator]) -> None:
    # In larger worlds, a mistake is more likely to be found.
    for seed in range(FAMILIES.index(family), 100 * len(FAMILIES), len(FAMILIES)):
        simulate(seed, lambda ports: orchestrator(**vars(ports)), Scenario.of(seed, size=4))
