"""Post alerts to the operator's webhook. A failure is logged and has no other effect."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import httpx

logger = logging.getLogger(__name__)

#: Attempts per alert, with exponential backoff between them.
_ATTEMPTS = 4
_BACKOFF_S = 1.0
_TIMEOUT_S = 10.0


class AlertWebhook:
    """A webhook to which alerts are posted as JSON."""

    def __init__(self, url: str) -> None:
        self._url = url

    async def __call__(self, facts: dict[str, Any]) -> None:
        """Post an alert, with retries. It is a budget alert, unless the facts contain another `event`."""
        body = {"event": "BUDGET_ALERT", **facts}
        async with httpx.AsyncClient(timeout=_TIMEOUT_S, trust_env=False) as http:
            for attempt in range(_ATTEMPTS):
                try:
                    (await http.post(self._url, json=body)).raise_for_status()
                except httpx.HTTPError as error:
                    delay_s = _BACKOFF_S * 2**attempt
                    # The URL may contain a secret token, so only the reason is logged.
                    logger.warning(
                        "posting the alert %s failed (attempt %d of %d): %s",
                        body["event"],
                        attempt + 1,
                        _ATTEMPTS,
                        _reason(error),
                    )
                    await asyncio.sleep(delay_s)
                else:
                    return


def _reason(error: httpx.HTTPError) -> str:
    if isinstance(error, httpx.HTTPStatusError):
        return f"the webhook responded with {error.response.status_code}"
    return type(error).__name__
