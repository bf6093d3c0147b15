"""The operators' actions on a VM (release, drain, pin, unpin), and what each saves or costs."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING

from warmfront.audit_chain import AuditAction
from warmfront.errors import Conflict, VMNotFound, WarmfrontError
from warmfront.orchestrator.action_effects import ActionEffect
from warmfront.orchestrator.keep_warm import clock_time

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from warmfront.audit_chain import Actor, AuditRecord
    from warmfront.clock import Clock
    from warmfront.orchestrator.budget import Budget
    from warmfront.orchestrator.pooled_vm import PooledVM
    from warmfront.orchestrator.vm_pool import VMPool
    from warmfront.settings import Settings
    from warmfront.store.store import Store
    from warmfront.vm import VMInstance

_NOTHING = Decimal(0)


class VMControls:
    """The operators' actions on VMs. Each is stored in one transaction with its entry of the audit log."""

    def __init__(
        self, *, pool: VMPool, budget: Budget, store: Store, settings: Settings, clock: Clock
    ) -> None:
        self._pool = pool
        self._budget = budget
        self._store = store
        self._settings = settings
        self._clock = clock

    def apply_settings(self, settings: Settings) -> None:
        """Replace the settings."""
        self._settings = settings

    # Actions. Each raises `VMNotFound`, or `Conflict` if the VM is ended or the action is not possible.

    async def release(self, vm_id: str, by: Actor) -> VMInstance:
        """End a VM now. The attempts on it start again on another VM."""

        async def act(pooled: PooledVM) -> None:
            record = self._record(by, AuditAction.VM_RELEASE, pooled.vm, state="SHUTTING_DOWN")
            await self._pool.release_by_operator(pooled, f"released by {by.name}", record)

        return await self._act(AuditAction.VM_RELEASE, vm_id, by, act)

    async def drain(self, vm_id: str, by: Actor) -> VMInstance:
        """Let a VM finish its attempts, give it no new ones, and then end it."""

        async def act(pooled: PooledVM) -> None:
            if pooled.vm.draining:
                raise Conflict(f"VM {vm_id} is already draining.")
            record = self._record(by, AuditAction.VM_DRAIN, pooled.vm, draining=True, pinned_until=None)
            await self._pool.drain(pooled, f"draining: requested by {by.name}", record)

        return await self._act(AuditAction.VM_DRAIN, vm_id, by, act)

    async def pin(self, vm_id: str, until: float, by: Actor) -> VMInstance:
        """Keep a VM until a time, whatever the policy decides.

        Raises:
            BudgetExceeded: the credits do not cover the VM until then.
        """

        async def act(pooled: PooledVM) -> None:
            if pooled.vm.draining:
                raise Conflict(
                    f"VM {vm_id} is draining and cannot be pinned.", hint="Pin another VM of the pool."
                )
            record = self._record(by, AuditAction.VM_PIN, pooled.vm, pinned_until=_iso(until))
            await self._pool.pin(pooled, until, record)

        return await self._act(AuditAction.VM_PIN, vm_id, by, act)

    async def unpin(self, vm_id: str, by: Actor) -> VMInstance:
        """End the pin of a VM; the policy decides again how long it is kept."""

        async def act(pooled: PooledVM) -> None:
            if pooled.vm.pinned_until is None:
                raise Conflict(f"VM {vm_id} is not pinned.")
            record = self._record(by, AuditAction.VM_UNPIN, pooled.vm, pinned_until=None)
            await self._pool.pin(pooled, None, record)

        return await self._act(AuditAction.VM_UNPIN, vm_id, by, act)

    async def _act(
        self, action: AuditAction, vm_id: str, by: Actor, act: Callable[[PooledVM], Awaitable[None]]
    ) -> VMInstance:
        """Carry out an action on a live VM; a refusal is recorded in the audit log, too."""
        try:
            pooled = await self._live(vm_id)
            await act(pooled)
        except WarmfrontError as error:
            await self._store.append_audit(by.refused(action, vm_id, error.message), self._clock.now())
            raise
        return pooled.vm

    async def _live(self, vm_id: str) -> PooledVM:
        """Return a VM that is not being ended."""
        pooled = self._pool.get(vm_id)
        if pooled is not None and not pooled.releasing:
            return pooled
        vm = pooled.vm if pooled is not None else await self._store.get_vm(vm_id)
        if vm is None:
            raise VMNotFound(vm_id)
        if vm.ended_at is not None:
            raise Conflict(f"VM {vm_id} ended at {_iso(vm.ended_at)}: {vm.reason or 'no reason is known'}.")
        since = vm.release_requested_at
        when = "" if since is None else f" since {_iso(since)}"
        raise Conflict(f"VM {vm_id} is shutting down{when}: {vm.reason or 'its end was requested'}.")

    @staticmethod
    def _record(by: Actor, action: AuditAction, vm: VMInstance, **after: object) -> AuditRecord:
        known = {
            "state": vm.state.value,
            "draining": vm.draining,
            "pinned_until": None if vm.pinned_until is None else _iso(vm.pinned_until),
        }
        return by.record(action, vm.id, before={name: known[name] for name in after}, after=after)

    # Effects.

    async def effects(self, vm_id: str, pin_until: float | None = None) -> list[ActionEffect]:
        """Return what each possible action on a VM would save or cost; `pin_until` is for a pin."""
        pooled = await self._live(vm_id)
        effects = [self._release_effect(pooled)]
        if pooled.vm.draining:
            return effects
        effects.append(self._drain_effect(pooled))
        if pin_until is not None:
            effects.append(self._pin_effect(pooled, pin_until))
        if pooled.vm.pinned_until is not None:
            effects.append(self._unpin_effect(pooled))
        return effects

    def _release_effect(self, pooled: PooledVM) -> ActionEffect:
        end_at = self._clock.now()
        saves_usd = self._cost_between(pooled.vm, end_at, self._kept_until(pooled))
        running = len(pooled.running)
        text = f"The VM ends now. {self._savings_text(pooled, saves_usd)}"
        if running:
            attempts = "1 running attempt stops and starts" if running == 1 else f"{running} attempts start"
            text += f" {attempts} again on another VM."
        costs_usd = self._next_boot_usd(pooled) if running else _NOTHING
        if costs_usd:
            text += f" That VM must be provisioned, which costs about ${costs_usd:.4f}."
        return ActionEffect(
            action=AuditAction.VM_RELEASE, text=text, saves_usd=saves_usd, costs_usd=costs_usd
        )

    def _drain_effect(self, pooled: PooledVM) -> ActionEffect:
        end_at = self._clock.now() + self._left_s(pooled)
        saves_usd = self._cost_between(pooled.vm, end_at, self._kept_until(pooled))
        running = len(pooled.running)
        first = "The VM runs nothing, so it ends now."
        if running:
            attempts = "its attempt" if running == 1 else f"its {running} attempts"
            first = f"The VM finishes {attempts}, takes no new ones, and then ends."
        return ActionEffect(
            action=AuditAction.VM_DRAIN,
            text=f"{first} {self._savings_text(pooled, saves_usd)}",
            saves_usd=saves_usd,
        )

    def _pin_effect(self, pooled: PooledVM, until: float) -> ActionEffect:
        costs_usd = self._cost_between(pooled.vm, self._kept_until(pooled, pinned=False), until)
        text = f"The VM is kept until {_iso(until)}, even if it is idle. "
        text += (
            f"This costs up to ${costs_usd:.4f} more."
            if costs_usd
            else "This is free: the time is already paid for."
        )
        return ActionEffect(action=AuditAction.VM_PIN, text=text, costs_usd=costs_usd)

    def _unpin_effect(self, pooled: PooledVM) -> ActionEffect:
        until = self._kept_until(pooled, pinned=False)
        saves_usd = self._cost_between(pooled.vm, until, self._kept_until(pooled))
        text = f"The keep-warm policy decides again. Saves up to ${saves_usd:.4f}."
        return ActionEffect(action=AuditAction.VM_UNPIN, text=text, saves_usd=saves_usd)

    def _savings_text(self, pooled: PooledVM, saves_usd: Decimal) -> str:
        if not saves_usd:
            return "This saves nothing: the time is already paid for."
        return f"Saves up to ${saves_usd:.4f}: it would be kept until {clock_time(self._kept_until(pooled))}."

    def _left_s(self, pooled: PooledVM) -> float:
        """Return how long the attempts on a VM, or its boot, are expected to take from now on."""
        now, estimates = self._clock.now(), self._pool.estimates(pooled.vm.gpu)
        if pooled.vm.ready_at is None:
            return 0.0
        began = max(pooled.begun.values(), default=now)
        return max(0.0, began + estimates.task.seconds - now) if pooled.running else 0.0

    def _kept_until(self, pooled: PooledVM, *, pinned: bool = True) -> float:
        """Return until when a VM is expected to be kept if nothing else arrives."""
        now, vm = self._clock.now(), pooled.vm
        boot_s = 0.0
        if vm.ready_at is None:
            boot_s = max(0.0, vm.created_at + self._pool.estimates(vm.gpu).boot.seconds - now)
        until = now + boot_s + self._left_s(pooled) + self._settings.idle_timeout_of(vm.gpu)
        if vm.deadline_at is not None and (pinned or vm.deadline_at != vm.pinned_until):
            until = vm.deadline_at
        return max(until, vm.pinned_until) if pinned and vm.pinned_until is not None else until

    def _cost_between(self, vm: VMInstance, sooner: float, later: float) -> Decimal:
        """Return how much more a VM costs if it ends at `later` instead of `sooner`."""
        if vm.started_at is None:
            vm = vm.locate(started_at=vm.created_at, address=vm.address)
        began = vm.started_at or vm.created_at
        stop_s = self._pool.estimates(vm.gpu).stop.seconds
        billing = self._budget.billing_of(vm)
        costs = [billing.cost_usd(max(0.0, end - began + stop_s)) for end in (sooner, max(sooner, later))]
        return costs[1] - costs[0]

    def _next_boot_usd(self, pooled: PooledVM) -> Decimal:
        """Return the cost of the boot that the attempts of a VM need after its end; 0 if none is needed."""
        vm = pooled.vm
        others = [other for other in self._pool.with_gpu(vm.gpu) if other is not pooled]
        if any(other.accepts_attempts for other in others):
            return _NOTHING
        return self._budget.boot_usd(vm.gpu, vm.gpu_count, self._pool.estimates(vm.gpu).boot.seconds)


def _iso(at: float) -> str:
    """Format a time in UTC with seconds."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
