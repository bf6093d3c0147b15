"""Alert rules on a running orchestrator: one message when an alert begins, and one when it ends."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from typing import Any

from tests.support.orchestrator_harness import OrchestratorHarness, orchestrated
from warmfront.audit_chain import Actor
from warmfront.errors import ProviderError
from warmfront.provisioning import FailureKind
from warmfront.service.alert_channels import AlertChannels
from warmfront.service.alert_monitor import AlertMonitor
from warmfront.store.records import IntakeMode

EVE = Actor(name="eve", via="key1")


class RecordingChannel:
    """A channel that keeps what it gets."""

    name = "recording"

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []

    async def send(self, facts: dict[str, Any]) -> None:
        """Keep the message."""
        self.sent.append(facts)

    def states(self) -> list[tuple[str, str]]:
        """Return rule and state of every message."""
        return [(facts["rule"], facts["state"]) for facts in self.sent]


def _monitor(harness: OrchestratorHarness) -> tuple[AlertMonitor, RecordingChannel]:
    channel = RecordingChannel()
    monitor = AlertMonitor(
        orchestrator=harness.orchestrator,
        provider=harness.provider,
        store=harness.store,
        channels=AlertChannels([channel]),
        clock=harness.clock,
    )
    return monitor, channel


async def _watch(monitor: AlertMonitor, seconds: float) -> None:
    for _ in range(int(seconds // 10)):
        await monitor.evaluate()
        await asyncio.sleep(10)
    await monitor.flush()


@orchestrated(alert_queue_wait_s=300.0)
async def test_a_long_queue_is_reported_once_and_resolved(harness: OrchestratorHarness) -> None:
    """The message has the rule and the time; the alert ends a minute after the queue is empty."""
    monitor, channel = _monitor(harness)
    await harness.orchestrator.intake.pause(IntakeMode.QUEUE, "x", EVE)
    submission = await harness.submit()
    await _watch(monitor, 250)
    assert channel.sent == []
    await _watch(monitor, 600)
    assert channel.states() == [("queue_wait", "FIRING")]
    assert "has waited 3" in channel.sent[0]["text"]
    await harness.orchestrator.intake.resume(EVE)
    await harness.follow(submission)
    await _watch(monitor, 200)
    assert channel.states() == [("queue_wait", "FIRING"), ("queue_wait", "RESOLVED")]
    assert monitor.active == []


@orchestrated(alert_burn_usd_per_h=Decimal("1.50"))
async def test_a_restart_repeats_no_alert(harness: OrchestratorHarness) -> None:
    """The next monitor knows the active alert, and resolves it."""
    monitor, channel = _monitor(harness)
    await harness.follow(await harness.submit())
    await _watch(monitor, 30)
    assert channel.states() == [("burn_rate", "FIRING")]
    monitor, channel = _monitor(harness)
    await _watch(monitor, 30)
    assert channel.sent == []
    assert [alert.rule for alert in monitor.active] == ["burn_rate"]
    await asyncio.sleep(1200)
    assert harness.orchestrator.pool() == []
    await _watch(monitor, 90)
    assert channel.states() == [("burn_rate", "RESOLVED")]


@orchestrated()
async def test_provider_errors_are_reported_per_gpu_type(harness: OrchestratorHarness) -> None:
    """An open circuit breaker fires at once, with its reason."""
    monitor, channel = _monitor(harness)
    harness.provider.refuses = lambda _: ProviderError(
        "The image cannot be pulled.", kind=FailureKind.BAD_IMAGE
    )
    await harness.follow(await harness.submit())
    await _watch(monitor, 20)
    assert channel.states() == [("provider_errors", "FIRING")]
    assert channel.sent[0]["subject"] == "MI300X"
    assert "The image cannot be pulled." in channel.sent[0]["text"]


@orchestrated(credits_usd=Decimal(20), alert_threshold=Decimal("0.002"))
async def test_the_budget_sends_its_own_alert_and_the_monitor_resolves_it(
    harness: OrchestratorHarness,
) -> None:
    """More credits resolve the alert."""
    monitor, channel = _monitor(harness)
    await harness.follow(await harness.submit(work_s=100.0))
    await _watch(monitor, 20)
    assert [alert.rule for alert in monitor.active] == ["spent"]
    assert channel.sent == []
    await harness.orchestrator.limits.change({"credits_usd": "1400"}, "", EVE)
    await _watch(monitor, 90)
    assert channel.states() == [("spent", "RESOLVED")]


@orchestrated(alert_idle_s=120.0)
async def test_a_vm_that_is_idle_against_the_policy(harness: OrchestratorHarness) -> None:
    """A VM whose deadline has passed and that is still idle causes an alert with its id."""
    monitor, channel = _monitor(harness)
    await harness.follow(await harness.submit())
    (vm,) = harness.orchestrator.pool()
    for task in harness.orchestrator._loop_tasks:  # the decision loop hangs
        task.cancel()
    assert vm.deadline_at is not None
    await asyncio.sleep(vm.deadline_at - harness.clock.now() + 60)
    await _watch(monitor, 20)
    assert channel.sent == []
    await _watch(monitor, 80)
    assert channel.states() == [("vm_idle", "FIRING")]
    assert channel.sent[0]["subject"] == vm.id
