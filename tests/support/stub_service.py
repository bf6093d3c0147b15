"""A stub service with faults on demand: it cuts streams, repeats or omits events, and rejects requests.

Its events are given by the test, and it records the requests that it received.
"""

from __future__ import annotations

import json
import threading
from collections import deque
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

TIME = "2026-11-15T12:30:00.000Z"


@dataclass(frozen=True, kw_only=True)
class Part:
    """The data that one connection to the event stream receives before it ends."""

    count: int | None = None  #: number of events; None: all
    then: bytes = b""  #: bytes after them, such as half an event
    is_clean: bool = False  #: the stream ends as if the server was stopped
    back: int = 0  #: events to send again although the client has them
    skip: int = 0  #: events to omit
    holds: bool = False  #: the stream stays open until the service releases it


@dataclass
class StubService:
    """A stub service with one submission, on a free port of loopback."""

    events: list[dict[str, Any]]
    endpoint: str = "submit"
    parts: deque[Part] = field(
        default_factory=deque
    )  #: one per connection; later connections receive everything
    refusals: deque[tuple[int, bytes]] = field(default_factory=deque)  #: sent before any other response
    drops: int = 0  #: submits to accept without a response
    answers: dict[str, Any] = field(default_factory=dict)  #: path → JSON
    keys: dict[str, str] = field(default_factory=dict)  #: Idempotency-Key → id
    requests: list[tuple[str, str, dict[str, str], bytes]] = field(default_factory=list)
    records: dict[str, dict[str, Any]] = field(
        default_factory=dict
    )  #: if not empty: the list of all submissions
    release: threading.Event = field(default_factory=threading.Event)

    def __enter__(self) -> Self:
        handler = type("Handler", (_Handler,), {"stub": self})
        self._server = _Server(("127.0.0.1", 0), handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.release.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    @property
    def url(self) -> str:
        """The base URL."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def resumed_from(self) -> list[int]:
        """Return the Last-Event-ID of each connection to the stream."""
        return [
            int(headers["last-event-id"]) for _, path, headers, _ in self.requests if path.endswith("/events")
        ]

    def record(self, submission_id: str) -> dict[str, Any]:
        """Return the submission with its verdict."""
        return {
            "id": submission_id,
            "owner": "local",
            "problem": "leaky-relu",
            "gpu_type": "MI300X",
            "dtype": "float32",
            "language": "hip",
            "endpoint": self.endpoint,
            "file_name": "solution.hip",
            "code_sha256": "0" * 64,
            "state": "DONE",
            "verdict": self.events[-1]["status"],
            "created_at": TIME,
            "finished_at": TIME,
            "vm_id": "vm_1",
            "attempts": 1,
            "cancel_requested": False,
            "simulated": True,
            "cost_usd": 0.0331,
            "avg_runtime_ms": 1.5,
            "avg_ci": [1.47, 1.53],
            "noisy": False,
            "avg_gflops": None,
            "last_event_id": len(self.events),
            "urls": dict.fromkeys(("self", "events", "code", "cancel"), "/"),
        }


def events_of(*statuses: str, **last: Any) -> list[dict[str, Any]]:
    """Return a stream of these events; the last one has these fields."""
    stream = [{"id": n, "time": TIME, "status": status} for n, status in enumerate(statuses, 1)]
    stream[-1].update(last)
    return stream


def encode(event: dict[str, Any]) -> bytes:
    """Encode an event as a server-sent event."""
    data = json.dumps(event, ensure_ascii=False)
    return f"id: {event['id']}\nevent: {event['status']}\ndata: {data}\n\n".encode()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 512  # connections that can wait while threads start


class _Handler(BaseHTTPRequestHandler):
    stub: StubService
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Respond with JSON or with the stream."""
        self._keep(b"")
        if self._refuse():
            return
        path = self.path.partition("?")[0].removeprefix("/api/amd")
        if path.endswith("/events"):
            self._stream(self.stub.parts.popleft() if self.stub.parts else Part())
        elif path in self.stub.answers:
            self._answer(200, self.stub.answers[path])
        elif path == "/submissions":
            state = parse_qs(urlsplit(self.path).query).get("state", [None])[0]
            items = [item for item in self.stub.records.values() if state in {None, item["state"]}]
            self._answer(200, {"items": items, "next_cursor": None})
        elif path.startswith("/submissions/") and self._find(path) is not None:
            self._answer(200, self._find(path))
        else:
            self._answer(404, {"code": "NOT_FOUND", "detail": f"nothing at {path}", "hint": ""})

    def _find(self, path: str) -> dict[str, Any] | None:
        found = path.rpartition("/")[2]
        return self.stub.records.get(found) if self.stub.records else self.stub.record(found)

    def do_POST(self) -> None:
        """Accept a submission or a cancel request."""
        self._keep(self.rfile.read(int(self.headers.get("Content-Length", "0"))))
        if self._refuse():
            return
        if self.path.endswith("/cancel"):
            self._answer(409, {"code": "CONFLICT", "detail": "It has a verdict already.", "hint": ""})
            return
        key = self.headers["Idempotency-Key"]
        found = self.stub.keys.setdefault(key, f"sub_{len(self.stub.keys) + 1}")
        if self.stub.drops:
            self.stub.drops -= 1
            self.close_connection = True
            return
        self._answer(202, {"id": found, "status": "IN_QUEUE", "urls": {}})

    def log_message(self, *_: object) -> None:
        """Log nothing."""

    def _keep(self, body: bytes) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.stub.requests.append((self.command, self.path, headers, body))

    def _refuse(self) -> bool:
        if not self.stub.refusals:
            return False
        status, body = self.stub.refusals.popleft()
        self._send(status, "application/problem+json", body)
        return True

    def _answer(self, status: int, value: Any) -> None:
        self._send(status, "application/json", json.dumps(value).encode())

    def _send(self, status: int, media_type: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", media_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _stream(self, part: Part) -> None:
        begin = max(int(self.headers.get("Last-Event-ID", "0")) - part.back, 0) + part.skip
        end = None if part.count is None else begin + part.count
        body = b": still here\n\n" + b"".join(map(encode, self.stub.events[begin:end])) + part.then
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        self.wfile.write(f"{len(body):x}\r\n".encode() + body + b"\r\n")
        if part.holds:
            self.stub.release.wait(60)
        if part.count is None or part.is_clean:
            self.wfile.write(b"0\r\n\r\n")
        self.close_connection = True
