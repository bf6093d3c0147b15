"""The watchdog: end a listener that has lost contact with the control plane, even if its event loop hangs.

It is a thread, because a hanging event loop does not run timers.
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

#: How long an orderly shutdown may take, and then a forced one.
GRACE_S = 30.0
FORCE_S = 10.0
#: The exit code of a forced shutdown.
FORCED_EXIT_CODE = 3


class Watchdog(threading.Thread):
    """A thread that ends the process if no request with the token arrived for `limit_s` seconds.

    Args:
        contact: the time of the last request, which every heartbeat updates.
        limit_s: how long the control plane may be silent.
        shut_down: starts an orderly shutdown; must not block.
        force: cleans up when the orderly shutdown takes longer than `GRACE_S`; the process exits afterwards.
    """

    def __init__(
        self,
        contact: ControlPlaneContact,
        limit_s: float,
        *,
        shut_down: Callable[[], object],
        force: Callable[[], object],
    ) -> None:
        super().__init__(name="warmfront-watchdog", daemon=True)
        self._contact = contact
        self._limit_s = limit_s
        self._shut_down = shut_down
        self._force = force
        self._is_ending = threading.Event()

    def expect_end(self) -> None:
        """Start the grace period now, because the listener is shutting down for another reason."""
        self._is_ending.set()

    def run(self) -> None:
        """Wait until heartbeats stop, start the shutdown, and force it after the grace period."""
        while not self._is_ending.is_set():
            remaining_s = self._contact.last_request + self._limit_s - time.monotonic()
            if remaining_s <= 0:
                log.warning("no heartbeat for %g s; shutting down the listener", self._limit_s)
                self._shut_down()
                break
            self._is_ending.wait(remaining_s)
        # The process, and this daemon thread with it, ends within the grace period unless something hangs.
        time.sleep(GRACE_S)
        log.error("the listener did not shut down within %g s; forcing it to exit", GRACE_S)
        cleanup = threading.Thread(target=self._force, daemon=True)
        cleanup.start()
        cleanup.join(FORCE_S)
        os._exit(FORCED_EXIT_CODE)
