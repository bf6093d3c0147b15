"""Metrics in the Prometheus text format. Values are read at scrape time; nothing is counted here."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily

from warmfront.service.alert_rules import RULES, burn_usd_per_h
from warmfront.store.records import IntakeMode
from warmfront.vm import VMState

if TYPE_CHECKING:
    from collections.abc import Iterator

    from prometheus_client.metrics_core import Metric

    from warmfront.api.context import Orchestrator, ServiceContext
    from warmfront.store.records import Totals

MEDIA_TYPE = CONTENT_TYPE_LATEST
#: How many waiting submissions are examined.
_WAITING = 1000


def exposition(service: ServiceContext, totals: Totals) -> bytes:
    """Return the metrics as text, for one scrape."""
    registry = CollectorRegistry()
    registry.register(_Collector(service.orchestrator, totals, simulated=service.provider.simulated))
    registry.register(_OperatorCollector(service))
    return generate_latest(registry)


def standby_exposition() -> bytes:
    """Return the metrics of a service on standby as text: the active one has all others."""
    registry = CollectorRegistry()
    registry.register(_StandbyCollector())
    return generate_latest(registry)


def _active(value: int) -> Metric:
    return GaugeMetricFamily("warmfront_active", "1 for the active service, 0 on standby.", value=value)


class _StandbyCollector:
    """A collector of the only metric of a service on standby."""

    def collect(self) -> Iterator[Metric]:
        """Yield the metric with its help text."""
        yield _active(0)


class _OperatorCollector:
    """A collector of the metrics that dashboards and alerts of operators need."""

    def __init__(self, service: ServiceContext) -> None:
        self._service = service

    def collect(self) -> Iterator[Metric]:
        """Yield every metric with its help text."""
        orchestrator, now = self._service.orchestrator, self._service.clock.now()
        vms, waiting = orchestrator.pool(), orchestrator.waiting(_WAITING)
        since = min((submission.created_at for submission in waiting), default=now)
        late_s = max((now - vm.deadline_at for vm in vms if vm.state.is_free and vm.deadline_at), default=0.0)
        gauges = {
            "warmfront_burn_usd_per_hour": (
                "The cost of the billed VMs per hour, in dollars.",
                float(burn_usd_per_h(self._service.provider, vms)),
            ),
            "warmfront_oldest_wait_seconds": (
                "How long the oldest waiting submission has waited.",
                max(0.0, now - since),
            ),
            "warmfront_idle_overdue_seconds": (
                "How long ago the keep-warm policy's deadline of an idle VM passed.",
                max(0.0, late_s),
            ),
            "warmfront_intake_paused": (
                "1 while an operator has paused the intake.",
                float(orchestrator.intake.state.mode is not IntakeMode.OPEN),
            ),
            "warmfront_max_vms": (
                "The limit on the number of VMs.",
                float(self._service.current_settings.max_vms),
            ),
        }
        for name, (help_text, value) in gauges.items():
            yield GaugeMetricFamily(name, help_text, value=value)
        active = GaugeMetricFamily("warmfront_alerts", "Active alerts, by rule.", labels=["rule"])
        rules = Counter(alert.rule for alert in (self._service.alerts.active if self._service.alerts else ()))
        for rule in RULES:
            active.add_metric([rule], rules[rule])
        yield active


class _Collector:
    """A collector of current metrics for the Prometheus client library."""

    def __init__(self, orchestrator: Orchestrator, totals: Totals, *, simulated: bool) -> None:
        self._orchestrator = orchestrator
        self._totals = totals
        self._simulated = "true" if simulated else "false"

    def collect(self) -> Iterator[Metric]:
        """Yield every metric with its help text."""
        yield _active(1)
        yield from self._budget()
        yield from self._activity()

    def _budget(self) -> Iterator[Metric]:
        budget = self._orchestrator.budget_status()
        amounts = {
            "warmfront_spent_usd": ("Dollars spent, from the ledger.", budget.spent_usd),
            "warmfront_reserved_usd": ("The most that the live VMs can still cost.", budget.reserved_usd),
            "warmfront_credits_usd": ("Credits in dollars: the hard limit.", budget.credits_usd),
        }
        for name, (help_text, amount) in amounts.items():
            gauge = GaugeMetricFamily(name, help_text, labels=["simulated"])
            gauge.add_metric([self._simulated], float(amount))
            yield gauge

    def _activity(self) -> Iterator[Metric]:
        states = Counter(vm.state for vm in self._orchestrator.pool())
        vms = GaugeMetricFamily("warmfront_vms", "Live VMs, by state.", labels=["state"])
        for state in VMState:
            if not state.has_ended:
                vms.add_metric([state.value], states[state])
        yield vms
        used, total = self._orchestrator.slots()
        slots = GaugeMetricFamily("warmfront_slots", "Slots of ready VMs.", labels=["state"])
        slots.add_metric(["used"], used)
        slots.add_metric(["free"], total - used)
        yield slots
        yield GaugeMetricFamily(
            "warmfront_queue_length",
            "Submissions that wait for a VM.",
            value=self._orchestrator.queue_length(),
        )
        yield from self._provisioning()
        totals = self._totals
        yield CounterMetricFamily(
            "warmfront_tasks_completed", "Submissions that a VM has judged.", value=totals.tasks_completed
        )
        starts = CounterMetricFamily(
            "warmfront_attempts", "Attempts, by how they got a VM.", labels=["vm_state"]
        )
        starts.add_metric(["COLD_START"], totals.cold_attempts)
        starts.add_metric(["WARM_REUSE"], totals.warm_attempts)
        yield starts
        verdicts = CounterMetricFamily("warmfront_verdicts", "Submissions, by verdict.", labels=["verdict"])
        for verdict, number in totals.by_verdict.items():
            verdicts.add_metric([verdict], number)
        yield verdicts

    def _provisioning(self) -> Iterator[Metric]:
        labels = ["gpu", "kind"]
        open_breakers = GaugeMetricFamily(
            "warmfront_provisioning_breaker_open",
            "1 for each GPU type whose circuit breaker is open: submissions fail until it is reset.",
            labels=labels,
        )
        shortages = GaugeMetricFamily(
            "warmfront_provisioning_shortage_since_seconds",
            "Start of the current shortage of a GPU type, in seconds since 1970.",
            labels=labels,
        )
        for problem in self._orchestrator.provisioning_problems():
            if problem.is_open:
                open_breakers.add_metric([problem.gpu, problem.kind.value], 1)
            else:
                shortages.add_metric([problem.gpu, problem.kind.value], problem.since)
        yield open_breakers
        yield shortages
