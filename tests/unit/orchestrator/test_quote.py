"""How likely a VM is warm when what is quoted now is sent."""

from __future__ import annotations

import math

import pytest

from warmfront.orchestrator.quotes import warm_chance
from warmfront.vm import VMInstance, VMState

NOW = 1000.0


def vm(state: VMState, *, ready_at: float | None = 900.0, deadline_at: float | None = None) -> VMInstance:
    """One of the pool."""
    return VMInstance(
        id="vm",
        provider="p",
        gpu="MI300X",
        state=state,
        created_at=800.0,
        ready_at=ready_at,
        deadline_at=deadline_at,
    )


def test_without_a_vm_there_is_no_chance() -> None:
    """Nothing is warm where nothing is."""
    assert warm_chance([], NOW, 450.0) == 0.0


def test_a_vm_at_work_is_still_there() -> None:
    """It has no deadline while it works."""
    assert warm_chance([vm(VMState.BUSY)], NOW, 450.0) == 1.0


@pytest.mark.parametrize(
    ("left_s", "chance"), [(600.0, 0.99995), (60.0, 1 - 1 / math.e), (0.0, 0.0), (-5.0, 0.0)]
)
def test_an_idle_vm_is_less_likely_there_the_nearer_its_deadline(left_s: float, chance: float) -> None:
    """Whoever takes a minute to decide misses one that is released in a minute about once in three times."""
    idle = vm(VMState.IDLE, deadline_at=NOW + left_s)
    assert warm_chance([idle], NOW, 450.0) == pytest.approx(chance, abs=1e-4)


def test_a_vm_that_boots_is_more_likely_ready_the_longer_it_has() -> None:
    """One that needs another 250 s is ready for few, one that is overdue for all; the best of all counts."""
    boots = vm(VMState.PROVISIONING, ready_at=None)
    assert warm_chance([boots], NOW, 450.0) == pytest.approx(math.exp(-250 / 60))
    assert warm_chance([boots], NOW + 300, 450.0) == 1.0
    assert warm_chance([boots, vm(VMState.BUSY)], NOW, 450.0) == 1.0
