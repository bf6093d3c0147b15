"""Alert rules, active alerts and their channels."""

from __future__ import annotations

from pydantic import Field

from warmfront.wire.base import ResponseModel, Timestamp


class AlertRuleResponse(ResponseModel):
    """One rule with its threshold."""

    rule: str = Field(examples=["queue_wait"])
    meaning: str
    variable: str = Field(description="The setting with the threshold.")
    threshold: str = Field(description="`none` if the rule is off.")


class ActiveAlertResponse(ResponseModel):
    """An alert that is not resolved."""

    rule: str
    subject: str = Field(description="The subject of the alert, such as a VM; empty for the whole service.")
    text: str
    since: Timestamp


class AlertsResponse(ResponseModel):
    """The rules, the channels that are configured, and the active alerts."""

    rules: list[AlertRuleResponse]
    channels: list[str] = Field(description="`webhook`, `slack`, `email`; their addresses are not shown.")
    active: list[ActiveAlertResponse]


class AlertDeliveryResponse(ResponseModel):
    """The result of a test message on one channel."""

    channel: str
    ok: bool
    detail: str = Field(description="Why it failed; empty if it was delivered.")


class AlertTestResponse(ResponseModel):
    """The results of a test message."""

    items: list[AlertDeliveryResponse]
