"""Serve the documentation site at `/docs`, with a strict content security policy.

`scripts/docs build` writes the site into this package. Only static files are served, and only those that the
build has written.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.datastructures import Headers
from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

#: Where `scripts/docs build` writes the site.
FOLDER = Path(__file__).parent / "docs_site"

#: `data:` images are the icons in the theme's style sheet.
_CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Content-Security-Policy": _CONTENT_SECURITY_POLICY,
    "Cache-Control": "no-cache",
    "Vary": "Accept-Encoding",
}
_PATH = re.compile(r"/docs(/.*)?")
#: The parts of a path: no empty or hidden ones, so that a path cannot leave the folder.
_PART = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]*")

_NOT_BUILT = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Warmfront documentation</title>
<h1>The documentation is not built</h1>
<p>To build it, run <code>make docs</code> in a checkout and reload. The same pages are in its directory
<code>docs</code>.</p></html>"""


class DocumentationMiddleware:
    """Middleware that serves the documentation site, and passes all other requests on."""

    def __init__(self, app: ASGIApp, folder: Path = FOLDER) -> None:
        self._app = app
        self._folder = folder

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        response = None
        if scope["type"] == "http" and scope["method"] in {"GET", "HEAD"} and _PATH.fullmatch(scope["path"]):
            response = self._response(scope["path"].removeprefix("/docs"), Headers(scope=scope))
        await (response or self._app)(scope, receive, send)

    def _response(self, path: str, headers: Headers) -> Response:
        if not (self._folder / "index.html").is_file():
            return HTMLResponse(_NOT_BUILT, 503, _HEADERS)
        parts = [part for part in path.split("/") if part]
        file = self._folder.joinpath(*parts) if all(map(_PART.fullmatch, parts)) else None
        if file is not None and file.is_dir():
            if not path.endswith("/"):
                return RedirectResponse(f"/docs{path}/", 307, _HEADERS)
            file /= "index.html"
        if file is None or not file.is_file() or (path.endswith("/") and file.name != "index.html"):
            return self._file(self._folder / "404.html", headers, 404)
        return self._file(file, headers, 200)

    def _file(self, file: Path, headers: Headers, status: int) -> Response:
        media_type = _MEDIA_TYPES.get(file.suffix, "text/plain; charset=utf-8")
        compressed = file.with_name(f"{file.name}.gz")
        if "gzip" in headers.get("accept-encoding", "") and compressed.is_file():
            return FileResponse(compressed, status, {**_HEADERS, "Content-Encoding": "gzip"}, media_type)
        return FileResponse(file, status, _HEADERS, media_type)


#: Sources of kernels, configuration and other files that pages link to are shown as text.
_MEDIA_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript",
    ".css": "text/css",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".gz": "application/gzip",
}
