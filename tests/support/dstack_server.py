"""The real dstack server for tests: started on a free port, killed and started again on the same state.

It is a process of its own, from a virtual environment of its own, with a home of its own; everything that
it starts ends with it. It knows nothing of what its backends lead to.
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
#: A server's first migrations take about ten seconds, on a busy machine several times that.
_START_S = 180.0
_STOP_S = 20.0
_LOOK_S = 0.05
#: The kernel kills all that the server started along with it, and the server along with us.
_CONTAINED = (
    *("setpriv", "--pdeathsig", "KILL"),
    *("unshare", "--pid", "--fork", "--kill-child=KILL", "--mount-proc"),
)


class DstackServer:
    """A context manager: one state and one port, and the process that serves them, if one does.

    Start it from a thread that lives as long as it should.
    """

    #: The administrator's; the same for all, since it is in the template of every state.
    token = "11111111-2222-3333-4444-555555555555"  # noqa: S105 - opens nothing but a test
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
        """`python` is the server's; `scale` shortens the rests that it takes, None leaves it as it is."""
        with socket.create_server(("127.0.0.1", 0)) as free:
            self._port: int = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self._port}"
        self.home = folder / "home"  #: also for clients: what they cache is about this server
        self.log = folder / "dstack-server.log"
        self._state = folder / "state"
        self._python = python
        self._cache = cache
        self._backends = backends
        self._given = dict(environment or {})
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
        """Start it on what state there is, and return when it answers."""
        self._state.mkdir(parents=True, exist_ok=True)
        projects = [{"name": PROJECT, "backends": list(self._backends)}]
        # JSON is YAML, too.
        (self._state / "config.yml").write_text(json.dumps({"projects": projects}))
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [*_CONTAINED, *self._command(), "--host", "127.0.0.1", "--port", str(self._port), "-n"],
                env=self._environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                cwd=self._state,
            )
        try:
            self._wait_until_up(self._process)
        except BaseException:
            self.kill()
            raise

    def stop(self) -> None:
        """Ask it to end, as an operator would."""
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """End it without a word, and all that it started."""
        self._end(signal.SIGKILL)

    def _end(self, sign: signal.Signals) -> None:
        """By its own process, which ends after all others of its namespace, and before what contains it."""
        if self._process is None:
            return
        children = Path(f"/proc/{self._process.pid}/task/{self._process.pid}/children")
        with suppress(FileNotFoundError, ProcessLookupError):  # it has ended by itself
            for child in children.read_text().split():
                os.kill(int(child), sign)
        try:
            self._process.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None

    def _command(self) -> list[str]:
        if self._scale is None:
            return [str(self._python.parent / "dstack"), "server"]
        return [str(self._python), str(dstack_scaled_server.__file__), str(self._scale)]

    def _environment(self) -> dict[str, str]:
        """Where programs are, and nothing else of ours: a test's environment is none of its business."""
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
            **self._given,
        }

    def _wait_until_up(self, process: subprocess.Popen[bytes]) -> None:
        give_up_at = time.monotonic() + _START_S
        with httpx.Client(base_url=self.url, trust_env=False) as client:
            while time.monotonic() < give_up_at:
                if process.poll() is not None:
                    break
                try:
                    if client.get("/healthcheck", timeout=1.0).is_success:
                        return
                except httpx.TransportError:
                    time.sleep(_LOOK_S)
        end = self.log.read_text(errors="replace")[-2000:]
        raise RuntimeError(f"The dstack server does not start:\n{end}")


def _template(python: Path, cache: Path) -> Path:
    """A state with all migrations done and nothing in it, made once a version: eight seconds less a start."""
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
            _make(template, python, cache)
    return template


def _make(template: Path, python: Path, cache: Path) -> None:
    with tempfile.TemporaryDirectory(prefix="dstack-server-", dir=cache) as folder:
        server = DstackServer(Path(folder), python=python, cache=cache)
        server.home.mkdir()
        server.start()
        server.stop()
        (Path(folder) / "state").rename(template)


@contextmanager
def _lock(path: Path) -> Iterator[None]:
    """One process at a time: test workers start at the same moment."""
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
