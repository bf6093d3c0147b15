"""Views of an event stream: the interface, and the view for programs.

Views receive events in their wire form, so that a local run and a submission on a server look the same.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Protocol

from warmfront.cli.error_report import exit_code, report_error
from warmfront.cli.hints import cli_hint

if TYPE_CHECKING:
    from collections.abc import Mapping

    from warmfront.errors import WarmfrontError


class EventView(Protocol):
    """A view that shows the events of one submission."""

    def show(self, event: Mapping[str, Any]) -> None:
        """Show one event."""

    def tick(self) -> None:
        """Update elapsed times; called while no event arrives."""

    def close(self) -> None:
        """Finish the view after the last event."""


class JsonView:
    """A view that prints one JSON object per line on stdout, flushed immediately."""

    def __init__(self, **common: str) -> None:
        self._common = common  #: fields added to every event, such as the submission's id

    def show(self, event: Mapping[str, Any]) -> None:
        """Print the event."""
        print(json.dumps({**self._common, **event}, ensure_ascii=False), flush=True)

    def tick(self) -> None:
        """Do nothing, because programs measure time themselves."""

    def close(self) -> None:
        """Do nothing, because there is nothing to restore."""


def show_error(error: WarmfrontError, *, as_json: bool) -> int:
    """Report an error that prevented judging, as an ERROR event or as text, and return its exit code."""
    if not as_json:
        return report_error(error)
    from warmfront.events import Failed, Stamp
    from warmfront.verdicts import Verdict

    failed = Failed(verdict=Verdict.ERROR, code=error.code, message=error.message, hint=cli_hint(error))
    JsonView().show(Stamp()(failed))
    return exit_code(error)
