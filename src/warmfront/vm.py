"""A VM and its state machine. The only module that names the target state of a transition.

::

    request            mark_ready         begin_task
    ──────▶ PROVISIONING ───────▶ WARM ─────────────▶ BUSY ⟲ begin_task, finish_task
                 │                  │        begin_task ▲ │ become_idle
                 │                  │                   │ ▼
                 │                  │                   IDLE ◀── adopt (a VM that only the provider knew)
                 └────── shut_down ─┴──── shut_down ─────┤
                                                         ▼
                                                   SHUTTING_DOWN ── end ──▶ TERMINATED
                                                                 └─ fail ─▶ FAILED

`SHUTTING_DOWN` carries `failed`, which decides between `end` and `fail` when the provider confirms the end.
This module does no I/O: the orchestrator decides, the store writes, and providers lease VMs.
"""

from __future__ import annotations

from dataclasses import field
from decimal import Decimal
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from warmfront.state_machine import Transition
from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence


class VMState(StrEnum):
    """The state of a VM."""

    PROVISIONING = "PROVISIONING"  #: requested; its listener has not responded yet
    WARM = "WARM"  #: ready and never used
    BUSY = "BUSY"  #: runs at least one attempt
    IDLE = "IDLE"  #: has run attempts, and is running none
    SHUTTING_DOWN = "SHUTTING_DOWN"  #: its end was requested and is not confirmed yet
    TERMINATED = "TERMINATED"  #: the provider confirmed its end
    FAILED = "FAILED"  #: failed to provision or was lost; its end is confirmed too

    @property
    def has_ended(self) -> bool:
        """Whether the VM's end is confirmed, so that it is no longer billed."""
        return self in {VMState.TERMINATED, VMState.FAILED}

    @property
    def is_free(self) -> bool:
        """Whether the VM is ready and runs nothing."""
        return self in {VMState.WARM, VMState.IDLE}


_S = VMState

REQUEST = Transition[VMState]("request", frozenset(), _S.PROVISIONING)
MARK_READY = Transition("mark_ready", frozenset({_S.PROVISIONING}), _S.WARM)
BEGIN_TASK = Transition("begin_task", frozenset({_S.WARM, _S.IDLE, _S.BUSY}), _S.BUSY)
BECOME_IDLE = Transition("become_idle", frozenset({_S.BUSY}), _S.IDLE)
SHUT_DOWN = Transition("shut_down", frozenset({_S.PROVISIONING, _S.WARM, _S.BUSY, _S.IDLE}), _S.SHUTTING_DOWN)
END = Transition("end", frozenset({_S.SHUTTING_DOWN}), _S.TERMINATED)
FAIL = Transition("fail", frozenset({_S.SHUTTING_DOWN}), _S.FAILED)
ADOPT = Transition("adopt", frozenset({_S.TERMINATED, _S.FAILED}), _S.IDLE)

#: Every transition, in the order of a VM's life.
TRANSITIONS = [REQUEST, MARK_READY, BEGIN_TASK, BECOME_IDLE, SHUT_DOWN, END, FAIL, ADOPT]


