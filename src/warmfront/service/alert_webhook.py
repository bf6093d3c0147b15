"""Posts the budget's alert to an address of the operator's. A webhook that fails is logged; money goes on."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

import httpx

log = logging.getLogger(__name__)

#: The alert is posted this often at most, with a pause between that doubles.
_TRIES = 4
_PAUSE_S = 1.0
_TIMEOUT_S = 10.0


class AlertWebhook:
    """Posts JSON to one address."""

    def __init__(self, url: str) -> None:
        self._url = url

    async def __call__(self, facts: dict[str, Any]) -> None:
        """Post the facts of the alert."""
        body = {"event": "BUDGET_ALERT", **facts}
        async with httpx.AsyncClient(timeout=_TIMEOUT_S, trust_env=False) as http:
            for number in range(_TRIES):
                try:
                    (await http.post(self._url, json=body)).raise_for_status()
                except httpx.HTTPError as error:
                    # The address may carry a token of the operator's: only what went wrong is logged.
                    log.warning("the budget alert could not be posted: %s", _reason(error))
                    await asyncio.sleep(_PAUSE_S * 2**number)
                else:
                    return


def _reason(error: httpx.HTTPError) -> str:
    if isinstance(error, httpx.HTTPStatusError):
        return f"the webhook answered {error.response.status_code}"
    return type(error).__name__
