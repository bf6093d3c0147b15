"""The documentation site at /docs: its files with a strict policy, and nothing outside of its folder."""

from __future__ import annotations

import asyncio
import gzip
from typing import TYPE_CHECKING

import httpx
import pytest
from starlette.applications import Starlette

from warmfront.api.documentation import DocumentationMiddleware

if TYPE_CHECKING:
    from pathlib import Path


class Client:
    """A client of a service that serves only this site."""

    def __init__(self, site: Path) -> None:
        self._transport = httpx.ASGITransport(DocumentationMiddleware(Starlette(), site))

    def get(self, path: str, **headers: str) -> httpx.Response:
        """Return the response for a path."""

        async def get() -> httpx.Response:
            async with httpx.AsyncClient(transport=self._transport, base_url="http://test") as client:
                return await client.get(path, headers={"Accept-Encoding": "identity", **headers})

        return asyncio.run(get())


@pytest.fixture(name="client")
def _client(tmp_path: Path) -> Client:
    site = tmp_path / "site"
    for name in ("index.html", "404.html", "judge/index.html", "files/examples/relu.hip", "assets/a.js"):
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text(name)
    (site / "assets/a.js.gz").write_bytes(gzip.compress(b"compressed"))
    (tmp_path / "secret").write_text("secret")
    return Client(site)


@pytest.mark.parametrize(
    ("path", "status", "text", "media_type"),
    [
        ("/docs/", 200, "index.html", "text/html; charset=utf-8"),
        ("/docs/judge/", 200, "judge/index.html", "text/html; charset=utf-8"),
        ("/docs/files/examples/relu.hip", 200, "files/examples/relu.hip", "text/plain; charset=utf-8"),
        ("/docs/files/examples/relu.hip/", 404, "404.html", "text/html; charset=utf-8"),
        ("/docs/nothing", 404, "404.html", "text/html; charset=utf-8"),
        ("/docs/%2e%2e/secret", 404, "404.html", "text/html; charset=utf-8"),
        ("/docs/..%2fsecret", 404, "404.html", "text/html; charset=utf-8"),
        ("/docs/judge/%00", 404, "404.html", "text/html; charset=utf-8"),
    ],
)
def test_only_files_of_the_site_are_served(
    client: Client, path: str, status: int, text: str, media_type: str
) -> None:
    """A directory is served as its page; a path that leaves the folder does not exist."""
    response = client.get(path)
    assert (response.status_code, response.text) == (status, text)
    assert response.headers["content-type"] == media_type
    policy = response.headers["content-security-policy"]
    assert "script-src 'self';" in policy
    assert "unsafe" not in policy


@pytest.mark.parametrize("path", ["/docs", "/docs/judge"])
def test_a_directory_without_a_slash_is_redirected(client: Client, path: str) -> None:
    """Relative links of a page need the slash."""
    response = client.get(path)
    assert (response.status_code, response.headers["location"]) == (307, f"{path}/")


def test_compressed_files_are_used_if_accepted(client: Client) -> None:
    """The build has compressed text once."""
    assert client.get("/docs/assets/a.js", **{"Accept-Encoding": "gzip"}).text == "compressed"
    assert client.get("/docs/assets/a.js").text == "assets/a.js"


def test_a_site_that_is_not_built_says_how_to_build_it(tmp_path: Path) -> None:
    """Without the build there is an explanation, and other paths are not affected."""
    client = Client(tmp_path / "nothing")
    response = client.get("/docs/judge/")
    assert response.status_code == 503
    assert "make docs" in response.text
    assert client.get("/docsx").status_code == 404