@dataclass(frozen=True, kw_only=True)
class VMInstance:
    """One VM. Times are seconds since 1970, UTC."""

    id: str  #: our id, never reused; the provider uses it too
    provider: str
    gpu: str  #: the name of its GPU type in the catalog, or `gpus.CPU_NODE`
    state: VMState
    created_at: float  #: when we requested it
    started_at: float | None = None  #: when the provider began to bill it; None until that is reported
    ready_at: float | None = None  #: when its listener first responded
    deadline_at: float | None = None  #: when it is released unless it gets another task
    ended_at: float | None = None  #: the end that the provider confirmed
    address: str | None = None  #: base URL of its listener
    simulated: bool = False  #: whether it runs kernels on the CPU runtime, with simulated costs
    escrow_usd: Decimal = Decimal(0)  #: the most that it can cost, over its whole life
    metered_until: float | None = None  #: the ledger has its intervals up to this time
    provisioned_for: str | None = None  #: the submission for which it was requested
    tasks_done: int = 0
    failed: bool = False  #: whether it ends, or ended, because something failed
    reason: str = ""  #: why it is kept, is shutting down or ended
    machine_id: str | None = None  #: the cloud's own id of the machine
    release_requested_at: float | None = None  #: when its end was requested
    end_confirmed: bool | None = None  #: whether the cloud's own list confirms its end; None until it ended
    spot: bool = False  #: whether it is a spot VM, which the cloud may preempt
    preempted: bool = False  #: whether the cloud preempted it
    gpu_count: int = 1  #: how many GPUs were requested
    slots: int = 1  #: attempts that it judges at once; an estimate until its listener has responded
    draining: bool = False  #: an operator is draining it: it ends after its current attempts
    pinned_until: float | None = None  #: an operator keeps it until then, whatever the policy decides
    rate_usd_per_h: Decimal | None = None  #: its price, if the provider has reported it
    minimum_s: float | None = None  #: the minimum time that is charged at this price
    #: `devices` and `gpu_health`, as last reported by its listener; empty before that.
    report: dict[str, Any] = field(default_factory=dict, hash=False)

    @classmethod
    def request(
        cls,
        vm_id: str,
        *,
        provider: str,
        gpu: str,
        created_at: float,
        simulated: bool,
        escrow_usd: Decimal,
        provisioned_for: str | None,
        spot: bool = False,
        gpu_count: int = 1,
        slots: int = 1,
    ) -> VMInstance:
        """Return a new VM, to be requested from its provider."""
        return cls(
            id=vm_id,
            provider=provider,
            gpu=gpu,
            state=REQUEST.target,
            created_at=created_at,
            simulated=simulated,
            escrow_usd=escrow_usd,
            provisioned_for=provisioned_for,
            spot=spot,
            gpu_count=gpu_count,
            slots=slots,
        )

    @classmethod
    def discover(
        cls,
        vm_id: str,
        *,
        provider: str,
        gpu: str,
        now: float,
        started_at: float | None,
        address: str | None,
        simulated: bool,
        gpu_count: int = 1,
        slots: int = 1,
    ) -> VMInstance:
        """Return a VM to adopt, which only its provider had recorded."""
        return cls(
            id=vm_id,
            provider=provider,
            gpu=gpu,
            state=ADOPT.target,
            created_at=now,
            started_at=started_at,
            ready_at=now,
            address=address,
            simulated=simulated,
            gpu_count=gpu_count,
            slots=slots,
        )

    # Transitions.

    def mark_ready(self, now: float) -> VMInstance:
        """Record that the VM's listener responded for the first time."""
        return self._next(MARK_READY, ready_at=now)

    def begin_task(self) -> VMInstance:
        """Add an attempt to the VM, and clear its deadline while it works."""
        return self._next(BEGIN_TASK, deadline_at=None, reason="")

    def become_idle(self) -> VMInstance:
        """Record that the VM's last attempt ended."""
        return self._next(BECOME_IDLE)

    def shut_down(self, reason: str, *, failed: bool, now: float) -> VMInstance:
        """Request the VM's end; `failed` means that a failure is the reason."""
        return self._next(SHUT_DOWN, reason=reason, failed=failed, deadline_at=None, release_requested_at=now)

    def end(self, ended_at: float, *, confirmed: bool = True) -> VMInstance:
        """Record the end that the provider reports; `confirmed` says whether the cloud itself confirms it."""
        return self._next(
            FAIL if self.failed else END, ended_at=ended_at, end_confirmed=confirmed, deadline_at=None
        )

    def adopt(self, *, started_at: float | None, address: str | None, now: float) -> VMInstance:
        """Take over a VM that its provider still has although we recorded its end."""
        return self._next(
            ADOPT,
            started_at=started_at,
            address=address,
            ready_at=self.ready_at or now,
            ended_at=None,
            end_confirmed=None,
            failed=False,
            draining=False,
            pinned_until=None,
        )

    # Changes without a transition.

    def finish_task(self) -> VMInstance:
        """Count another attempt that ended with a verdict."""
        return self._with(tasks_done=self.tasks_done + 1)

    def locate(
        self, *, started_at: float | None, address: str | None, machine_id: str | None = None
    ) -> VMInstance:
        """Record the provider's report of the VM's start, address and cloud id, if known."""
        return self._with(started_at=started_at, address=address, machine_id=machine_id or self.machine_id)

    def record_price(self, rate_usd_per_h: Decimal, minimum_s: float) -> VMInstance:
        """Record the price that the provider reports for this VM.

        The price stays the same once it is known or the ledger has entries: the entries of a VM add up to its
        bill only if all are computed from the same price.
        """
        if self.rate_usd_per_h is not None or self.metered_until is not None:
            return self
        return self._with(rate_usd_per_h=rate_usd_per_h, minimum_s=minimum_s)

    def divide(self, slots: int) -> VMInstance:
        """Record how many attempts the VM judges at once, as reported by its listener."""
        return self._with(slots=slots)

    def explain(self, reason: str) -> VMInstance:
        """Record why the VM is in its current state."""
        return self._with(reason=reason)

    def record_report(
        self, devices: Sequence[dict[str, Any]], gpu_health: dict[str, Any] | None
    ) -> VMInstance:
        """Record the listener's report about the VM's GPUs and their health."""
        return self._with(report={"devices": list(devices), "gpu_health": gpu_health})

    def preempt(self) -> VMInstance:
        """Record that the cloud preempted the VM."""
        return self._with(preempted=True)

    def keep_until(self, deadline_at: float, reason: str, *, escrow_usd: Decimal) -> VMInstance:
        """Set the VM's release deadline, with the reason and the reservation that covers the wait."""
        return self._with(deadline_at=deadline_at, reason=reason, escrow_usd=escrow_usd)

    def drain(self, reason: str) -> VMInstance:
        """Record that the VM takes no more attempts and ends after those that it has; this ends a pin."""
        return self._with(draining=True, pinned_until=None, reason=reason)

    def pin(self, until: float | None) -> VMInstance:
        """Record until when the VM is kept, whatever the policy decides; None ends the pin."""
        return self._with(pinned_until=until)

    def reserve(self, escrow_usd: Decimal) -> VMInstance:
        """Record the most that the VM can cost."""
        return self._with(escrow_usd=escrow_usd)

    def meter(self, until: float) -> VMInstance:
        """Record up to when the ledger has the VM's intervals."""
        return self._with(metered_until=until)

    def _next(self, transition: Transition[VMState], **facts: Any) -> VMInstance:  # noqa: ANN401 - fields of this class
        return self._with(state=transition.apply(self.state, f"VM {self.id}"), **facts)

    def _with(self, **changes: Any) -> VMInstance:  # noqa: ANN401 - fields of this class
        """Copy the VM with changes, in a tenth of the time of `dataclasses.replace`.

        A VM changes with every task.
        """
        other = object.__new__(VMInstance)
        other.__dict__.update(self.__dict__, **changes)
        return other
