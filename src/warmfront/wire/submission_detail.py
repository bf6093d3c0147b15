"""A submission with its terminal event.

This is separate from `warmfront.wire.submissions`, because the SDK does not need the models of all events,
which take a tenth of a second to import.
"""

from __future__ import annotations

from pydantic import Field

from warmfront.wire.events import EventObject
from warmfront.wire.submissions import SubmissionResponse


class SubmissionDetailResponse(SubmissionResponse):
    """A submission with its verdict."""

    result: EventObject | None = Field(description="The terminal event; null until the submission is DONE.")
