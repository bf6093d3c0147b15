"""The budget's alert reaches the operator's webhook, and a webhook that fails stops nothing."""

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
    """A webhook on loopback that answers as it is told."""

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
    monkeypatch.setattr(alert_webhook, "_PAUSE_S", 0.0)
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
    """The webhook gets the figures, by one request."""
    asyncio.run(alert_webhook.AlertWebhook(receiver.url)(FACTS))
    assert receiver.received == [{"event": "BUDGET_ALERT", **FACTS}]


def test_a_webhook_that_fails_is_asked_again(receiver: Receiver, statuses: list[int]) -> None:
    """An answer that is no success is followed by another try, until one is."""
    statuses[:] = [500, 503, 200]
    asyncio.run(alert_webhook.AlertWebhook(receiver.url)(FACTS))
    assert len(receiver.received) == 3


def test_a_webhook_that_is_not_there_is_logged_without_its_address(
    receiver: Receiver, statuses: list[int], caplog: pytest.LogCaptureFixture
) -> None:
    """It gives up after some tries, and the log has no token of the operator's."""
    statuses[:] = [404] * 9
    asyncio.run(alert_webhook.AlertWebhook(receiver.url)(FACTS))
    assert len(receiver.received) == 4
    assert "answered 404" in caplog.text
    assert "hunter2" not in caplog.text
