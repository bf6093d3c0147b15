"""A webhook on loopback for alerts."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator


class WebhookReceiver:
    """A webhook on loopback that responds with the given statuses."""

    def __init__(self, statuses: list[int]) -> None:
        self.received: list[Any] = []
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                owner.received.append(json.loads(body))
                self.send_response(statuses.pop(0))
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - http.server's name
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/hook?token=hunter2"


@contextmanager
def receiving(statuses: list[int]) -> Iterator[WebhookReceiver]:
    """Serve a webhook that responds with these statuses, one per request."""
    receiver = WebhookReceiver(statuses)
    thread = threading.Thread(target=receiver.server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield receiver
    finally:
        receiver.server.shutdown()
        receiver.server.server_close()
        thread.join()
