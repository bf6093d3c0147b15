"""Alerts reach the operator by webhook, Slack and e-mail; a failing channel affects nothing else."""

from __future__ import annotations

import asyncio
import socket
from typing import TYPE_CHECKING, Any

import pytest
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, Envelope, LoginPassword

from tests.support.webhook_receiver import WebhookReceiver, receiving
from warmfront.service import alert_channels
from warmfront.service.alert_channels import AlertChannels
from warmfront.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Iterator

FACTS = {"spent_usd": 1120.5, "credits_usd": 1400.0, "threshold": 0.8}


async def _send(**settings: str) -> None:
    await AlertChannels.of(Settings(**settings))(FACTS)  # type: ignore[arg-type]  # text settings


@pytest.fixture(name="statuses")
def _statuses(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    monkeypatch.setattr(alert_channels, "_BACKOFF_S", 0.0)
    return [204]


@pytest.fixture(name="receiver")
def _receiver(statuses: list[int]) -> Iterator[WebhookReceiver]:
    with receiving(statuses) as receiver:
        yield receiver


def test_the_alert_is_posted_once(receiver: WebhookReceiver) -> None:
    """The webhook receives the figures in one request."""
    asyncio.run(_send(alert_webhook=receiver.url))
    assert receiver.received == [{"event": "BUDGET_ALERT", **FACTS}]


def test_a_failed_post_is_retried(receiver: WebhookReceiver, statuses: list[int]) -> None:
    """A response that is not a success is followed by another attempt."""
    statuses[:] = [500, 503, 200]
    asyncio.run(_send(alert_webhook=receiver.url))
    assert len(receiver.received) == 3


def test_a_failing_webhook_is_logged_without_its_url(
    receiver: WebhookReceiver, statuses: list[int], caplog: pytest.LogCaptureFixture
) -> None:
    """After the last attempt it gives up; the log does not contain the token in the URL."""
    statuses[:] = [404] * 9
    asyncio.run(_send(alert_webhook=receiver.url))
    assert len(receiver.received) == 4
    assert "responded with 404" in caplog.text
    assert "hunter2" not in caplog.text


def test_slack_gets_its_own_format(receiver: WebhookReceiver) -> None:
    """The message is one line of text."""
    asyncio.run(_send(alert_slack_webhook=receiver.url))
    assert receiver.received == [{"text": "*Warmfront*: $1,120.50 of $1,400.00 credits are spent."}]


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return int(free.getsockname()[1])


class Mailbox:
    """A real SMTP server on loopback that keeps what it receives."""

    def __init__(self, **options: Any) -> None:
        self.messages: list[Envelope] = []
        self.port = _free_port()
        self.controller = Controller(self, hostname="127.0.0.1", port=self.port, **options)
        self.controller.start()

    async def handle_DATA(self, server: object, session: object, envelope: Envelope) -> str:  # noqa: ARG002, N802 - aiosmtpd calls it
        """Keep a message."""
        self.messages.append(envelope)
        return "250 OK"


def _login(
    server: object, session: object, envelope: object, mechanism: str, data: LoginPassword
) -> AuthResult:
    return AuthResult(success=data.password == b"hunter2", handled=False)


@pytest.fixture(name="mailbox")
def _mailbox() -> Iterator[Mailbox]:
    mailbox = Mailbox(authenticator=_login, auth_require_tls=False)
    yield mailbox
    mailbox.controller.stop()


def test_a_mail_has_the_facts(mailbox: Mailbox) -> None:
    """A real mail server gets one message for all recipients, after a login."""
    asyncio.run(
        _send(
            smtp_url=f"smtp://olga:hunter2@127.0.0.1:{mailbox.port}",
            alert_email_to="olga@example.org, ops@example.org",
            alert_email_from="warmfront@example.org",
        )
    )
    (envelope,) = mailbox.messages
    assert envelope.rcpt_tos == ["olga@example.org", "ops@example.org"]
    assert envelope.mail_from == "warmfront@example.org"
    assert isinstance(envelope.content, bytes)
    text = envelope.content.decode()
    assert "Subject: Warmfront: BUDGET_ALERT" in text
    assert "$1,120.50 of $1,400.00 credits are spent." in text


def test_a_wrong_password_and_a_stopped_server_are_reported_without_it(mailbox: Mailbox) -> None:
    """The results name the channel and the reason; the password and the address are in none."""

    async def test(url: str) -> list[alert_channels.Delivery]:
        settings = Settings(smtp_url=url, alert_email_to="olga@example.org")
        return await AlertChannels.of(settings).test({"event": "ALERT_TEST", "text": "A test."})

    (denied,) = asyncio.run(test(f"smtp://olga:swordfish@127.0.0.1:{mailbox.port}"))
    assert (denied.channel, denied.ok, denied.detail) == (
        "email",
        False,
        "the mail server responded with 535",
    )
    (gone,) = asyncio.run(test(f"smtp://olga:swordfish@127.0.0.1:{_free_port()}"))
    assert not gone.ok
    assert gone.detail == "the mail server cannot be reached: the connection was refused or failed"
    assert "swordfish" not in repr([denied, gone])


def test_secrets_are_not_in_the_text_of_settings() -> None:
    """A settings object can be logged."""
    settings = Settings(
        alert_webhook="https://hooks.example/hunter2",
        alert_slack_webhook="https://hooks.example/hunter2",
        smtp_url="smtp://olga:hunter2@mail.example",
    )
    assert "hunter2" not in repr(settings)
