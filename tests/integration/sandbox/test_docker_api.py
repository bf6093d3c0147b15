"""The version of Docker's API is negotiated: engines refuse versions that are too old or too new for them."""

from __future__ import annotations

import json
import socketserver
import tempfile
import threading
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import pytest

from tests.support.boxes import LIMITS
from tests.support.docker_proxy import docker_with_minimum
from warmfront.errors import NoSandbox
from warmfront.sandbox.base import ExitReason, Template
from warmfront.sandbox.docker import Docker, DockerBox, connect

if TYPE_CHECKING:
    from collections.abc import Iterator


class FakeDaemon(BaseHTTPRequestHandler):
    """Answers GET /version as a Docker daemon does, and refuses versions of the API outside its range."""

    versions: ClassVar[dict[str, str]] = {}

    def do_GET(self) -> None:
        """Answer one request."""
        if self.path == "/version":
            self._answer(200, {"Version": "29.0.0", **self.versions})
        elif self.path.startswith(f"/v{self.versions['MinAPIVersion']}/"):
            self._answer(200, {"ID": "fake"})
        else:
            self._answer(400, {"message": "client version is too old"})

    def _answer(self, status: int, content: dict[str, str]) -> None:
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def address_string(self) -> str:
        """Return a name for the log: a UNIX socket has no address."""
        return "client"

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@pytest.fixture(name="fake_url")
def _fake_url() -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "socket")
        with socketserver.ThreadingUnixStreamServer(path, FakeDaemon) as server:
            thread = threading.Thread(target=server.serve_forever, daemon=True)
            thread.start()
            yield f"unix://{path}"
            server.shutdown()
            thread.join()


def test_a_daemon_that_refuses_old_versions_gets_one_that_it_has(
    fake_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Engine 29 has 1.44 as its oldest version."""
    monkeypatch.setattr(FakeDaemon, "versions", {"ApiVersion": "1.52", "MinAPIVersion": "1.44"})
    client = connect(fake_url)
    assert client.api_version == "1.44"
    assert client.info() == {"ID": "fake"}
    client.close()


@pytest.mark.parametrize(
    ("versions", "message"),
    [
        ({"ApiVersion": "1.40", "MinAPIVersion": "1.12"}, "too old: its API is 1.40, and boxes need 1.41"),
        ({"ApiVersion": "new"}, "does not report its API version"),
        ({}, "does not report its API version"),
    ],
)
def test_a_daemon_that_is_too_old_is_refused(
    fake_url: str, monkeypatch: pytest.MonkeyPatch, versions: dict[str, str], message: str
) -> None:
    """The error names the daemon's version and the required one."""
    monkeypatch.setattr(FakeDaemon, "versions", versions)
    with pytest.raises(NoSandbox, match=message) as error:
        connect(fake_url)
    assert error.value.hint


@pytest.mark.docker
def test_boxes_work_with_a_daemon_whose_minimum_is_newer(docker_url: str) -> None:
    """A real daemon behind a proxy that refuses every version below 1.44, as engine 29 does."""
    template = Template(name="test", argv=("/bin/echo", "works"), mounts=(), limits=LIMITS)
    with docker_with_minimum(docker_url, "1.44") as url:
        sandbox = Docker(url=url)
        with sandbox.take(template) as box:
            box.go()
            assert box.wait().output == b"works\n"
        sandbox.close()


@pytest.mark.docker
def test_a_late_report_that_memory_was_exhausted(docker_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A busy daemon can report it after the exit: the box asks again before it blames a signal."""
    template = Template(name="test", argv=("/usr/bin/tail", "/dev/zero"), mounts=(), limits=LIMITS)
    sandbox = Docker(url=docker_url)
    with sandbox.take(template) as box:
        assert isinstance(box, DockerBox)
        inspect = box._api.inspect_container
        hidden: list[str] = []

        def report_late(container: str) -> Any:
            information = inspect(container)
            if information["State"]["OOMKilled"] and not hidden:
                hidden.append(container)
                information["State"]["OOMKilled"] = False
            return information

        monkeypatch.setattr(box._api, "inspect_container", report_late)
        box.go()
        assert box.wait().reason is ExitReason.MEMORY
    assert hidden
    sandbox.close()
