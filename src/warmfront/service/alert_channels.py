"""The channels that carry alerts to operators: a webhook, a Slack-compatible webhook, and e-mail.

Addresses can contain secrets, so they appear neither in logs nor in responses.
"""

from __future__ import annotations

import asyncio
import logging
import smtplib
import socket
import ssl
from email.message import EmailMessage
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import unquote, urlsplit

import httpx

from warmfront.value_class import dataclass
from warmfront.values import is_loopback

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warmfront.settings import Settings

logger = logging.getLogger(__name__)

_TIMEOUT_S = 10.0
_SMTP_PORTS = {"smtp": 25, "smtps": 465}


class DeliveryFailed(Exception):
    """A channel did not accept a message. The error's text contains no secrets."""


class AlertChannel(Protocol):
    """A way to reach operators."""

    name: str

    async def send(self, facts: dict[str, Any]) -> None:
        """Send a message once. Raises `DeliveryFailed`."""


@dataclass(frozen=True, kw_only=True)
class Delivery:
    """The result of one message on one channel."""

    channel: str
    ok: bool
    detail: str


class WebhookChannel:
    """A webhook that receives the facts as JSON."""

    name = "webhook"

    def __init__(self, url: str) -> None:
        self._url = url

    async def send(self, facts: dict[str, Any]) -> None:
        """Post the facts."""
        await _post(self._url, facts)


class SlackChannel:
    """A webhook with Slack's format, which Mattermost, Discord (`/slack`) and others accept too."""

    name = "slack"

    def __init__(self, url: str) -> None:
        self._url = url

    async def send(self, facts: dict[str, Any]) -> None:
        """Post one line of text."""
        await _post(self._url, {"text": f"*Warmfront*: {message_text(facts)}"})


class EmailChannel:
    """E-mail over SMTP."""

    name = "email"

    def __init__(self, smtp_url: str, *, sender: str, recipients: Sequence[str]) -> None:
        self._url = smtp_url
        self._sender = sender
        self._recipients = list(recipients)

    async def send(self, facts: dict[str, Any]) -> None:
        """Send the message in a thread, because the library blocks."""
        message = EmailMessage()
        message["Subject"] = (
            f"Warmfront: {facts.get('rule') or facts['event']} {facts.get('state', '')}".strip()
        )
        message["From"] = self._sender
        message["To"] = ", ".join(self._recipients)
        lines = [message_text(facts), "", *(f"{name}: {value}" for name, value in facts.items())]
        message.set_content("\n".join(lines))
        try:
            await asyncio.to_thread(self._deliver, message)
        except (OSError, smtplib.SMTPException) as error:
            raise DeliveryFailed(_smtp_reason(error)) from None

    def _deliver(self, message: EmailMessage) -> None:
        parts = urlsplit(self._url)
        host, port = parts.hostname or "", parts.port or _SMTP_PORTS[parts.scheme]
        context = ssl.create_default_context()
        if parts.scheme == "smtps":
            server: smtplib.SMTP = smtplib.SMTP_SSL(host, port, timeout=_TIMEOUT_S, context=context)
        else:
            server = smtplib.SMTP(host, port, timeout=_TIMEOUT_S)
        with server:
            server.ehlo()
            encrypted = parts.scheme == "smtps"
            if not encrypted and server.has_extn("starttls"):
                server.starttls(context=context)
                server.ehlo()
                encrypted = True
            if parts.username is not None:
                if not encrypted and not is_loopback(host):
                    raise smtplib.SMTPException("the server offers no encryption for the password")
                server.login(unquote(parts.username), unquote(parts.password or ""))
            server.send_message(message)


