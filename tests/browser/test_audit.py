"""Tests of `scripts/page audit` with fake registries: with advisories, without, and without audits."""

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
    """Run a package registry with these advisories; None rejects audits, as mirrors do."""

    class Registry(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            self._respond(405 if advisories is None else 200, advisories or {})

        def do_GET(self) -> None:
            """Serve a package without versions, so that npm finds no fix."""
            self._respond(200, {"name": self.path.lstrip("/"), "versions": {}})

        def _respond(self, status: int, body: dict[str, Any]) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(json.dumps(body).encode())

        def log_message(self, *_: object) -> None:
            """Do not log requests."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Registry) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()


@pytest.mark.parametrize(
    ("advisories", "code", "words"),
    [
        ({"katex": [PROBLEM]}, 1, "Made up for this test"),
        ({"vite": [PROBLEM]}, 0, "no high or critical vulnerability is known"),  # a build tool, not shipped
        (None, 3, "NOT audited"),
    ],
)
def test_the_audit_fails_for_shipped_packages_and_reports_a_registry_without_audits(
    tmp_path: Path, advisories: dict[str, Any] | None, code: int, words: str
) -> None:
    """High and critical advisories fail the audit; a registry without audits has its own exit code."""
    with _registry(advisories) as url:
        # Keep fake advisories out of the real cache.
        own = {"npm_config_registry": url, "npm_config_cache": str(tmp_path), "npm_config_fetch_retries": "0"}
        done = subprocess.run(
            [ROOT / "scripts" / "page", "audit"],
            env={**os.environ, **own},
            capture_output=True,
            text=True,
            check=False,
            timeout=600,
        )
    assert words in done.stderr
    assert done.returncode == code
