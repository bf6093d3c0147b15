"""Evaluate the alert rules, and send a message when an alert begins and when it is resolved, once each.

Active alerts are stored before their message is sent, so that a restart does not send it again.
"""

from __future__ import annotations

import asyncio
import json
import logging
from typing import TYPE_CHECKING, Any

from warmfront.errors import WarmfrontError
from warmfront.service.alert_rules import RULES, AlertCondition, ServiceSnapshot, burn_usd_per_h, conditions
from warmfront.value_class import dataclass
from warmfront.wire.base import isoformat

if TYPE_CHECKING:
    from warmfront.clock import Clock
    from warmfront.orchestrator.orchestrator import VMOrchestrator
    from warmfront.providers.base import Provider
    from warmfront.service.alert_channels import AlertChannels, Delivery
    from warmfront.store.store import Store

logger = logging.getLogger(__name__)

#: Time between two evaluations of the rules.
INTERVAL_S = 10.0
#: An alert is resolved when its condition has not held for this long, so that it does not flap.
RESOLVE_AFTER_S = 60.0
#: How many waiting submissions are examined.
_WAITING = 1000


@dataclass(frozen=True, kw_only=True)
class ActiveAlert:
    """An alert whose message was sent and that is not resolved."""

    rule: str
    subject: str
    text: str
    since: float


class AlertMonitor:
    """The task that evaluates the rules and sends the messages."""

    def __init__(
        self,
        *,
        orchestrator: VMOrchestrator,
        provider: Provider,
        store: Store,
        channels: AlertChannels,
        clock: Clock,
    ) -> None:
        self._orchestrator = orchestrator
        self._provider = provider
        self._store = store
        self._clock = clock
        self._last_held: dict[str, float] = {}
        self._active: dict[str, ActiveAlert] | None = None
        self._sending: set[asyncio.Task[None]] = set()
        self.channels = channels

    @property
    def active(self) -> list[ActiveAlert]:
        """The active alerts, oldest first."""
        return sorted((self._active or {}).values(), key=lambda alert: alert.since)

    async def run(self) -> None:
        """Evaluate the rules until cancelled."""
        while True:
            try:
                await self.evaluate()
            except WarmfrontError as error:
                logger.info("evaluating the alert rules failed: %s; retrying", error.message)
            await asyncio.sleep(INTERVAL_S)

    async def evaluate(self) -> None:
        """Evaluate the rules once."""
        if self._active is None:
            stored = await self._store.active_alerts()
            self._active = {key: ActiveAlert(**json.loads(text)) for key, text in stored.items()}
        now = self._clock.now()
        holding = {condition.key: condition for condition in self._conditions(now)}
        for key, condition in holding.items():
            self._last_held[key] = now
            if key not in self._active:
                await self._begin(condition, now)
        for key, alert in list(self._active.items()):
            if key not in holding and now - self._last_held.setdefault(key, now) >= RESOLVE_AFTER_S:
                await self._resolve(key, alert, now)

    async def test(self, actor: str) -> list[Delivery]:
        """Send a test message to every channel, and return the results."""
        text = f"This is a test, sent by {actor}. No action is needed."
        facts = {"event": "ALERT_TEST", "state": "TEST", "text": text, "time": isoformat(self._clock.now())}
        return await self.channels.test(facts)

    def _conditions(self, now: float) -> list[AlertCondition]:
        vms = self._orchestrator.pool()
        snapshot = ServiceSnapshot(
            now=now,
            budget=self._orchestrator.budget_status(),
            vms=vms,
            burn_usd_per_h=burn_usd_per_h(self._provider, vms),
            waiting=self._orchestrator.waiting(_WAITING),
            problems=self._orchestrator.provisioning_problems(),
        )
        return conditions(snapshot, self._orchestrator.limits.current)

    async def _begin(self, condition: AlertCondition, now: float) -> None:
        assert self._active is not None  # noqa: S101 - loaded by the caller
        alert = ActiveAlert(
            rule=condition.rule, subject=condition.subject, text=condition.text, since=round(now, 3)
        )
        await self._store.save_alert(condition.key, json.dumps(vars(alert)), now)
        self._active[condition.key] = alert
        logger.warning("alert %s: %s", condition.key.rstrip(":"), condition.text)
        if condition.rule != "spent":  # the budget sends BUDGET_ALERT itself, at once
            self._send(_facts(alert, "FIRING", alert.text, now))

    async def _resolve(self, key: str, alert: ActiveAlert, now: float) -> None:
        assert self._active is not None  # noqa: S101 - loaded by the caller
        await self._store.save_alert(key, None, now)
        del self._active[key]
        self._last_held.pop(key, None)
        text = f"Resolved after {now - alert.since:.0f} s: {alert.text}"
        logger.info("alert %s: %s", key.rstrip(":"), text)
        self._send(_facts(alert, "RESOLVED", text, now))

    def _send(self, facts: dict[str, Any]) -> None:
        """Send in the background: retries must not delay the next evaluation."""
        task = asyncio.create_task(self.channels(facts))
        self._sending.add(task)
        task.add_done_callback(self._sending.discard)

    async def flush(self) -> None:
        """Wait until every message in progress has been delivered or given up on."""
        await asyncio.gather(*self._sending)


def _facts(alert: ActiveAlert, state: str, text: str, now: float) -> dict[str, Any]:
    assert alert.rule in RULES  # noqa: S101 - rules are defined in one place
    return {
        "event": "ALERT",
        "state": state,
        "rule": alert.rule,
        "subject": alert.subject,
        "text": text,
        "since": isoformat(alert.since),
        "time": isoformat(now),
    }
