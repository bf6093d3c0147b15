"""Alert rules and active alerts, for operators, and a test of the channels."""

from __future__ import annotations

from dataclasses import asdict

from fastapi import APIRouter

from warmfront.api.deps import OperatorDep, ServiceDep
from warmfront.api.openapi import error_responses_for
from warmfront.audit_chain import AuditAction
from warmfront.errors import Conflict
from warmfront.runtime_settings import text_of, variable_of
from warmfront.service.alert_rules import RULES
from warmfront.wire.alerts import (
    ActiveAlertResponse,
    AlertDeliveryResponse,
    AlertRuleResponse,
    AlertsResponse,
    AlertTestResponse,
)

router = APIRouter(prefix="/alerts", tags=["operators"])


@router.get("", responses=error_responses_for())
async def get_alerts(service: ServiceDep, _operator: OperatorDep) -> AlertsResponse:
    """Return the alert rules, the configured channels and the active alerts. For operators."""
    monitor = service.alerts
    return AlertsResponse(
        rules=[
            AlertRuleResponse(
                rule=rule,
                meaning=meaning,
                variable=variable_of(name),
                threshold=text_of(service.current_settings, name),
            )
            for rule, (meaning, name) in RULES.items()
        ],
        channels=[] if monitor is None else monitor.channels.names,
        active=[
            ActiveAlertResponse.model_validate(asdict(alert)) for alert in (monitor.active if monitor else [])
        ],
    )


@router.post("/test", responses=error_responses_for(409, 413))
async def test_alerts(service: ServiceDep, operator: OperatorDep) -> AlertTestResponse:
    """Send a test message to every channel, and return whether each delivered it. For operators."""
    if service.alerts is None or not service.alerts.channels.names:
        raise Conflict(
            "No channel for alerts is configured.",
            hint="Set WARMFRONT_ALERT_WEBHOOK, WARMFRONT_ALERT_SLACK_WEBHOOK, or WARMFRONT_SMTP_URL with "
            "WARMFRONT_ALERT_EMAIL_TO.",
        )
    deliveries = await service.alerts.test(operator.user)
    results = {delivery.channel: delivery.detail or "delivered" for delivery in deliveries}
    record = operator.actor.record(AuditAction.ALERT_TEST, ", ".join(results), after=results)
    await service.store.append_audit(record, service.clock.now())
    return AlertTestResponse(
        items=[AlertDeliveryResponse.model_validate(asdict(delivery)) for delivery in deliveries]
    )
