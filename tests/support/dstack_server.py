"""The real dstack server for tests: started on a free port, killed, and restarted on the same state.

It is a separate process with its own virtual environment and home directory; everything that it starts ends
with it.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import httpx

from tests.support import dstack_scaled_server

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

PROJECT = "main"
#: The first migrations take about ten seconds, on a busy machine several times as long.
_START_TIMEOUT_S = 900.0
_STOP_TIMEOUT_S = 20.0
_REQUEST_TIMEOUT_S = 30.0
_POLL_S = 0.05
#: Runs a command; the kernel kills all of its processes when it ends, and the command with this process.
CONTAINED = (
    *("setpriv", "--pdeathsig", "KILL"),
    *("unshare", "--pid", "--fork", "--kill-child=KILL", "--mount-proc"),
)


class DstackServer:
    """A context manager for one server: its state, its port and its process.

    Start it from a thread that lives at least as long: the server ends with that thread.
    """

    #: The administrator's token; the same for all servers, because it is part of the state template.
    token = "11111111-2222-3333-4444-555555555555"  # noqa: S105 - only for tests
    project = PROJECT

    def __init__(
        self,
        folder: Path,
        *,
        python: Path,
        cache: Path,
        backends: Sequence[Mapping[str, Any]] = (),
        environment: Mapping[str, str] | None = None,
        scale: float | None = None,
    ) -> None:
        """Create a server that runs with `python`; `scale` multiplies its intervals, None leaves them."""
        with socket.create_server(("127.0.0.1", 0)) as free:
            self._port: int = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self._port}"
        self.home = folder / "home"  #: also for clients, which cache data about this server
        self.log = folder / "dstack-server.log"
        self._state = folder / "state"
        self._python = python
        self._cache = cache
        self._backends = backends
        self._extra_environment = dict(environment or {})
        self._scale = scale
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.home.mkdir(parents=True)
        shutil.copytree(_template(self._python, self._cache), self._state)
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def start(self) -> None:
        """Start the server on its current state and return when it responds."""
        self._state.mkdir(parents=True, exist_ok=True)
        projects = [{"name": PROJECT, "backends": list(self._backends)}]
        # JSON is valid YAML.
        (self._state / "config.yml").write_text(json.dumps({"projects": projects}))
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [*CONTAINED, *self._command(), "--host", "127.0.0.1", "--port", str(self._port), "-n"],
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=self._state,
            )
        try:
            self._wait_until_ready(self._process)
        except BaseException:
            self.kill()
            raise

    def restart_without(self, backend: str) -> None:
        """Restart the server after an operator removed a backend from its configuration."""
        self.kill()
        self._backends = [known for known in self._backends if known["type"] != backend]
        self.start()

    def stop(self) -> None:
        """Terminate the server, as an operator would."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """Kill the server and all of its processes."""
        self._end(signal.SIGKILL)

    def _end(self, sign: signal.Signals) -> None:
        """Signal the namespace's first process, which ends after all other processes of the namespace."""
        if self._process is None:
            return
        children = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children")
        with suppress(FileNotFoundError, ProcessLookupError):  # it has ended already
            for child in children.read_text().split():
                os.kill(int(child), sign)
        try:
            self._process.wait(_STOP_TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None

    def _command(self) -> list[str]:
        if self._scale is None:
            return [str(self._python.parent / "dstack"), "server"]
        return [str(self._python), str(dstack_scaled_server.__file__), str(self._scale)]

    def _environment(self) -> dict[str, str]:
        """Return the server's environment, with only PATH from the test's environment."""
        return {
            "PATH": os.environ.get("PATH", os.defpath),
            "LANG": "C.UTF-8",
            "HOME": str(self.home),
            "DSTACK_SERVER_DIR": str(self._state),
            "DSTACK_SERVER_ADMIN_TOKEN": self.token,
            "DSTACK_SERVER_HOST": "127.0.0.1",
            "DSTACK_SERVER_PORT": str(self._port),
            "DSTACK_SERVER_LOG_FORMAT": "standard",
            "DSTACK_SERVER_LOG_LEVEL": "INFO",
            **self._extra_environment,
        }

    def _wait_until_ready(self, process: subprocess.Popen[bytes]) -> None:
        give_up_at = time.monotonic() + _START_TIMEOUT_S
        with httpx.Client(base_url=self.url, trust_env=False) as client:
            while time.monotonic() < give_up_at:
                if process.poll() is not None:
                    break
                try:
                    if client.get("/healthcheck", timeout=_REQUEST_TIMEOUT_S).is_success:
                        return
                except httpx.TransportError:
                    time.sleep(_POLL_S)
        end = self.log.read_text(errors="replace")[-2000:]
        raise RuntimeError(f"The dstack server did not start:\n{end}")


def _template(python: Path, cache: Path) -> Path:
    """Return an empty state with all migrations applied, built once per version; saves 8 s per start."""
    version = subprocess.run(
        [python, "-c", "import importlib.metadata as m; print(m.version('dstack'))"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    template = cache / f"dstack-server-{version}"
    cache.mkdir(parents=True, exist_ok=True)
    with _lock(cache / f"dstack-server-{version}.lock"):
        if not template.exists():
            _build_template(template, python, cache)
    return template


def _build_template(template: Path, python: Path, cache: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="dstack-server-", dir=cache) as folder:
        server = DstackServer(Path(folder), python=python, cache=cache)
        server.home.mkdir()
        server.start()
        server.stop()
        (Path(folder) / "state").rename(template)


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    """Hold a file lock: test workers start at the same time."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
