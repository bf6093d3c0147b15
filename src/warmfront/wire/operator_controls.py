"""The operators' controls at run time: actions on VMs, the intake, limits, keys and teams."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field

from warmfront.audit_chain import AuditAction
from warmfront.roles import Role
from warmfront.store.records import IntakeMode
from warmfront.wire.base import Dollars, RequestModel, ResponseModel, Timestamp

_Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.@-]{0,63}$", examples=["ada"])]
_Reason = Annotated[str, Field(max_length=300, examples=["The image is being replaced."])]


class PinRequest(RequestModel):
    """The time until which to keep a VM."""

    until: str = Field(
        max_length=40, description="ISO 8601 with a time zone.", examples=["2026-01-31T18:00:00Z"]
    )


class ActionEffectResponse(ResponseModel):
    """The effect that an operator's action would have."""

    action: AuditAction
    text: str = Field(description="In one or two sentences, with the amounts.")
    saves_usd: Dollars = Decimal(0)
    costs_usd: Dollars = Decimal(0)


class VmActionsResponse(ResponseModel):
    """The possible actions on a VM, and what each would save or cost."""

    vm_id: str
    items: list[ActionEffectResponse]


class ActionsResponse(ResponseModel):
    """The possible actions, with what each saves or costs."""

    items: list[ActionEffectResponse]


class IntakeRequest(RequestModel):
    """How to pause the intake."""

    mode: Literal["queue", "refuse"] = Field(
        description="`queue`: submissions are accepted and wait. `refuse`: new submissions get 503."
    )
    reason: _Reason = Field(min_length=1, description="Shown to authors.")


class IntakeResponse(ResponseModel):
    """Whether submissions are accepted and run."""

    mode: IntakeMode
    reason: str = Field(description="Why the intake is paused; empty if it is open.")
    by: str = Field(description="The operator who paused it.")
    since: Timestamp | None = Field(description="Since when the mode applies; null if never paused.")


class LimitsRequest(RequestModel):
    """Limits to change."""

    changes: dict[str, str | None] = Field(
        min_length=1,
        max_length=20,
        description="New values by name, as text; null restores the configured value.",
        examples=[{"idle_timeout_s": "300", "max_vms": None}],
    )
    reason: _Reason = Field("", description="For the audit log.")
    dry_run: bool = Field(
        False,  # noqa: FBT003 - the default of a field
        description="Return only the effects, and change nothing.",
    )


class LimitResponse(ResponseModel):
    """A limit that can be changed at run time."""

    name: str = Field(examples=["idle_timeout_s"])
    variable: str = Field(description="The setting's variable.", examples=["AMD_VM_IDLE_TIMEOUT"])
    value: str = Field(description="The current value.", examples=["300"])
    configured: str = Field(description="The value from the environment.", examples=["600"])
    changed: bool = Field(description="Whether the value was set at run time.")
    allowed: str = Field(description="Which values are allowed.")


class LimitEffectResponse(ResponseModel):
    """The effect of changing one limit."""

    name: str
    text: str
    saves_usd: Dollars = Decimal(0)
    costs_usd: Dollars = Decimal(0)


class LimitsResponse(ResponseModel):
    """The limits, and the effects of a requested change."""

    items: list[LimitResponse]
    effects: list[LimitEffectResponse] = Field(description="Empty unless a change was requested.")


class CreateKeyRequest(RequestModel):
    """The user of a new API key."""

    user: _Name
    role: Role = Field(Role.AUTHOR, strict=False)
    team: _Name | None = Field(None, examples=[None])


class TeamSpendingResponse(ResponseModel):
    """A team with its members and its spending today (UTC)."""

    team: str
    members: list[str]
    spent_usd: Dollars
    expected_usd: Dollars = Field(description="The expected cost of unfinished submissions.")
    limit_usd: Dollars | None = Field(description="The daily budget that applies; null if there is none.")
    budget_usd: Dollars | None = Field(
        description="The team's own daily budget; null if WARMFRONT_TEAM_DAILY_BUDGET applies."
    )


class TeamListResponse(ResponseModel):
    """The teams with members or a budget, by name."""

    items: list[TeamSpendingResponse]
