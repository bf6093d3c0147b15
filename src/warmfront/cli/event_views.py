"""A stream of events on the command line: what shows one, and how it is shown to a program.

An event is what is on the wire, whether it was made here or came from a server.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Protocol

from warmfront.cli.error_report import exit_code, report_error

if TYPE_CHECKING:
    from collections.abc import Mapping

    from warmfront.errors import WarmfrontError


class View(Protocol):
    """Shows events as they come."""

    def show(self, event: Mapping[str, Any]) -> None:
        """Show one event."""

    def tick(self) -> None:
        """Time has passed, and no event came."""

    def close(self) -> None:
        """No more events come."""


class JsonView:
    """One event a line on stdout, at once."""

    def __init__(self, **common: str) -> None:
        self._common = common  #: goes with every event, such as whose it is

    def show(self, event: Mapping[str, Any]) -> None:
        """Print the event."""
        print(json.dumps({**self._common, **event}, ensure_ascii=False), flush=True)

    def tick(self) -> None:
        """A program counts for itself."""

    def close(self) -> None:
        """Nothing is open."""


def refuse(error: WarmfrontError, *, as_json: bool) -> int:
    """Nothing was judged: say why, to a person or a program; the exit code."""
    if not as_json:
        return report_error(error)
    from warmfront.events import Failed, Stamp  # noqa: PLC0415 - a run needs a compiler sooner than events

    JsonView().show(Stamp()(Failed.of(error)))
    return exit_code(error)
