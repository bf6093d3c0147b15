"""The probability in a quote that a VM is warm when the submission is sent."""

from __future__ import annotations

import math

import pytest

from warmfront.orchestrator.quotes import warm_chance
from warmfront.vm import VMInstance, VMState

NOW = 1000.0


def vm(state: VMState, *, ready_at: float | None = 900.0, deadline_at: float | None = None) -> VMInstance:
    """Return a VM of the pool."""
    return VMInstance(
        id="vm",
        provider="p",
        gpu="MI300X",
        state=state,
        created_at=800.0,
        ready_at=ready_at,
        deadline_at=deadline_at,
    )


def test_an_empty_pool_has_no_warm_vm() -> None:
    """The probability is zero without VMs."""
    assert warm_chance([], NOW, 450.0) == 0.0


def test_a_busy_vm_stays_warm() -> None:
    """The probability is one for a busy VM, which has no deadline."""
    assert warm_chance([vm(VMState.BUSY)], NOW, 450.0) == 1.0


@pytest.mark.parametrize(
    ("left_s", "chance"), [(600.0, 0.99995), (60.0, 1 - 1 / math.e), (0.0, 0.0), (-5.0, 0.0)]
)
def test_the_probability_of_an_idle_vm_falls_towards_its_deadline(left_s: float, chance: float) -> None:
    """The time until the submission is sent is exponential with a mean of a minute."""
    idle = vm(VMState.IDLE, deadline_at=NOW + left_s)
    assert warm_chance([idle], NOW, 450.0) == pytest.approx(chance, abs=1e-4)


def test_the_probability_of_a_provisioning_vm_rises_towards_its_readiness() -> None:
    """It depends on the remaining boot time, is one for an overdue VM, and the best VM of the pool counts."""
    provisioning = vm(VMState.PROVISIONING, ready_at=None)
    assert warm_chance([provisioning], NOW, 450.0) == pytest.approx(math.exp(-250 / 60))
    assert warm_chance([provisioning], NOW + 300, 450.0) == 1.0
    assert warm_chance([provisioning, vm(VMState.BUSY)], NOW, 450.0) == 1.0
