"""A real OpenID Connect issuer on loopback, and the sign-in of a browser without a browser.

The issuer is npm's oidc-provider, which is certified; `scripts/page issuer` installs it.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

import httpx

from tests.support.services import PROMPT_S, ROOT, Service, running

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

FOLDER = ROOT / "tests" / "support" / "oidc"
CLIENT_ID = "warmfront"
CLIENT_SECRET = "a secret of the tests"  # noqa: S105 - of a client that exists only on this machine


def node() -> str | None:
    """Return the path of Node: the machine's, or the one that `scripts/page` has installed."""
    installed = ROOT / ".venv-node" / "bin" / "node"
    return shutil.which("node") or (str(installed) if installed.exists() else None)


class Issuer:
    """A running issuer."""

    def __init__(self, url: str, process: subprocess.Popen[str]) -> None:
        self.url = url
        self._process = process

    def settings(self, **others: str) -> dict[str, str]:
        """Return the variables with which a service uses this issuer."""
        return {
            "WARMFRONT_OIDC_ISSUER": self.url,
            "WARMFRONT_OIDC_CLIENT_ID": CLIENT_ID,
            "WARMFRONT_OIDC_CLIENT_SECRET": CLIENT_SECRET,
            "WARMFRONT_OIDC_NAME": "Test issuer",
            **others,
        }

    def stop(self) -> None:
        """End the issuer, so that nothing responds at its address."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(timeout=PROMPT_S)


@contextlib.contextmanager
def issuing(*redirect_uris: str) -> Iterator[Issuer]:
    """Run an issuer for a client with these redirect URIs."""
    program = node()
    assert program is not None, "scripts/page installs Node where the machine has none"
    process = subprocess.Popen(
        [program, FOLDER / "issuer.js"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={
            **os.environ,
            "CLIENT_ID": CLIENT_ID,
            "CLIENT_SECRET": CLIENT_SECRET,
            "REDIRECT_URIS": json.dumps(redirect_uris),
        },
    )
    assert process.stdin is not None
    assert process.stdout is not None
    issuer = None
    try:
        url = process.stdout.readline().strip()
        assert url.startswith("http://127.0.0.1:"), f"the issuer did not start: {url!r}"
        issuer = Issuer(url, process)
        yield issuer
    finally:
        process.stdin.close()
        process.wait(timeout=PROMPT_S)
        process.stdout.close()


class Person:
    """A person with a separate browser: cookies, and the Origin header of the page."""

    def __init__(self, service_url: str) -> None:
        self.service_url = service_url
        self.http = httpx.Client(
            base_url=service_url, timeout=PROMPT_S, headers={"Origin": service_url}, follow_redirects=False
        )

    def begin(self, **fields: Any) -> httpx.Response:
        """Send the request of the sign-in button."""
        return self.http.post("/api/amd/session/sign-in", json=fields)

    def sign_in(self, name: str, **fields: Any) -> httpx.Response:
        """Sign in at the issuer, and return the response of the service to the callback."""
        begun = self.begin(**fields)
        assert begun.status_code == 200, begun.text
        return self.http.get(self.visit_issuer(begun.json()["url"], name))

    def visit_issuer(self, url: str, name: str) -> str:
        """Sign in at the issuer, and return the address to which it sends the browser back."""
        response = self.http.get(url)
        while response.is_redirect:
            url = urljoin(str(response.url), response.headers["location"])
            if url.startswith(self.service_url):
                return url
            response = self.http.get(url)
        assert re.search('name="login"', response.text), response.text
        response = self.http.post(str(response.url), data={"login": name})
        while response.is_redirect:
            url = urljoin(str(response.url), response.headers["location"])
            if url.startswith(self.service_url):
                return url
            response = self.http.get(url)
        raise AssertionError(response.text)

    def session(self) -> Mapping[str, Any]:
        """Return the service's report on the session."""
        response = self.http.get("/api/amd/session")
        assert response.status_code == 200, response.text
        return dict(response.json())

    def close(self) -> None:
        """Close the connections."""
        self.http.close()


def is_installed() -> bool:
    """Return whether the issuer and Node are installed."""
    return node() is not None and (Path(FOLDER) / "node_modules" / "oidc-provider").is_dir()


@contextlib.contextmanager
def serving_accounts(data_dir: Path, **environment: str) -> Iterator[tuple[Service, Issuer]]:
    """Run a service whose users sign in at its own issuer."""
    service = Service(data_dir, **environment)
    with issuing(f"{service.url}/auth/callback") as issuer:
        service.environment.update(issuer.settings(**environment))
        with running(service):
            yield service, issuer
