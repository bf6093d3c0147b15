"""The private channel between the judge and the program in a box: two FIFOs in the box's folder.

Hostile code may write anything to it, so this module does not parse data, does not map it into memory, and
has a deadline for every wait.
"""

from __future__ import annotations

import contextlib
import fcntl
import math
import os
import select
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

COMMANDS = "commands"
ANSWERS = "answers"

#: Pipe capacity: a larger pipe means fewer context switches per large message.
PIPE_BYTES = 1 << 20


class FifoChannel:
    """The judge's end of the channel. `ended_fd` becomes readable when the program has ended."""

    def __init__(self, folder: Path) -> None:
        for name in (COMMANDS, ANSWERS):
            os.mkfifo(folder / name)
            (folder / name).chmod(0o666)
        # Opened for reading and writing, so that neither side's open() blocks.
        self._commands = os.open(folder / COMMANDS, os.O_RDWR | os.O_NONBLOCK)
        self._answers = os.open(folder / ANSWERS, os.O_RDONLY | os.O_NONBLOCK)
        for fd in (self._commands, self._answers):
            with contextlib.suppress(OSError):  # the user's quota of pipe memory is used up: only slower
                fcntl.fcntl(fd, fcntl.F_SETPIPE_SZ, PIPE_BYTES)

    def send(self, data: memoryview, *, ended_fd: int, deadline: float) -> int:
        """Write all of `data`, unless the program ends or does not read it before the deadline.

        Returns the number of bytes that were written.
        """
        poller = select.poll()
        poller.register(self._commands, select.POLLOUT)
        poller.register(ended_fd, select.POLLIN)
        sent = 0
        while sent < len(data):
            events = dict(poller.poll(_ms_until(deadline)))
            if ended_fd in events or self._commands not in events:
                break
            with contextlib.suppress(BlockingIOError):
                sent += os.write(self._commands, data[sent:])
        return sent

    def receive_into(self, data: memoryview, *, ended_fd: int, deadline: float) -> int:
        """Fill `data`, unless the program ends, closes its end or misses the deadline.

        Returns the number of bytes that were read.
        """
        poller = select.poll()
        poller.register(self._answers, select.POLLIN)
        poller.register(ended_fd, select.POLLIN)
        filled = 0
        has_ended = False
        while filled < len(data):
            events = dict(poller.poll(0 if has_ended else _ms_until(deadline)))
            if events.get(self._answers, 0) & select.POLLIN:
                filled += os.readv(self._answers, [data[filled:]])
                if time.monotonic() > deadline:  # sending single bytes must not extend the deadline
                    break
            elif ended_fd in events and not has_ended:
                has_ended = True  # it may have answered just before it ended: poll once more
            else:
                break
        return filled

    def close(self) -> None:
        """Close the judge's end. The FIFOs are removed with the folder."""
        for fd in (self._commands, self._answers):
            os.close(fd)


def wait_readable(fd: int, *, deadline: float) -> bool:
    """Wait until `fd` is readable or the deadline has passed; return whether it is readable."""
    poller = select.poll()
    poller.register(fd, select.POLLIN)
    return bool(poller.poll(_ms_until(deadline)))


def _ms_until(deadline: float) -> int:
    return max(0, math.ceil((deadline - time.monotonic()) * 1000))