class AlertChannels:
    """All configured channels. A failure of one is logged, and does not affect the others."""

    def __init__(self, channels: Sequence[AlertChannel]) -> None:
        self._channels = list(channels)

    @classmethod
    def of(cls, settings: Settings) -> AlertChannels:
        """Return the channels that the settings name."""
        channels: list[AlertChannel] = []
        if settings.alert_webhook:
            channels.append(WebhookChannel(settings.alert_webhook))
        if settings.alert_slack_webhook:
            channels.append(SlackChannel(settings.alert_slack_webhook))
        if settings.smtp_url and settings.alert_email_to:
            recipients = [address.strip() for address in settings.alert_email_to.split(",")]
            sender = settings.alert_email_from or recipients[0]
            channels.append(EmailChannel(settings.smtp_url, sender=sender, recipients=recipients))
        return cls(channels)

    @property
    def names(self) -> list[str]:
        """The names of the configured channels."""
        return [channel.name for channel in self._channels]

    async def __call__(self, facts: dict[str, Any]) -> None:
        """Send a message to every channel, with retries. Without an `event` it is a budget alert."""
        body = {"event": "BUDGET_ALERT", **facts}
        await asyncio.gather(*(self._send_with_retries(channel, body) for channel in self._channels))

    async def test(self, facts: dict[str, Any]) -> list[Delivery]:
        """Send a message to every channel once, and return the results."""
        return list(await asyncio.gather(*(self._try(channel, facts) for channel in self._channels)))

    async def _send_with_retries(self, channel: AlertChannel, facts: dict[str, Any]) -> None:
        for attempt in range(_ATTEMPTS):
            if attempt > 0:
                await asyncio.sleep(_BACKOFF_S * 2 ** (attempt - 1))
            delivery = await self._try(channel, facts)
            if delivery.ok:
                return
            logger.warning(
                "sending the alert %s by %s failed (attempt %d of %d): %s",
                facts["event"],
                channel.name,
                attempt + 1,
                _ATTEMPTS,
                delivery.detail,
            )

    @staticmethod
    async def _try(channel: AlertChannel, facts: dict[str, Any]) -> Delivery:
        try:
            await channel.send(facts)
        except DeliveryFailed as error:
            return Delivery(channel=channel.name, ok=False, detail=str(error))
        return Delivery(channel=channel.name, ok=True, detail="")


#: Attempts per message and channel, with exponential backoff between them.
_ATTEMPTS = 4
_BACKOFF_S = 1.0


def message_text(facts: dict[str, Any]) -> str:
    """Return a message as one line of text."""
    if facts["event"] == "BUDGET_ALERT":
        return f"${facts['spent_usd']:,.2f} of ${facts['credits_usd']:,.2f} credits are spent."
    state = f"{facts['state']}: " if "state" in facts else f"{facts['event']}: "
    details = ", ".join(f"{name} {value}" for name, value in facts.items() if name != "event")
    return f"{state}{facts.get('text') or details}"


async def _post(url: str, body: dict[str, Any]) -> None:
    try:
        async with httpx.AsyncClient(timeout=_TIMEOUT_S, trust_env=False) as http:
            (await http.post(url, json=body)).raise_for_status()
    except httpx.HTTPStatusError as error:
        raise DeliveryFailed(f"the webhook responded with {error.response.status_code}") from None
    except httpx.HTTPError as error:
        raise DeliveryFailed(f"the webhook cannot be reached: {_network_reason(error)}") from None


def _smtp_reason(error: Exception) -> str:
    """Return why the mail server refused, without the address of the server."""
    if isinstance(error, smtplib.SMTPResponseException):
        return f"the mail server responded with {error.smtp_code}"
    if isinstance(error, smtplib.SMTPRecipientsRefused):
        return "the mail server refused the recipients"
    if isinstance(error, smtplib.SMTPException):
        return str(error) or type(error).__name__
    return f"the mail server cannot be reached: {_network_reason(error)}"


def _network_reason(error: Exception) -> str:
    """Return why a connection failed. The system's own text could contain the address."""
    if isinstance(error, httpx.TimeoutException | TimeoutError):
        return f"no response within {_TIMEOUT_S:.0f} s"
    if isinstance(error, ssl.SSLError):
        return "the TLS connection failed"
    if isinstance(error, socket.gaierror):
        return "its name is unknown"
    if isinstance(error, httpx.ConnectError | ConnectionError):
        return "the connection was refused or failed"
    return type(error).__name__
