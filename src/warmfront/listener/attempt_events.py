"""Number the events of an attempt and end it with exactly one verdict, whatever is raised.

A control plane waits for the verdict of every attempt, so no exception may escape from here: not infinite
recursion, lack of memory, text that cannot be encoded, or an exit in the judge's thread.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from warmfront.events import Event, Failed
from warmfront.judge.cancellation import JudgeCancelled, cancelled_event
from warmfront.listener.event_fields import clean_fields
from warmfront.verdicts import Endpoint, Verdict, is_terminal

if TYPE_CHECKING:
    from warmfront.judge.cancellation import CancellationToken
    from warmfront.listener.protocol import ExecuteRequest

log = logging.getLogger(__name__)

#: Sends one event. The arguments are its number, from 1, its fields, and whether it is the verdict.
SendEvent = Callable[[int, dict[str, Any], bool], object]

#: The verdict if even the failure report cannot be built.
_LAST_RESORT = {
    "status": Verdict.ERROR.value,
    "code": "INTERNAL",
    "message": "The listener failed, and could not report the reason.",
    "hint": "",
    "details": {},
}


def send_until_verdict(
    events: Iterable[Event], send: SendEvent, *, attempt: ExecuteRequest, cancellation: CancellationToken
) -> None:
    """Send the events of an attempt. If they end without a verdict, or with an exception, send a verdict."""
    numbered = _NumberedEvents(send, Endpoint(attempt.endpoint))
    try:
        for event in events:
            numbered.add(event)
        if not numbered.has_verdict:
            numbered.add(_internal_error("The judge ended without a verdict."))
    except JudgeCancelled:
        numbered.add(cancelled_event())
    except BaseException as error:  # the edge of a thread; see above
        log.exception("attempt %s failed; its verdict is ERROR", attempt.id)
        is_cancelled = cancellation.is_cancelled
        numbered.add(
            cancelled_event() if is_cancelled else _internal_error(f"The listener failed: {_name(error)}.")
        )
    finally:
        if not numbered.has_verdict:
            numbered.add_last_resort()
    log.info("attempt %s: %s", attempt.id, numbered.last_status)


class _NumberedEvents:
    """A sender of numbered events, up to the first verdict."""

    def __init__(self, send: SendEvent, endpoint: Endpoint) -> None:
        self._send = send
        self._endpoint = endpoint
        self._count = 0
        self.has_verdict = False
        self.last_status = ""

    def add(self, event: Event) -> None:
        """Send an event, unless the verdict has been sent."""
        if not self.has_verdict:
            self._add(clean_fields(event.fields()))

    def add_last_resort(self) -> None:
        """Send a verdict that needs no conversion."""
        self._add(_LAST_RESORT)

    def _add(self, fields: dict[str, Any]) -> None:
        is_last = is_terminal(fields["status"], self._endpoint)
        self._send(self._count + 1, fields, is_last)
        self._count += 1
        self.has_verdict = is_last
        self.last_status = fields["status"]


def _internal_error(message: str) -> Failed:
    return Failed(verdict=Verdict.ERROR, code="INTERNAL", message=message)


def _name(error: BaseException) -> str:
    return type(error).__name__
