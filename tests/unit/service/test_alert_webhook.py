"""Budget alerts reach the operator's webhook, and a failing webhook affects nothing else."""

from __future__ import annotations

import asyncio
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest

from warmfront.service import alert_webhook

if TYPE_CHECKING:
    from collections.abc import Iterator

FACTS = {"spent_usd": 1120.5, "credits_usd": 1400.0, "threshold": 0.8}


class Receiver:
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


@pytest.fixture(name="statuses")
def _statuses(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    monkeypatch.setattr(alert_webhook, "_BACKOFF_S", 0.0)
    return [204]


@pytest.fixture(name="receiver")
def _receiver(statuses: list[int]) -> Iterator[Receiver]:
    receiver = Receiver(statuses)
    serving = threading.Thread(target=receiver.server.serve_forever, kwargs={"poll_interval": 0.01})
    serving.start()
    yield receiver
    receiver.server.shutdown()
    receiver.server.server_close()
    serving.join()


def test_the_alert_is_posted_once(receiver: Receiver) -> None:
    """The webhook receives the figures in one request."""
    asyncio.run(alert_webhook.AlertWebhook(receiver.url)(FACTS))
    assert receiver.received == [{"event": "BUDGET_ALERT", **FACTS}]


def test_a_failed_post_is_retried(receiver: Receiver, statuses: list[int]) -> None:
    """A response that is not a success is followed by another attempt."""
    statuses[:] = [500, 503, 200]
    asyncio.run(alert_webhook.AlertWebhook(receiver.url)(FACTS))
    assert len(receiver.received) == 3


def test_a_failing_webhook_is_logged_without_its_url(
    receiver: Receiver, statuses: list[int], caplog: pytest.LogCaptureFixture
) -> None:
    """After the last attempt it gives up; the log does not contain the token in the URL."""
    statuses[:] = [404] * 9
    asyncio.run(alert_webhook.AlertWebhook(receiver.url)(FACTS))
    assert len(receiver.received) == 4
    assert "responded with 404" in caplog.text
    assert "hunter2" not in caplog.text
