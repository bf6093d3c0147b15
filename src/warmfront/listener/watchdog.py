"""Ends a listener that nobody speaks to any more, even one whose event loop is stuck.

A thread, because a stuck event loop runs no timer. It ends the process; it judges nothing.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from warmfront.listener.app import ControlPlaneContact

log = logging.getLogger(__name__)

#: How long an end in good order may take, and then one by force.
GRACE_S = 30.0
FORCE_S = 10.0
#: The exit code of an end by force.
FORCED = 3


class Watchdog(threading.Thread):
    """Calls `end` when nothing was heard for `limit_s`; what does not end then is ended by `force`."""

    def __init__(
        self,
        contact: ControlPlaneContact,
        limit_s: float,
        *,
        end: Callable[[], object],
        force: Callable[[], object],
    ) -> None:
        super().__init__(name="dead man", daemon=True)
        self._contact = contact
        self._limit_s = limit_s
        self._end = end
        self._force = force
        self._ending = threading.Event()

    def ending(self) -> None:
        """The listener ends for another reason: see to it that it does."""
        self._ending.set()

    def run(self) -> None:
        """Wait, end, and make sure."""
        while not self._ending.is_set():
            rest_s = self._contact.heard + self._limit_s - time.monotonic()
            if rest_s <= 0:
                log.warning("no heartbeat for %g s: the listener ends", self._limit_s)
                self._end()
                break
            self._ending.wait(rest_s)
        # The process is gone by then, and this thread with it, unless something is stuck.
        time.sleep(GRACE_S)
        log.error("the listener did not end in good order: it is ended by force")
        forcing = threading.Thread(target=self._force, daemon=True)
        forcing.start()
        forcing.join(FORCE_S)
        os._exit(FORCED)
