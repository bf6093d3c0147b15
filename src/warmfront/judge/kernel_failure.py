"""The exception for a failing kernel; it carries the terminal event."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from warmfront.events import Failed

if TYPE_CHECKING:
    from warmfront.verdicts import Verdict


class KernelFailure(Exception):
    """The submission has a verdict, and the kernel is at fault."""

    def __init__(self, verdict: Verdict, code: str, message: str, *, hint: str = "", **details: Any) -> None:  # noqa: ANN401
        self.event = Failed(verdict=verdict, code=code, message=message, hint=hint, details=details)
        super().__init__(message)

    def with_details(self, **details: Any) -> KernelFailure:  # noqa: ANN401
        """Return the same failure with more details."""
        event = self.event
        return KernelFailure(
            event.verdict, event.code, event.message, hint=event.hint, **{**event.details, **details}
        )
