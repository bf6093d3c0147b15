"""The init process of a fake container: it brings up loopback, runs a command in a terminal and waits for it.

It is started by path, in its own namespaces and without our packages. When it ends, the kernel kills the
remaining processes of its namespace.
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
    """Run the command given as arguments and return its exit code."""
    _bring_up_loopback()
    child = os.fork()
    if child == 0:
        _exec(sys.argv[1:])
    while True:
        # Like any init process, also reap orphans.
        pid, status = os.wait()
        if pid == child:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code


def _bring_up_loopback() -> None:
    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, _SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", _IFF_UP))


def _exec(argv: list[str]) -> None:
    os.setsid()
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    # Python ignores SIGPIPE, and an ignored signal stays ignored after exec.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    try:
        os.execvp(argv[0], argv)  # noqa: S606 - no shell, unless the task runs one
    except OSError as error:
        os.write(2, f"{argv[0]}: {error.strerror}\n".encode())
        os._exit(127)


if __name__ == "__main__":
    sys.exit(main())
