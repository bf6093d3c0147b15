"""The real service as a process, on a free port and with a state of its own; for tests to use and to kill."""

from __future__ import annotations

import os
import queue
import signal
import socket
import subprocess
import sys
import threading
from typing import IO, TYPE_CHECKING, Self

if TYPE_CHECKING:
    from pathlib import Path

#: A rehearsal with a boot of half a second: cold, warm and dollars are seen without waiting.
REHEARSAL = {
    "WARMFRONT_REHEARSE": "true",
    "WARMFRONT_REHEARSE_BOOT": "0.5",
    "WARMFRONT_BENCH_BUDGET": "0.1",
}


class ServiceProcess:
    """`warmfront serve`; it can be killed and started again on the same port and state."""

    def __init__(self, data: Path, **environment: str) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self._port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self._port}"
        without = {"WARMFRONT_DATABASE_URL", "WARMFRONT_API_KEY"}
        inherited = {name: value for name, value in os.environ.items() if name not in without}
        self._reading: list[threading.Thread] = []
        #: For commands too.
        self.environment = {
            **inherited,
            **REHEARSAL,
            "WARMFRONT_DATA_DIR": str(data),
            "WARMFRONT_URL": self.url,
            **environment,
        }

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.end(signal.SIGTERM)

    def start(self) -> None:
        """Start it, and return when it listens."""
        self._process = subprocess.Popen(
            [sys.executable, "-m", "warmfront", "serve", "--port", str(self._port)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=self.environment,
        )
        assert self._process.stdout is not None
        lines: queue.Queue[str | None] = queue.Queue()
        # Read on for as long as it runs: a full pipe would hold it up.
        self._reading.append(threading.Thread(target=_read, args=(self._process.stdout, lines)))
        self._reading[-1].start()
        seen = []
        while (line := lines.get(timeout=120)) is not None:
            seen.append(line)
            if "listens on" in line:
                return
        raise AssertionError("".join(seen))

    def end(self, number: signal.Signals) -> None:
        """End it, with SIGTERM in good order, with SIGKILL at once."""
        self._process.send_signal(number)
        self._process.wait(timeout=60)
        if number is signal.SIGTERM:  # its VMs, which have its stdout too, ended with it
            for reading in self._reading:
                reading.join(timeout=60)

    def run(self, *arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
        """A command against it."""
        return subprocess.run(
            [sys.executable, "-m", "warmfront", *map(str, arguments)],
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
            env={**self.environment, **environment},
        )


def _read(output: IO[str], lines: queue.Queue[str | None]) -> None:
    with output:
        for line in output:
            lines.put(line)
    lines.put(None)
