"""How a submission fails: one exception that carries the terminal event."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from warmfront.events import Failed

if TYPE_CHECKING:
    from warmfront.verdicts import Verdict


class KernelFailure(Exception):
    """The submission has its verdict, and it is not a success."""

    def __init__(self, verdict: Verdict, code: str, message: str, *, hint: str = "", **details: Any) -> None:  # noqa: ANN401
        self.event = Failed(verdict=verdict, code=code, message=message, hint=hint, details=details)
        super().__init__(message)
