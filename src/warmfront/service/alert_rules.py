"""Alert rules: the conditions of which operators are notified. They are pure functions: no I/O, no clock."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from warmfront.gpus import vm_with
from warmfront.providers.base import billing_of
from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from warmfront.money.escrow import BudgetStatus
    from warmfront.providers.base import Provider
    from warmfront.provisioning import ProvisioningProblem
    from warmfront.settings import Settings
    from warmfront.submission import Submission
    from warmfront.vm import VMInstance


@dataclass(frozen=True, kw_only=True)
class AlertCondition:
    """A condition that holds now, and for which an alert is active."""

    rule: str  #: stable, such as `queue_wait`
    subject: str  #: the subject, such as the id of a VM; empty for the whole service
    text: str  #: in one sentence

    @property
    def key(self) -> str:
        """The name of the alert; at most one alert with this name is active at a time."""
        return f"{self.rule}:{self.subject}"


@dataclass(frozen=True, kw_only=True)
class ServiceSnapshot:
    """The state of the service that the rules examine."""

    now: float
    budget: BudgetStatus
    vms: list[VMInstance]
    burn_usd_per_h: Decimal
    waiting: list[Submission]
    problems: list[ProvisioningProblem]


#: The meaning of each rule, with the setting that has its threshold.
RULES = {
    "spent": ("A share of the credits is spent.", "alert_threshold"),
    "burn_rate": ("The live VMs together cost this much per hour, in dollars.", "alert_burn_usd_per_h"),
    "vm_idle": ("A VM is idle this many seconds after the policy's deadline.", "alert_idle_s"),
    "queue_wait": ("A submission has waited this many seconds.", "alert_queue_wait_s"),
    "provider_errors": ("This many VMs in a row failed to provision.", "alert_provider_errors"),
}


def burn_usd_per_h(provider: Provider, vms: Iterable[VMInstance]) -> Decimal:
    """Return the cost of the billed VMs per hour."""
    rates = (billing_of(provider, vm).rate_usd_per_h for vm in vms if vm.started_at is not None)
    return sum(rates, start=Decimal(0))


def conditions(snapshot: ServiceSnapshot, settings: Settings) -> list[AlertCondition]:
    """Return the conditions that hold, given the thresholds in the settings."""
    return [
        *_spent(snapshot, settings),
        *_burn_rate(snapshot, settings),
        *_idle(snapshot, settings),
        *_queue_wait(snapshot, settings),
        *_provider_errors(snapshot, settings),
    ]


def _spent(snapshot: ServiceSnapshot, settings: Settings) -> Iterator[AlertCondition]:
    budget = snapshot.budget
    if budget.spent_usd >= settings.alert_threshold * budget.credits_usd:
        yield AlertCondition(
            rule="spent",
            subject="",
            text=f"${budget.spent_usd:,.2f} of ${budget.credits_usd:,.2f} credits are spent "
            f"({budget.used_pct:.0f}%).",
        )


def _burn_rate(snapshot: ServiceSnapshot, settings: Settings) -> Iterator[AlertCondition]:
    limit_usd = settings.alert_burn_usd_per_h
    if limit_usd is not None and snapshot.burn_usd_per_h >= limit_usd:
        yield AlertCondition(
            rule="burn_rate",
            subject="",
            text=f"{len(snapshot.vms)} VMs cost ${snapshot.burn_usd_per_h:.2f} per hour; "
            f"the alert is at ${limit_usd:.2f}.",
        )


def _idle(snapshot: ServiceSnapshot, settings: Settings) -> Iterator[AlertCondition]:
    for vm in snapshot.vms:
        if vm.state.is_free and vm.deadline_at is not None:
            late_s = snapshot.now - vm.deadline_at
            if late_s >= settings.alert_idle_s:
                text = f"VM {vm.id} should have been released {late_s:.0f} s ago, and is still {vm.state}."
                yield AlertCondition(rule="vm_idle", subject=vm.id, text=text)


def _queue_wait(snapshot: ServiceSnapshot, settings: Settings) -> Iterator[AlertCondition]:
    oldest = min((submission.created_at for submission in snapshot.waiting), default=snapshot.now)
    waited_s = snapshot.now - oldest
    if snapshot.waiting and waited_s >= settings.alert_queue_wait_s:
        yield AlertCondition(
            rule="queue_wait",
            subject="",
            text=f"A submission has waited {waited_s:.0f} s for a VM; {len(snapshot.waiting)} are waiting.",
        )


def _provider_errors(snapshot: ServiceSnapshot, settings: Settings) -> Iterator[AlertCondition]:
    for problem in snapshot.problems:
        if problem.is_open or problem.failures >= settings.alert_provider_errors:
            yield AlertCondition(
                rule="provider_errors",
                subject=problem.gpu,
                text=f"No {vm_with(problem.gpu)} is provisioned after {problem.failures} failures: "
                f"{problem.reason.rstrip('.')}.",
            )
