"""The budget alert: once for every time that the spending reaches the threshold, even across restarts."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from typing import Any

from tests.support.orchestrator_harness import OrchestratorHarness, orchestrated
from warmfront.audit_chain import Actor

EVE = Actor(name="eve", via="key1")
CREDITS_USD, THRESHOLD = Decimal(20), Decimal("0.002")  # the alert is at four cents


def _recorded_alerts(harness: OrchestratorHarness) -> list[dict[str, Any]]:
    """Return the list to which the alerts of the harness's orchestrator are appended."""
    alerts: list[dict[str, Any]] = []

    async def record(facts: dict[str, Any]) -> None:
        alerts.append(facts)

    harness.orchestrator._budget._send_alert = record
    return alerts


async def _restart(harness: OrchestratorHarness) -> list[dict[str, Any]]:
    """Restart the service; return the list of its alerts."""
    await harness.orchestrator.stop()
    harness.orchestrator = harness.new_orchestrator()
    alerts = _recorded_alerts(harness)
    await harness.orchestrator.start()
    await _decide(harness)
    return alerts


async def _spend(harness: OrchestratorHarness) -> None:
    """Spend more than four cents, and less than a dollar."""
    await harness.follow(await harness.submit(work_s=100.0))
    await _decide(harness)


async def _decide(harness: OrchestratorHarness) -> None:
    """Let the orchestrator decide again, later than the minimum time between two checks."""
    await asyncio.sleep(5.0)  # in virtual time
    harness.orchestrator._tasks.wake()
    await asyncio.sleep(1.0)


async def _set_credits(harness: OrchestratorHarness, text: str) -> None:
    await harness.orchestrator.limits.change({"credits_usd": text}, "", EVE)
    await _decide(harness)


@orchestrated(credits_usd=CREDITS_USD, alert_threshold=THRESHOLD)
async def test_the_alert_is_sent_once(harness: OrchestratorHarness) -> None:
    """More spending and a restart do not repeat it."""
    alerts = _recorded_alerts(harness)
    await _decide(harness)
    assert alerts == []
    await _spend(harness)
    await _spend(harness)
    assert [alert["credits_usd"] for alert in alerts] == [20.0]
    assert harness.orchestrator.budget_status().alert_sent
    alerts = await _restart(harness)
    await _spend(harness)
    assert alerts == []
    assert harness.orchestrator.budget_status().alert_sent


@orchestrated(credits_usd=CREDITS_USD, alert_threshold=THRESHOLD)
async def test_credits_that_return_to_an_earlier_amount_send_it_again(harness: OrchestratorHarness) -> None:
    """More credits end the alert; when the threshold is reached again, it is sent again, once."""
    alerts = _recorded_alerts(harness)
    await _spend(harness)
    await _set_credits(harness, "1400")
    assert not harness.orchestrator.budget_status().alert_sent
    await _set_credits(harness, "20")
    assert [alert["credits_usd"] for alert in alerts] == [20.0, 20.0]
    assert harness.orchestrator.budget_status().alert_sent
    assert await _restart(harness) == []


@orchestrated(credits_usd=CREDITS_USD, alert_threshold=THRESHOLD)
async def test_a_threshold_that_returns_to_an_earlier_value_sends_it_again(
    harness: OrchestratorHarness,
) -> None:
    """A higher threshold ends the alert, as more credits do."""
    alerts = _recorded_alerts(harness)
    await _spend(harness)
    for threshold in ("0.8", "0.002"):
        await harness.orchestrator.limits.change({"alert_threshold": threshold}, "", EVE)
        await _decide(harness)
    assert [alert["threshold"] for alert in alerts] == [0.002, 0.002]


@orchestrated(credits_usd=CREDITS_USD, alert_threshold=THRESHOLD)
async def test_credits_that_were_raised_during_a_restart_end_the_alert(harness: OrchestratorHarness) -> None:
    """The configured credits are compared with the spending at the start, too."""
    await _spend(harness)
    for credits_usd, expected in ((Decimal(1400), []), (CREDITS_USD, [20.0])):
        harness.settings = type(harness.settings)(credits_usd=credits_usd, alert_threshold=THRESHOLD)
        alerts = await _restart(harness)
        assert [alert["credits_usd"] for alert in alerts] == expected


@orchestrated(credits_usd=CREDITS_USD, alert_threshold=THRESHOLD)
async def test_an_amount_above_which_the_spending_stayed_is_not_repeated(
    harness: OrchestratorHarness,
) -> None:
    """A few more credits, of which the threshold is spent as well, are reported; the earlier ones are not."""
    alerts = _recorded_alerts(harness)
    await _spend(harness)
    for text in ("20.10", "20"):
        await _set_credits(harness, text)
    assert [alert["credits_usd"] for alert in alerts] == [20.0, 20.1]
