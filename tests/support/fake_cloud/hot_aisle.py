"""The API of Hot Aisle, as far as dstack uses it: the user, SSH keys, virtual machines of a team.

It turns requests into VMs of the data centre and says what they are; it keeps nothing but SSH keys.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiohttp import web

from tests.support.fake_cloud import http_api

if TYPE_CHECKING:
    from tests.support.fake_cloud.data_center import DataCenter

HOST = "admin.hotaisle.app"
KEY = "simulated.key"
TEAM = "simulated-team"
BACKEND = "hotaisle"

_GIB = 1 << 30
_PRICE = 1.99
#: What is sold, and what comes back as the body of a request for one.
_SPECS = {
    "cpu_cores": 13,
    "ram_capacity": 224 * _GIB,
    "disk_capacity": 12288 * _GIB,
    "gpus": [{"count": 1, "manufacturer": "AMD", "model": "MI300X"}],
}


class HotAisle:
    """Its API."""

    def __init__(self, centre: DataCenter) -> None:
        self._centre = centre
        self._keys: list[str] = []

    def app(self) -> web.Application:
        """What listens to HOST."""
        machines = f"/api/teams/{TEAM}/virtual_machines"
        app = web.Application(middlewares=[http_api.gate(self._centre, f"Token {KEY}")])
        app.add_routes(
            [
                web.get("/api/user/", self._user),
                web.post("/api/user/ssh_keys/", self._create_key),
                web.get(f"{machines}/available/", self._available),
                web.get(f"/api/teams/{TEAM}/bare_metal/available/", self._nothing),
                web.post(f"{machines}/", self._create),
                web.get(f"{machines}/{{name}}/state/", self._state),
                web.delete(f"{machines}/{{name}}/", self._delete),
            ]
        )
        return app

    async def _user(self, _: web.Request) -> web.Response:
        return web.json_response({"teams": [{"handle": TEAM}]})

    async def _create_key(self, request: web.Request) -> web.Response:
        key = (await request.json())["authorized_key"]
        if key in self._keys:
            return http_api.failure(409, "The key exists.")
        self._keys.append(key)
        return web.json_response({})

    async def _available(self, _: web.Request) -> web.Response:
        # The real one says null for nothing, too.
        offer = {"OnDemandPrice": round(_PRICE * 100), "Specs": _SPECS}
        return web.json_response(None if self._centre.is_full() else [offer])

    async def _nothing(self, _: web.Request) -> web.Response:
        return web.json_response(None)

    async def _create(self, _: web.Request) -> web.Response:
        if self._centre.is_full():
            return http_api.failure(404, "No machine of these specs is available.")
        number = self._centre.next_number()
        name = f"enc1-gpuvm{number:03d}"
        vm = self._centre.create(
            vm_id=name,
            number=number,
            name=name,
            backend=BACKEND,
            price=_PRICE,
            keys=list(self._keys),
            minimum_s=self._centre.switches.minimum_reservation_s,
            shim_by_command=True,
        )
        return web.json_response({"name": vm.name, "ip_address": vm.address})

    async def _state(self, request: web.Request) -> web.Response:
        vm = self._centre.vms.get(request.match_info["name"])
        if vm is None:
            return http_api.failure(404, "There is no such machine.")
        return web.json_response({"state": "running" if vm.is_active else "starting"})

    async def _delete(self, request: web.Request) -> web.Response:
        if not await self._centre.end(request.match_info["name"]):
            return http_api.failure(404, "There is no such machine.")
        return web.Response(status=204)
