"""A registry for container images on loopback, for `docker push` and `docker pull`, in memory.

Docker accepts a registry without TLS on loopback. Only what Docker and `image_registry` send is implemented.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
import uuid
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterator

_UPLOAD = re.compile(r"/v2/(.+)/blobs/uploads/([\w-]*)")
_BLOB = re.compile(r"/v2/(.+)/blobs/(sha256:\w+)")
_MANIFEST = re.compile(r"/v2/(.+)/manifests/([\w.:-]+)")


class _Handler(BaseHTTPRequestHandler):
    """The registry API: uploads, blobs and manifests."""

    protocol_version = "HTTP/1.1"
    #: Docker tries TLS first, and then without, if it gets an answer in HTTP.
    default_request_version = "HTTP/1.1"
    blobs: dict[str, bytes]
    uploads: dict[str, bytes]
    manifests: dict[tuple[str, str], tuple[str, bytes]]
    #: The token that is required to pull, and that every client gets; None: none is required.
    token: str | None

    def do_GET(self) -> None:
        """Return a blob, a manifest or a token."""
        path = urlsplit(self.path).path
        if path == "/token":
            self._send_token()
        elif self.token and self.headers.get("Authorization") != f"Bearer {self.token}":
            self._challenge(path)
        elif match := _MANIFEST.fullmatch(path):
            self._send_manifest(match[1], match[2])
        elif (match := _BLOB.fullmatch(path)) and match[2] in self.blobs:
            self._send(200, self.blobs[match[2]], {"Docker-Content-Digest": match[2]})
        else:
            self._send(200 if path == "/v2/" else 404)

    def do_HEAD(self) -> None:
        """Return the headers of a blob or a manifest."""
        self.do_GET()

    def do_POST(self) -> None:
        """Begin an upload."""
        match = _UPLOAD.fullmatch(urlsplit(self.path).path)
        assert match, self.path
        upload = str(uuid.uuid4())
        self.uploads[upload] = b""
        self._send(202, headers={"Location": f"/v2/{match[1]}/blobs/uploads/{upload}"})

    def do_PATCH(self) -> None:
        """Continue an upload."""
        match = _UPLOAD.fullmatch(urlsplit(self.path).path)
        assert match, self.path
        self.uploads[match[2]] += self._body()
        received = f"0-{len(self.uploads[match[2]]) - 1}"
        self._send(202, headers={"Location": urlsplit(self.path).path, "Range": received})

    def do_PUT(self) -> None:
        """End an upload, or store a manifest under its tag and its digest."""
        path = urlsplit(self.path)
        body = self._body()
        if match := _MANIFEST.fullmatch(path.path):
            digest = f"sha256:{hashlib.sha256(body).hexdigest()}"
            for reference in (match[2], digest):
                self.manifests[match[1], reference] = (self.headers["Content-Type"], body)
        else:
            match = _UPLOAD.fullmatch(path.path)
            assert match, self.path
            digest = parse_qs(path.query)["digest"][0]
            self.blobs[digest] = self.uploads.pop(match[2]) + body
        self._send(201, headers={"Docker-Content-Digest": digest, "Location": path.path})

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        """Print nothing."""

    def _challenge(self, path: str) -> None:
        """Ask for a token, as Docker Hub does."""
        match = _MANIFEST.fullmatch(path)
        realm = f"http://{self.headers['Host']}/token"
        scope = f"repository:{match[1] if match else ''}:pull"
        challenge = f'Bearer realm="{realm}",service="registry.example",scope="{scope}"'
        self._send(401, headers={"WWW-Authenticate": challenge})

    def _send_token(self) -> None:
        fields = parse_qs(urlsplit(self.path).query)
        is_complete = fields["service"] == ["registry.example"] and fields["scope"][0].endswith(":pull")
        self._send(200 if is_complete else 400, json.dumps({"token": self.token}).encode())

    def _send_manifest(self, repository: str, reference: str) -> None:
        if (repository, reference) not in self.manifests:
            self._send(404)
            return
        kind, body = self.manifests[repository, reference]
        digest = f"sha256:{hashlib.sha256(body).hexdigest()}"
        self._send(200, body, {"Content-Type": kind, "Docker-Content-Digest": digest})

    def _send(self, status: int, body: bytes = b"", headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = b""
        while size := int(self.rfile.readline(), 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body


@contextmanager
def registry(*, token: str | None = None) -> Iterator[str]:
    """Run a registry and yield its address, such as `127.0.0.1:5000`; with `token`, pulling needs it."""
    state: dict[str, object] = {"blobs": {}, "uploads": {}, "manifests": {}, "token": token}
    handler = type("Handler", (_Handler,), state)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()
