"""The web page: serves what `frontend/` was built into, with a policy that lets in nothing else.

It knows files and headers alone; whatever the page shows, it asks the API for like any other client.
"""

from __future__ import annotations

import re
import secrets
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.datastructures import Headers
from starlette.responses import FileResponse, HTMLResponse, Response

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

#: Where `scripts/page build` puts it.
FOLDER = Path(__file__).parent / "site"

#: In index.html, wherever a nonce belongs; vite.config.ts puts it there.
_NONCE = "__CSP_NONCE__"

_PAGES = re.compile(
    r"/|/problems(/[^/]+)?|/submissions(/[^/]+)?|/compare/[^/]+/[^/]+|/leaderboard/[^/]+|/operations|/settings"
)
_ASSET = re.compile(r"/assets/([A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*)")
#: What programs ask for: never answered with a page.
_FOR_PROGRAMS = re.compile(r"/(api|health|ready|metrics|openapi\.json|assets)(/|$)")

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-{nonce}'; img-src 'self'; "
    "font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
}
#: A name holds its content's hash: another content has another name.
_FOREVER = "public, max-age=31536000, immutable"

_NOT_BUILT = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Warmfront</title>
<h1>The page is not built</h1>
<p>The API is up, at <code>/api/amd</code>. In a checkout, <code>make page</code> builds the page and says
what is in its way; then load this again.</p></html>"""


class WebPageMiddleware:
    """Answers what a browser asks for, and hands on everything else."""

    def __init__(self, app: ASGIApp, folder: Path = FOLDER) -> None:
        self._app = app
        self._folder = folder

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        response = self._response(scope) if scope["type"] == "http" else None
        await (response or self._app)(scope, receive, send)

    def _response(self, scope: Scope) -> Response | None:
        if scope["method"] not in {"GET", "HEAD"}:
            return None
        path, headers = scope["path"], Headers(scope=scope)
        if asset := _ASSET.fullmatch(path):
            return self._asset(asset[1], headers)
        if _PAGES.fullmatch(path):
            return self._index(200)
        wants_page = "text/html" in headers.get("accept", "")
        return self._index(404) if wants_page and not _FOR_PROGRAMS.match(path) else None

    def _index(self, status: int) -> Response:
        nonce = secrets.token_urlsafe(16)
        try:
            text = (self._folder / "index.html").read_text("utf-8").replace(_NONCE, nonce)
        except FileNotFoundError:
            text, status = _NOT_BUILT, 503
        policy = _POLICY.format(nonce=nonce)
        return HTMLResponse(
            text,
            status,
            {**_HEADERS, "Content-Security-Policy": policy, "Cache-Control": "no-cache"},
        )

    def _asset(self, name: str, headers: Headers) -> Response | None:
        path = self._folder / "assets" / name
        if not path.is_file():
            return None  # of an older build; the router says 404
        kind = _TYPES.get(path.suffix, "application/octet-stream")
        more = {**_HEADERS, "Cache-Control": _FOREVER, "Vary": "Accept-Encoding"}
        packed = path.with_name(f"{name}.gz")
        if "gzip" in headers.get("accept-encoding", "") and packed.is_file():
            path, more = packed, {**more, "Content-Encoding": "gzip"}
        return FileResponse(path, headers=more, media_type=kind)


_TYPES = {
    ".js": "text/javascript",
    ".css": "text/css",
    ".svg": "image/svg+xml",
    ".woff2": "font/woff2",
}
