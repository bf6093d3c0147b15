"""Hot Aisle: the virtual machines of a team."""

from __future__ import annotations

from warmfront.providers.clouds.base import CloudClient, CloudMachine, Lifetime

_URL = "https://admin.hotaisle.app"
_PATH = "/api/teams/{team}/virtual_machines/"


class HotAisle:
    """A team, read with a key of one of its users."""

    backend = "hotaisle"

    def __init__(self, api_key: str, team: str) -> None:
        self._client = CloudClient(
            self.backend,
            _URL,
            authorization=f"Token {api_key}",
            key_variable="WARMFRONT_HOTAISLE_READ_KEY",
        )
        self._path = _PATH.format(team=team)

    async def machines(self) -> list[CloudMachine]:
        """Return all virtual machines; the API returns null instead of an empty list."""
        names = [machine["name"] for machine in await self._client.get(self._path) or ()]
        return [CloudMachine(backend=self.backend, id=name, name=name) for name in names]

    async def lifetime(self, machine_id: str) -> Lifetime | None:  # noqa: ARG002 - there is no such record
        """Return None: the API has no record of machines that have ended."""
        return None

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()


def end_command(machine_id: str, team: str | None) -> str:
    """Return the shell command that deletes a virtual machine, with dstack's key, which may delete."""
    header = '-H "Authorization: Token $DSTACK_HOTAISLE_API_KEY"'
    return f"curl -X DELETE {header} {_URL}{_PATH.format(team=team or '$DSTACK_HOTAISLE_TEAM')}{machine_id}/"
