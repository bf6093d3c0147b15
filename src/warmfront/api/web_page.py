"""Serve the web page built from `frontend/`, with a strict content security policy.

Static files are served here, and the previews of shared links. The page gets its data from the API, like any
other client.
"""

from __future__ import annotations

import re
import secrets
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.datastructures import Headers
from starlette.responses import FileResponse, HTMLResponse, Response

from warmfront.api.browser_origin import BrowserOrigin
from warmfront.api.link_preview import find_preview

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from warmfront.api.context import ServiceContext

#: Where `scripts/page build` writes the page.
FOLDER = Path(__file__).parent / "site"

#: The placeholder for the nonce in index.html, written by vite.config.ts.
_NONCE = "__CSP_NONCE__"

_PAGES = re.compile(
    r"/|/problems(/[^/]+)?|/submissions(/[^/]+)?|/compare/[^/]+/[^/]+|/leaderboard/[^/]+"
    r"|/operations|/operators|/settings|/red-team|/scratch|/shared|/sign-in|/join|/account|/people|/team"
)
#: A shared result, its view for an iframe, and the image of its preview.
_SHARED = re.compile(r"/s/([^/]+)(/preview\.png)?")
_EMBED = re.compile(r"/embed/[^/]+")
_ASSET = re.compile(r"/assets/([A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*)")
#: Paths of the API, which never return the page.
_PROGRAM_PATHS = re.compile(r"/(api|auth|health|ready|metrics|openapi\.json|assets)(/|$)")

_CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-{nonce}'; img-src 'self'; "
    "font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors {ancestors}"
)
#: Sites that may show the page in a frame. The embedded view has no session and no controls.
_NO_SITE, _ANY_SITE = "'none'", "*"
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
}
#: The name of an asset contains the hash of its content, so the content of a name never changes.
_IMMUTABLE = "public, max-age=31536000, immutable"

_NOT_BUILT = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Warmfront</title>
<h1>The page is not built</h1>
<p>The API is available at <code>/api/amd</code>. To build the page, run <code>make page</code> in a checkout
and reload.</p></html>"""


class WebPageMiddleware:
    """Middleware that serves the page and its assets, and passes all other requests on."""

    def __init__(self, app: ASGIApp, folder: Path = FOLDER, *, service: ServiceContext | None = None) -> None:
        self._app = app
        self._folder = folder
        self._service = service  #: for the previews of shared links

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        response = await self._response(scope) if scope["type"] == "http" else None
        await (response or self._app)(scope, receive, send)

    async def _response(self, scope: Scope) -> Response | None:
        if scope["method"] not in {"GET", "HEAD"}:
            return None
        path, headers = scope["path"], Headers(scope=scope)
        if asset := _ASSET.fullmatch(path):
            return self._asset(asset[1], headers)
        if _PAGES.fullmatch(path):
            return self._index(200)
        if shared := _SHARED.fullmatch(path):
            return await self._shared(shared[1], headers, is_image=shared[2] is not None)
        if _EMBED.fullmatch(path):
            return self._index(200, ancestors=_ANY_SITE)
        wants_page = "text/html" in headers.get("accept", "")
        return self._index(404) if wants_page and not _PROGRAM_PATHS.match(path) else None

    async def _shared(self, share_id: str, headers: Headers, *, is_image: bool) -> Response | None:
        """Return the page of a shared result with the tags of its preview, or the image of the preview."""
        preview = None if self._service is None else await find_preview(self._service, share_id)
        if is_image and preview is not None:
            return Response(preview.image(), 200, {**_HEADERS, "Cache-Control": "no-cache"}, "image/png")
        if is_image:
            return None  # the router responds with 404
        if preview is None or self._service is None:
            return self._index(200)
        origin = BrowserOrigin.for_links(self._service.settings, headers)
        return self._index(200, tags=preview.tags(origin.url))

    def _index(self, status: int, *, tags: str = "", ancestors: str = _NO_SITE) -> Response:
        nonce = secrets.token_urlsafe(16)
        try:
            text = (self._folder / "index.html").read_text("utf-8").replace(_NONCE, nonce)
            text = text.replace("</head>", f"{tags}</head>", 1)
        except FileNotFoundError:
            text, status = _NOT_BUILT, 503
        policy = _CONTENT_SECURITY_POLICY.format(nonce=nonce, ancestors=ancestors)
        return HTMLResponse(
            text,
            status,
            {**_HEADERS, "Content-Security-Policy": policy, "Cache-Control": "no-cache"},
        )

    def _asset(self, name: str, headers: Headers) -> Response | None:
        path = self._folder / "assets" / name
        if not path.is_file():
            return None  # an asset of an older build; the router responds with 404
        media_type = _MEDIA_TYPES.get(path.suffix, "application/octet-stream")
        response_headers = {**_HEADERS, "Cache-Control": _IMMUTABLE, "Vary": "Accept-Encoding"}
        compressed = path.with_name(f"{name}.gz")
        if "gzip" in headers.get("accept-encoding", "") and compressed.is_file():
            path, response_headers = compressed, {**response_headers, "Content-Encoding": "gzip"}
        return FileResponse(path, headers=response_headers, media_type=media_type)


_MEDIA_TYPES = {
    ".js": "text/javascript",
    ".css": "text/css",
    ".svg": "image/svg+xml",
    ".woff2": "font/woff2",
}
