"""Defer Ctrl-C while a command is loading.

A `KeyboardInterrupt` in the middle of an import would print a traceback; deferred, it is raised as soon as
the command can report it. Programs started in the meantime are not affected.
"""

from __future__ import annotations

import signal


class _State:
    """The state of deferral: whether SIGINT is deferred, and whether one has arrived."""

    deferred = False
    received = False


def hold() -> None:
    """Defer SIGINT, unless the parent process made this one ignore it."""
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return
    _State.deferred, _State.received = True, False
    signal.signal(signal.SIGINT, lambda *_: setattr(_State, "received", True))


def release() -> None:
    """Stop deferring SIGINT; raise `KeyboardInterrupt` if one arrived. Do nothing if it was not deferred."""
    if not _State.deferred:
        return
    _State.deferred = False
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if _State.received:
        raise KeyboardInterrupt
