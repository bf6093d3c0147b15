"""The audit log: who did what, when, to what, and with which outcome."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from warmfront.audit_chain import AuditOutcome
from warmfront.wire.base import ResponseModel, Timestamp


class AuditEntryResponse(ResponseModel):
    """An entry of the audit log."""

    seq: int = Field(description="From 1, without gaps.")
    time: Timestamp
    actor: str = Field(description="The user who acted.", examples=["ada"])
    via: str = Field(description="The id of the API key; `session`, `local` or `command line` without one.")
    action: str = Field(description="Stable; programs may match on it.", examples=["vm.drain"])
    subject: str = Field(description="The object of the action, such as the id of a VM.")
    before: dict[str, Any] = Field(description="The values that changed, before the action.")
    after: dict[str, Any] = Field(description="The same values after the action.")
    outcome: AuditOutcome
    detail: str = Field(description="The reason that the actor gave, or why the action was refused.")
    previous_sha256: str = Field(description="The hash of the previous entry; empty for the first.")
    sha256: str = Field(description="The hash of this entry, which covers the previous entry's hash.")


class AuditPageResponse(ResponseModel):
    """One page of the audit log, newest first."""

    items: list[AuditEntryResponse]
    next_before: int | None = Field(description="`before` of the next page; null on the last page.")


class AuditCheckResponse(ResponseModel):
    """The result of checking the hash chain of the audit log."""

    intact: bool
    entries: int = Field(description="How many entries were found intact.")
    head_sha256: str = Field(
        description="The hash of the last intact entry. Note it elsewhere, to compare it later."
    )
    broken_at: int | None = Field(description="The first invalid entry; null if the chain is intact.")
    problem: str = Field(description="The problem with that entry; empty if the chain is intact.")
