"""Ctrl-C in the first moments of a command, when half of it is loaded: heard as soon as it can be answered.

It loads nothing, and changes nothing for the programs that are started meanwhile.
"""

from __future__ import annotations

import signal


class _Held:
    """Whether Ctrl-C is held back, and whether it came."""

    now = False
    came = False


def hold() -> None:
    """From now on remember it, unless whoever started us has it ignored."""
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return
    _Held.now, _Held.came = True, False
    signal.signal(signal.SIGINT, lambda *_: setattr(_Held, "came", True))


def release() -> None:
    """From now on it is `KeyboardInterrupt` again, at once if it came; nothing, if it was not held."""
    if not _Held.now:
        return
    _Held.now = False
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if _Held.came:
        raise KeyboardInterrupt
