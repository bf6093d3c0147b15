"""`warmfront alerts`: show the alert rules and active alerts of a server, and test its channels."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from warmfront.cli.formatting import duration, print_columns, print_json
from warmfront.cli.server_access import with_client

if TYPE_CHECKING:
    from warmfront.client import AsyncClient


def show(*, as_json: bool) -> int:
    """Print the rules, the channels and the active alerts."""

    async def work(client: AsyncClient) -> int:
        alerts = await client.alerts()
        if as_json:
            print_json(alerts.to_json())
            return 0
        for alert in alerts.active:
            print(f"ACTIVE for {duration(time.time() - alert.since)}: {alert.text}")
        rows = [(rule.rule, rule.threshold, rule.variable, rule.meaning) for rule in alerts.rules]
        print_columns([("RULE", "THRESHOLD", "SETTING", "MEANING"), *rows])
        print(f"channels: {', '.join(alerts.channels) or 'none'}")
        return 0

    return with_client(work, as_json=as_json)


def test(*, as_json: bool) -> int:
    """Send a test message to every channel; return 1 if one failed."""

    async def work(client: AsyncClient) -> int:
        result = await client.test_alerts()
        if as_json:
            print_json(result.to_json())
        else:
            for item in result.items:
                print(f"{item.channel}: {'delivered' if item.ok else item.detail}")
        return 0 if all(item.ok for item in result.items) else 1

    return with_client(work, as_json=as_json)
