"""Health checks and error bodies."""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict, Field

from warmfront.roles import Role
from warmfront.wire.base import ResponseModel


class HealthResponse(ResponseModel):
    """The process is alive."""

    status: Literal["ok"] = "ok"
    state: Literal["active", "standby"] = Field(
        description="`standby`: another service on the same database is active; this one can be read from, "
        "and takes over when the other one ends."
    )
    version: str = Field(description="The release of Warmfront.")


class ReadinessResponse(ResponseModel):
    """The readiness of the service to accept and run submissions."""

    status: Literal["ready", "not ready"]
    provider: str
    reasons: list[str] = Field(description="One per component that failed its check.")


class ProblemDetails(ResponseModel):
    """An error, as `application/problem+json` (RFC 9457)."""

    model_config = ConfigDict(json_schema_serialization_defaults_required=False)  # `field` may be absent

    type: str = Field(examples=["about:blank"])
    title: str = Field(examples=["Unprocessable Content"])
    status: int
    code: str = Field(description="Stable; programs may match on it.")
    detail: str
    hint: str = Field(description="What to do next; may be empty.")
    field: str | None = Field(None, description="The request field or parameter at fault.")
    role_needed: Role | None = Field(None, description="The role that a rejected action needs.")
