"""Shared submissions and X-rays."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from warmfront.store.account_records import SharedKind, Visibility
from warmfront.wire.base import RequestModel, ResponseModel, Timestamp
from warmfront.wire.catalog import GpuRoofs
from warmfront.wire.events import EventObject
from warmfront.wire.submission_detail import SubmissionDetailResponse
from warmfront.wire.xray import XrayReportResponse, XrayRequest

#: Not strict: strict mode accepts only enum members, which JSON does not have.
VisibilityField = Annotated[Visibility, Field(strict=False, examples=["unlisted"])]


class VisibilityRequest(RequestModel):
    """Who may open a submission or an X-ray: `private`, `unlisted` (everyone with the link) or `public`."""

    visibility: VisibilityField


class XrayShareRequest(XrayRequest):
    """A kernel whose X-ray is made, stored and shared."""

    visibility: VisibilityField = Visibility.UNLISTED


class ShareResponse(ResponseModel):
    """A link to a submission or an X-ray."""

    id: str | None = Field(description="Null for a submission that was never shared.")
    kind: SharedKind
    visibility: Visibility
    submission_id: str | None
    problem: str | None
    link: str | None = Field(description="The page for others; null without an id.")
    embed_link: str | None = Field(description="A read-only view for an iframe; null without an id.")
    created_at: Timestamp | None


class ShareListResponse(ResponseModel):
    """Shared results, newest first."""

    items: list[ShareResponse]


class PublicShare(ResponseModel):
    """A public result, as listed."""

    id: str
    kind: SharedKind
    user: str
    problem: str | None
    created_at: Timestamp


class PublicShareListResponse(ResponseModel):
    """Public results, newest first."""

    items: list[PublicShare]


class SharedResponse(ResponseModel):
    """A shared submission or X-ray, as others see it: without costs and VMs."""

    id: str
    kind: SharedKind
    visibility: Visibility
    user: str
    own: bool = Field(description="Whether the caller is its owner.")
    problem: str | None
    created_at: Timestamp
    source: str
    file_name: str
    submission: SubmissionDetailResponse | None = Field(description="Null for an X-ray.")
    events: list[EventObject] = Field(description="Results of a submission; empty for an X-ray.")
    xray: XrayReportResponse | None = Field(description="The report of an X-ray; null for a submission.")
    arch: str | None = Field(description="The GPU architecture of an X-ray.")
    gpu: GpuRoofs | None = Field(description="The GPU type of a submission; null for an X-ray.")
