"""Create the owners and the workers of the orchestrator, and connect them.

This module makes no decisions and starts nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from warmfront.orchestrator.attempt_runner import AttemptRunner
from warmfront.orchestrator.autoscaler import Autoscaler
from warmfront.orchestrator.breaker_records import BreakerRecords
from warmfront.orchestrator.budget import Budget
from warmfront.orchestrator.overdue_ends import OverdueEnds
from warmfront.orchestrator.reconciler import Reconciler
from warmfront.orchestrator.submission_lifecycle import SubmissionLifecycle
from warmfront.orchestrator.vm_pool import VMPool
from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable

    from warmfront.clock import Clock
    from warmfront.listener.protocol import ListenerClient
    from warmfront.orchestrator.attempt_runner import SignReceipt
    from warmfront.orchestrator.budget import SendAlert
    from warmfront.orchestrator.tasks import TaskSupervisor
    from warmfront.providers.base import Provider
    from warmfront.settings import Settings
    from warmfront.store.store import Store


@dataclass(frozen=True, kw_only=True)
class Dependencies:
    """The external dependencies of the orchestrator; `VMOrchestrator` explains each."""

    store: Store  #: one that retries while the database is unavailable
    provider: Provider
    listeners: ListenerClient
    settings: Settings
    clock: Clock
    tasks: TaskSupervisor
    token_for: Callable[[str], str]
    new_id: Callable[[str], str]
    send_alert: SendAlert | None
    sign_receipt: SignReceipt | None


@dataclass(frozen=True, kw_only=True)
class Owners:
    """The three objects that own the state of the orchestrator."""

    submissions: SubmissionLifecycle
    budget: Budget
    pool: VMPool


def create_owners(needs: Dependencies) -> Owners:
    """Create the owners of submissions, credits and VMs."""
    submissions = SubmissionLifecycle(store=needs.store, clock=needs.clock, tasks=needs.tasks)
    budget = Budget(
        settings=needs.settings,
        provider=needs.provider,
        store=needs.store,
        clock=needs.clock,
        tasks=needs.tasks,
        send_alert=needs.send_alert,
    )
    pool = VMPool(
        provider=needs.provider,
        listeners=needs.listeners,
        store=needs.store,
        budget=budget,
        submissions=submissions,
        settings=needs.settings,
        clock=needs.clock,
        token_for=needs.token_for,
        tasks=needs.tasks,
        overdue_ends=OverdueEnds(
            provider=needs.provider,
            store=needs.store,
            budget=budget,
            settings=needs.settings,
            clock=needs.clock,
            send_alert=needs.send_alert,
        ),
    )
    return Owners(submissions=submissions, budget=budget, pool=pool)


def create_attempt_runner(needs: Dependencies, owners: Owners) -> AttemptRunner:
    """Create the worker that runs attempts."""
    return AttemptRunner(
        pool=owners.pool,
        submissions=owners.submissions,
        budget=owners.budget,
        listeners=needs.listeners,
        store=needs.store,
        settings=needs.settings,
        clock=needs.clock,
        new_id=needs.new_id,
        sign_receipt=needs.sign_receipt,
    )


def create_autoscaler(needs: Dependencies, owners: Owners) -> Autoscaler:
    """Create the worker that decides when another VM is provisioned."""
    return Autoscaler(
        pool=owners.pool,
        submissions=owners.submissions,
        budget=owners.budget,
        provider=needs.provider,
        settings=needs.settings,
        clock=needs.clock,
        new_id=needs.new_id,
        breakers=BreakerRecords(
            store=needs.store, tasks=needs.tasks, settings=needs.settings, clock=needs.clock
        ),
    )


def create_reconciler(needs: Dependencies, owners: Owners, interval_s: float) -> Reconciler:
    """Create the worker that compares the pool with the provider's list."""
    return Reconciler(
        pool=owners.pool,
        budget=owners.budget,
        provider=needs.provider,
        listeners=needs.listeners,
        store=needs.store,
        settings=needs.settings,
        clock=needs.clock,
        tasks=needs.tasks,
        interval_s=interval_s,
    )
