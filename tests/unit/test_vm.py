"""The state machine of a VM."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warmfront.state_machine import IllegalTransitionError, as_markdown
from warmfront.vm import TRANSITIONS, VMInstance, VMState

if TYPE_CHECKING:
    from collections.abc import Callable

_STEPS: dict[str, Callable[[VMInstance], VMInstance]] = {
    "mark_ready": lambda vm: vm.mark_ready(2.0),
    "begin_task": lambda vm: vm.begin_task(),
    "become_idle": lambda vm: vm.become_idle(),
    "shut_down": lambda vm: vm.shut_down("idle", failed=False, now=1.0),
    "shut_down_failed": lambda vm: vm.shut_down("lost", failed=True, now=1.0),
    "end": lambda vm: vm.end(9.0),
    "adopt": lambda vm: vm.adopt(started_at=1.0, address="http://vm", now=10.0),
    "finish_task": lambda vm: vm.finish_task(),
    "keep_until": lambda vm: vm.keep_until(5.0, "idle", escrow_usd=Decimal(1)),
    "meter": lambda vm: vm.meter(3.0),
    "drain": lambda vm: vm.drain("requested by ada"),
    "pin": lambda vm: vm.pin(9.0),
}
_FACTS = {"finish_task", "keep_until", "meter", "drain", "pin"}


def _vm() -> VMInstance:
    return VMInstance.request(
        "vm1",
        provider="local",
        gpu="MI300X",
        created_at=0.0,
        simulated=True,
        escrow_usd=Decimal(1),
        provisioned_for=None,
    )


@given(st.lists(st.sampled_from(sorted(_STEPS)), max_size=40))
def test_only_declared_transitions_change_the_state(steps: list[str]) -> None:
    """Any sequence of calls moves a VM along the declared arrows only, and facts never change its state."""
    arrows = {(source, each.target) for each in TRANSITIONS for source in each.sources}
    vm = _vm()
    for step in steps:
        before = vm
        try:
            vm = _STEPS[step](vm)
        except IllegalTransitionError:
            continue
        if step in _FACTS:
            assert vm.state is before.state
        else:
            assert (before.state, vm.state) in arrows
        assert vm.id == before.id
        if vm.state is VMState.BUSY and step == "begin_task":
            assert vm.deadline_at is None


def test_the_reason_decides_how_a_vm_ends() -> None:
    """A VM that is released ends as TERMINATED, one that failed as FAILED, with its reason unchanged."""
    released = _vm().mark_ready(1.0).shut_down("idle for 600 s", failed=False, now=1.0).end(2.0)
    lost = _vm().mark_ready(1.0).begin_task().shut_down("no heartbeat", failed=True, now=1.0).end(2.0)
    assert (released.state, released.reason) == (VMState.TERMINATED, "idle for 600 s")
    assert (lost.state, lost.reason) == (VMState.FAILED, "no heartbeat")


def test_an_ended_vm_can_only_be_adopted() -> None:
    """A VM that its provider still has is taken over as idle, and no longer counts as failed."""
    lost = _vm().shut_down("no heartbeat", failed=True, now=1.0).end(2.0)
    with pytest.raises(IllegalTransitionError, match="begin_task of VM vm1 in state FAILED"):
        lost.begin_task()
    adopted = lost.adopt(started_at=1.0, address="http://vm", now=10.0)
    assert (adopted.state, adopted.failed, adopted.ended_at) == (VMState.IDLE, False, None)


def test_the_documentation_has_the_transitions() -> None:
    """docs/architecture/state-machines.md shows the table that the code uses."""
    page = Path(__file__).parents[2] / "docs/architecture/state-machines.md"
    assert as_markdown(TRANSITIONS) in page.read_text()
