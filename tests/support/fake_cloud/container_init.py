"""The first process in a simulated container: it gives a command loopback and a terminal, and waits for it.

It runs by its path, in namespaces of its own and without our packages. When it ends, the kernel ends all
that is left.
"""

from __future__ import annotations

import fcntl
import os
import signal
import socket
import struct
import sys
import termios

_SIOCSIFFLAGS = 0x8914
_IFF_UP = 1


def main() -> int:
    """Run the command that the arguments are; its exit code."""
    _raise_loopback()
    child = os.fork()
    if child == 0:
        _become(sys.argv[1:])
    while True:
        # Orphans of the container are ours to clear away, as they are any init's.
        pid, status = os.wait()
        if pid == child:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code


def _raise_loopback() -> None:
    with socket.socket() as anything:
        fcntl.ioctl(anything, _SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", _IFF_UP))


def _become(argv: list[str]) -> None:
    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    # Python ignores it, and what is ignored stays so.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        os.execvp(argv[0], argv)  # noqa: S606 - there is no shell but the one that the task asks for
    except OSError as error:
        os.write(2, f"{argv[0]}: {error.strerror}\n".encode())
        os._exit(127)


if __name__ == "__main__":
    sys.exit(main())
