"""Teams and classes: members, assignments and results."""

from __future__ import annotations

from typing import Annotated

from pydantic import AwareDatetime, BeforeValidator, Field

from warmfront.wire.accounts import BudgetField
from warmfront.wire.base import Dollars, RequestModel, ResponseModel, Slug, Timestamp


def _reject_numbers(value: object) -> object:
    """Reject a number, also as text: it could be seconds or milliseconds."""
    if isinstance(value, str) and not value.strip().lstrip("+-").replace(".", "").isdigit():
        return value
    raise ValueError("must be a date and time with a time zone, such as 2030-01-31T23:59:00Z")


# Not strict: strict mode accepts only `datetime` objects, which JSON does not have.
DeadlineField = Annotated[
    AwareDatetime,
    BeforeValidator(_reject_numbers),
    Field(
        strict=False,
        description="With a time zone. Submissions sent by then count.",
        examples=["2030-01-31T23:59:00Z"],
    ),
]


class AssignmentRequest(RequestModel):
    """A new assignment."""

    problem: Slug
    title: str = Field("", max_length=200, description="The title of the problem if omitted.")
    deadline_at: DeadlineField


class DeadlineRequest(RequestModel):
    """Another deadline of an assignment."""

    deadline_at: DeadlineField


class TeamBudgetRequest(RequestModel):
    """The daily budget of a team."""

    daily_budget_usd: BudgetField | None = Field(
        description="For all members together; null restores WARMFRONT_TEAM_DAILY_BUDGET."
    )


class AssignmentResultResponse(ResponseModel):
    """The result of one member before the deadline."""

    user: str
    submissions: int
    accepted: int
    solved: bool
    best_submission_id: str | None
    best_runtime_ms: float | None
    gpu_type: str | None
    simulated: bool | None
    accepted_at: Timestamp | None


class AssignmentResponse(ResponseModel):
    """An assignment, with the results that the caller may see."""

    id: str
    problem: str
    title: str
    deadline_at: Timestamp
    is_open: bool = Field(description="Whether the deadline is in the future.")
    created_by: str
    results: list[AssignmentResultResponse] = Field(
        description="Of every member for managers of the team; otherwise only the caller's own."
    )


class TeamDetailResponse(ResponseModel):
    """A team with its members and assignments."""

    name: str
    now: Timestamp
    members: list[str]
    spent_usd: Dollars = Field(description="The members' spending today (UTC).")
    expected_usd: Dollars = Field(description="The expected cost of their unfinished submissions.")
    limit_usd: Dollars | None = Field(description="The team's daily budget; null if there is none.")
    can_manage: bool = Field(description="Whether the caller may change assignments and export results.")
    assignments: list[AssignmentResponse]


class AssignmentCreatedResponse(TeamDetailResponse):
    """A team with a new assignment."""

    assignment_id: str = Field(description="The id of the new assignment.")
