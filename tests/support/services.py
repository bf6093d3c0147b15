"""A real service for tests: `warmfront serve` in its own process, which a test can kill and restart."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent.parent
EXAMPLE = (ROOT / "examples" / "leaky_relu.hip").read_text()
#: Only a service that hangs takes this long: the first start on a busy machine, without bytecode, takes
#: minutes.
PROMPT_S = 600.0


#: A rehearsal with a boot of half a second: cold starts, warm reuse and costs without long waits.
REHEARSAL = {
    "WARMFRONT_REHEARSE": "true",
    "WARMFRONT_REHEARSE_BOOT": "0.5",
    "WARMFRONT_BENCH_BUDGET": "0.1",
}


class Service:
    """A data directory, a port, and the process that serves them while it runs."""

    def __init__(self, data_dir: Path, **environment: str) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self._port = free.getsockname()[1]
        self.data_dir = data_dir
        self.url = f"http://127.0.0.1:{self._port}"
        self.lines: list[str] = []  #: its output
        without = {"WARMFRONT_DATABASE_URL", "WARMFRONT_API_KEY"}
        inherited = {name: value for name, value in os.environ.items() if name not in without}
        #: for commands, too
        self.environment = {
            **inherited,
            "WARMFRONT_PORT": str(self._port),
            "WARMFRONT_DATA_DIR": str(data_dir),
            "WARMFRONT_URL": self.url,
            **environment,
        }
        self._process: subprocess.Popen[str] | None = None

    @property
    def pid(self) -> int:
        """The id of its process."""
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        """Start the service and wait until it listens."""
        self._process = subprocess.Popen(
            [sys.executable, "-m", "warmfront", "serve"],
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=self.data_dir,
        )
        listens: queue.Queue[bool] = queue.Queue()
        threading.Thread(target=self._listen, args=(self._process, listens), daemon=True).start()
        assert listens.get(timeout=PROMPT_S), self.lines

    def run(self, *words: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a command against the service."""
        return subprocess.run(
            [sys.executable, "-m", "warmfront", *map(str, words)],
            capture_output=True,
            text=True,
            check=False,
            timeout=PROMPT_S,
            env={**self.environment, **environment},
        )

    def kill(self) -> None:
        """Kill the service with SIGKILL."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()
        self._process = None

    def wait(self) -> int:
        """Wait until the service has ended by itself, and return its exit code."""
        assert self._process is not None
        code = self._process.wait(timeout=PROMPT_S)
        self._process = None
        return code

    def stop(self) -> int:
        """End the service as Ctrl-C does, and return its exit code."""
        if self._process is None:
            return 0
        self._process.send_signal(signal.SIGINT)
        code = self._process.wait(timeout=PROMPT_S)
        self._process = None
        return code

    def get(self, path: str, **parameters: Any) -> Any:
        """Return the JSON of a successful response."""
        answer = httpx.get(f"{self.url}/api/amd/{path}", params=parameters, timeout=PROMPT_S)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def submit(self, code: str = EXAMPLE, problem: str = "leaky-relu", **fields: Any) -> str:
        """Submit without waiting, and return the id."""
        answer = httpx.post(
            f"{self.url}/api/amd/submit",
            json={"solution_code": code, "problem": problem, **fields},
            headers={"Accept": "application/json"},
            timeout=PROMPT_S,
        )
        assert answer.status_code == 202, answer.text
        return str(answer.json()["id"])

    def events(self, submission_id: str, after: int = 0) -> list[dict[str, Any]]:
        """Return all events up to the verdict."""
        headers = {"Last-Event-ID": str(after)} if after else {}
        address = f"{self.url}/api/amd/submissions/{submission_id}/events"
        with httpx.stream("GET", address, headers=headers, timeout=PROMPT_S) as answer:
            assert answer.status_code == 200
            return list(parse_sse(answer.iter_lines()))

    def judged(self, **fields: Any) -> list[dict[str, Any]]:
        """Submit, wait for the verdict, and return all events."""
        return self.events(self.submit(**fields))

    def wait_until_no_vm_is_alive(self) -> list[dict[str, Any]]:
        """Wait until all VMs have ended, and return them."""
        deadline = time.monotonic() + PROMPT_S
        while True:
            vms: list[dict[str, Any]] = self.get("vms")["items"]
            if all(vm["state"] in {"TERMINATED", "FAILED"} for vm in vms):
                return vms
            assert time.monotonic() < deadline, vms
            time.sleep(0.05)  # the API has no event for the end of a VM

    def _listen(self, process: subprocess.Popen[str], listens: queue.Queue[bool]) -> None:
        """Read its output while it runs: a full pipe would block it."""
        assert process.stdout is not None
        with process.stdout as output:
            for line in output:
                self.lines.append(line.rstrip())
                if "listens on" in line:
                    listens.put(True)  # noqa: FBT003 - it listens
        listens.put(False)  # noqa: FBT003 - it ended first


@contextlib.contextmanager
def serving(data_dir: Path, **environment: str) -> Iterator[Service]:
    """Run a service, and check afterwards that no process is left."""
    service = Service(data_dir, **environment)
    with running(service):
        yield service


@contextlib.contextmanager
def running(service: Service) -> Iterator[None]:
    """Start a service and stop it afterwards, and check that no process is left."""
    try:
        service.start()
        yield
    finally:
        service.stop()
        left = listeners_of(service.data_dir)
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        assert not left


def parse_sse(lines: Iterator[str]) -> Iterator[dict[str, Any]]:
    """Return the events of a stream, without comments."""
    for line in lines:
        if line.startswith("data:"):
            yield json.loads(line.removeprefix("data:"))


def listeners_of(data_dir: Path) -> list[int]:
    """Return the listener processes of this data directory, by their command lines."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (process / "cmdline").read_bytes().decode(errors="replace").split("\0")
            if "listener" in words and any(str(data_dir) in word for word in words):
                found.append(int(process.name))
    return found


def statuses(events: list[dict[str, Any]]) -> list[str]:
    """Return the statuses in order, without repetitions."""
    names = [event["status"] for event in events]
    return [name for number, name in enumerate(names) if number == 0 or names[number - 1] != name]
