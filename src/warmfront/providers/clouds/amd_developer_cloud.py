"""AMD Developer Cloud, which uses DigitalOcean's API: a machine is a droplet."""

from __future__ import annotations

import itertools
from datetime import datetime
from typing import Any

from warmfront.providers.clouds.base import CloudClient, CloudMachine, Lifetime

_URL = "https://api.devcloud.amd.com"
_PER_PAGE = 200
#: The account's actions are searched this far back, newest first.
_ACTION_PAGES = 5


class AmdDeveloperCloud:
    """An account, read with a token with the scopes `droplet:read` and, if possible, `actions:read`."""

    backend = "amddevcloud"

    def __init__(self, api_key: str) -> None:
        self._client = CloudClient(
            self.backend,
            _URL,
            authorization=f"Bearer {api_key}",
            key_variable="WARMFRONT_AMDDEVCLOUD_READ_KEY",
        )

    async def machines(self) -> list[CloudMachine]:
        """Return all droplets, including those that are powered off, because they are billed."""
        machines: list[CloudMachine] = []
        for page in itertools.count(1):
            body = await self._client.get("/v2/droplets", per_page=_PER_PAGE, page=page)
            machines += map(_machine, body["droplets"])
            pages = (body.get("links") or {}).get("pages") or {}
            if "next" not in pages:
                break
        return machines

    async def lifetime(self, machine_id: str) -> Lifetime | None:
        """Return when a droplet was created and destroyed, from the actions of the account."""
        created_at = ended_at = None
        for page in range(1, _ACTION_PAGES + 1):
            body = await self._client.get("/v2/actions", per_page=_PER_PAGE, page=page)
            for action in body["actions"]:
                if str(action.get("resource_id")) != machine_id or action.get("resource_type") != "droplet":
                    continue
                if action["type"] == "destroy" and action["status"] == "completed":
                    ended_at = _seconds(action.get("completed_at"))
                elif action["type"] == "create":
                    created_at = _seconds(action.get("started_at"))
            if created_at is not None and ended_at is not None:
                return Lifetime(created_at=created_at, ended_at=ended_at)
            if "next" not in ((body.get("links") or {}).get("pages") or {}):
                break
        return None

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()


def end_command(machine_id: str) -> str:
    """Return the shell command that deletes a droplet, with dstack's key, which may delete."""
    header = '-H "Authorization: Bearer $DSTACK_AMDDEVCLOUD_API_KEY"'
    return f"curl -X DELETE {header} {_URL}/v2/droplets/{machine_id}"


def _machine(droplet: dict[str, Any]) -> CloudMachine:
    return CloudMachine(
        backend=AmdDeveloperCloud.backend,
        id=str(droplet["id"]),
        name=droplet["name"],
        created_at=_seconds(droplet.get("created_at")),
    )


def _seconds(time: str | None) -> float | None:
    return datetime.fromisoformat(time).timestamp() if time else None
