"""AMD Developer Cloud, whose API is DigitalOcean's: a machine is a droplet."""

from __future__ import annotations

import itertools
from datetime import datetime
from typing import Any

from warmfront.providers.clouds.base import CloudClient, CloudMachine

_URL = "https://api.devcloud.amd.com"
_PER_PAGE = 200


class AmdDeveloperCloud:
    """An account, read with a token that has the scope `droplet:read`."""

    backend = "amddevcloud"

    def __init__(self, api_key: str) -> None:
        self._client = CloudClient(
            self.backend,
            _URL,
            authorization=f"Bearer {api_key}",
            key_variable="WARMFRONT_AMDDEVCLOUD_READ_KEY",
        )

    async def machines(self) -> list[CloudMachine]:
        """Return all droplets; one that is powered off is included, because it is billed."""
        machines: list[CloudMachine] = []
        for page in itertools.count(1):
            body = await self._client.get("/v2/droplets", per_page=_PER_PAGE, page=page)
            machines += map(_machine, body["droplets"])
            pages = (body.get("links") or {}).get("pages") or {}
            if "next" not in pages:
                break
        return machines

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()


def end_command(machine_id: str) -> str:
    """Return the shell command that deletes a droplet, with dstack's key, which may delete."""
    header = '-H "Authorization: Bearer $DSTACK_AMDDEVCLOUD_API_KEY"'
    return f"curl -X DELETE {header} {_URL}/v2/droplets/{machine_id}"


def _machine(droplet: dict[str, Any]) -> CloudMachine:
    created = droplet.get("created_at")
    return CloudMachine(
        backend=AmdDeveloperCloud.backend,
        id=str(droplet["id"]),
        name=droplet["name"],
        created_at=datetime.fromisoformat(created).timestamp() if created else None,
    )
