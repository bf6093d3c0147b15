"""The middleware that serves the web page: its files, its headers, and the requests that it passes on."""

from __future__ import annotations

import asyncio
import gzip
import re
from typing import TYPE_CHECKING

import httpx
import pytest
from starlette.responses import PlainTextResponse

from warmfront.api.web_page import WebPageMiddleware

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = "console.log('hello')\n" * 100
BROWSER = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


@pytest.fixture(name="folder")
def _folder(tmp_path: Path) -> Path:
    (tmp_path / "assets").mkdir()
    (tmp_path / "index.html").write_text(
        '<meta nonce="__CSP_NONCE__"><script nonce="__CSP_NONCE__"></script>'
    )
    (tmp_path / "assets" / "index-1a2b.js").write_text(SCRIPT)
    (tmp_path / "assets" / "index-1a2b.js.gz").write_bytes(gzip.compress(SCRIPT.encode()))
    (tmp_path / "secret.txt").write_text("no asset")
    return tmp_path


async def _get(folder: Path, path: str, **options: object) -> httpx.Response:
    """Send a request to the middleware in front of an application that reports being called."""
    site = WebPageMiddleware(PlainTextResponse("handed on", 404), folder)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(site), base_url="http://127.0.0.1") as client:
        return await client.request("GET", path, **options)  # type: ignore[arg-type]  # any option of a request


def _ask(folder: Path, path: str, **options: object) -> httpx.Response:
    return asyncio.run(_get(folder, path, **options))


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/problems",
        "/problems/relu",
        "/submissions",
        "/submissions/sub_1",
        "/compare/a/b",
        "/operations",
        "/operators",
    ],
)
def test_every_view_serves_the_page(folder: Path, path: str) -> None:
    """A link to a view opens the page, which is never cached."""
    answer = _ask(folder, path)
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/html")
    assert answer.headers["cache-control"] == "no-cache"


def test_the_content_security_policy_forbids_inline_scripts(folder: Path) -> None:
    """Scripts must be files of the page, and every response has a new nonce."""
    nonces = set()
    for _ in range(2):
        answer = _ask(folder, "/")
        policy = answer.headers["content-security-policy"]
        assert "script-src 'self';" in policy
        assert "unsafe" not in policy
        found = re.search(r"style-src 'self' 'nonce-([\w-]{16,})'", policy)
        assert found is not None
        assert answer.text.count(f'nonce="{found[1]}"') == 2
        nonces.add(found[1])
    assert len(nonces) == 2


@pytest.mark.parametrize("encoding", ["gzip", "identity"])
def test_an_asset_is_immutable_and_compressed_if_accepted(folder: Path, encoding: str) -> None:
    """Its name contains its hash; the compressed file has the same content."""
    answer = _ask(folder, "/assets/index-1a2b.js", headers={"Accept-Encoding": encoding})
    assert answer.text == SCRIPT
    assert answer.headers.get("content-encoding", "identity") == encoding
    assert "immutable" in answer.headers["cache-control"]
    assert answer.headers["content-type"].startswith("text/javascript")


@pytest.mark.parametrize("path", ["/assets/gone.js", "/assets/..%2fsecret.txt", "/assets/%2e%2e/secret.txt"])
def test_unknown_assets_are_passed_on(folder: Path, path: str) -> None:
    """An old name and a path that leaves the folder are passed on."""
    assert _ask(folder, path, headers=BROWSER).text == "handed on"


def test_an_unknown_path_is_404(folder: Path) -> None:
    """A browser gets the page with 404; paths for programs are passed on to the API."""
    lost = _ask(folder, "/nowhere", headers=BROWSER)
    assert lost.status_code == 404
    assert "nonce" in lost.text
    assert _ask(folder, "/nowhere").text == "handed on"
    assert _ask(folder, "/api/amd/nowhere", headers=BROWSER).text == "handed on"
    assert _ask(folder, "/metrics", headers=BROWSER).text == "handed on"


def test_an_unbuilt_page_explains_how_to_build_it(tmp_path: Path) -> None:
    """The response is 503; the API is not affected."""
    answer = _ask(tmp_path, "/")
    assert answer.status_code == 503
    assert "make page" in answer.text
