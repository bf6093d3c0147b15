"""`scripts/page audit` against registries of our own: with nothing to tell, something, or no audits."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.services import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PROBLEM = {
    "id": 1,
    "title": "Made up for this test",
    "url": "about:blank",
    "severity": "high",
    "vulnerable_versions": "*",
    "cwe": [],
    "cvss": {"score": 8, "vectorString": None},
}


@contextlib.contextmanager
def _registry(advisories: dict[str, Any] | None) -> Iterator[str]:
    """A package registry with these advisories; without any it offers no audits, as mirrors do."""

    class Registry(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self._answer(405 if advisories is None else 200, advisories or {})

        def do_GET(self) -> None:
            """A package, with no version that would be a way out."""
            self._answer(200, {"name": self.path.lstrip("/"), "versions": {}})

        def _answer(self, status: int, body: dict[str, Any]) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(json.dumps(body).encode())

        def log_message(self, *_: object) -> None:
            """Say nothing of requests."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Registry) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.mark.parametrize(
    ("advisories", "code", "words"),
    [
        ({"katex": [PROBLEM]}, 1, "Made up for this test"),
        ({"vite": [PROBLEM]}, 0, "no high or critical problem is known"),  # it builds, and is not shipped
        (None, 3, "NOT audited"),
    ],
)
def test_the_audit_fails_on_what_is_shipped_and_says_when_it_could_not_ask(
    tmp_path: Path, advisories: dict[str, Any] | None, code: int, words: str
) -> None:
    """High and critical problems fail it; a registry that offers no audits is neither clean nor a finding."""
    with _registry(advisories) as url:
        # Made-up advisories stay out of the cache of real ones.
        own = {"npm_config_registry": url, "npm_config_cache": str(tmp_path), "npm_config_fetch_retries": "0"}
        done = subprocess.run(
            [ROOT / "scripts" / "page", "audit"],
            env={**os.environ, **own},
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
    assert words in done.stderr
    assert done.returncode == code
