"""The API of Hot Aisle, as far as dstack uses it: user, SSH keys and a team's virtual machines.

Requests create and describe VMs of the data center; the API itself stores only SSH keys.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aiohttp import web

from tests.support.fake_cloud import http_api

if TYPE_CHECKING:
    from tests.support.fake_cloud.data_center import DataCenter

HOST = "admin.hotaisle.app"
KEY = "fake.key"
TEAM = "fake-team"
BACKEND = "hotaisle"

_GIB = 1 << 30
#: The specification of the offered VM; a request for a VM has it as its body.
_SPECS = {
    "cpu_cores": 13,
    "ram_capacity": 224 * _GIB,
    "disk_capacity": 12288 * _GIB,
    "gpus": [{"count": 1, "manufacturer": "AMD", "model": "MI300X"}],
}


class HotAisle:
    """The API server."""

    def __init__(self, center: DataCenter) -> None:
        self._center = center
        self._keys: list[str] = []

    def app(self) -> web.Application:
        """Return the application that serves HOST."""
        vms_path = f"/api/teams/{TEAM}/virtual_machines"
        app = web.Application(middlewares=[http_api.auth_and_faults(self._center, f"Token {KEY}")])
        app.add_routes(
            [
                web.get("/api/user/", self._user),
                web.post("/api/user/ssh_keys/", self._create_key),
                web.get(f"{vms_path}/available/", self._available),
                web.get(f"/api/teams/{TEAM}/bare_metal/available/", self._no_offers),
                web.get(f"{vms_path}/", self._list),
                web.post(f"{vms_path}/", self._create),
                web.get(f"{vms_path}/{{name}}/state/", self._state),
                web.delete(f"{vms_path}/{{name}}/", self._delete),
            ]
        )
        return app

    async def _user(self, _: web.Request) -> web.Response:
        return web.json_response({"teams": [{"handle": TEAM}]})

    async def _create_key(self, request: web.Request) -> web.Response:
        key = (await request.json())["authorized_key"]
        if key in self._keys:
            return http_api.failure(409, "The key exists already.")
        self._keys.append(key)
        return web.json_response({})

    async def _available(self, _: web.Request) -> web.Response:
        # The real API also returns null instead of an empty list.
        offer = {"OnDemandPrice": round(self._center.switches.hot_aisle_price * 100), "Specs": _SPECS}
        return web.json_response(None if self._center.is_full() else [offer])

    async def _no_offers(self, _: web.Request) -> web.Response:
        return web.json_response(None)

    async def _create(self, _: web.Request) -> web.Response:
        switches = self._center.switches
        if switches.refuses_create is not None:
            return http_api.refuse(switches.refuses_create)
        if self._center.is_full():
            return http_api.failure(404, "No machine with these specs is available.")
        number = self._center.next_number()
        name = f"enc1-gpuvm{number:03d}"
        vm = self._center.create(
            vm_id=name,
            number=number,
            name=name,
            backend=BACKEND,
            price=switches.hot_aisle_price,
            keys=list(self._keys),
            minimum_s=switches.minimum_reservation_s,
            shim_by_command=True,
        )
        if switches.fails_after_create is not None:
            return http_api.refuse(switches.fails_after_create)
        return web.json_response({"name": vm.name, "ip_address": vm.address})

    async def _list(self, _: web.Request) -> web.Response:
        vms = [vm for vm in self._center.vms.values() if vm.backend == BACKEND]
        return web.json_response([{"name": vm.name, "ip_address": vm.address} for vm in vms] or None)

    async def _state(self, request: web.Request) -> web.Response:
        vm = self._center.vms.get(request.match_info["name"])
        if vm is None:
            return http_api.failure(404, "Machine not found.")
        return web.json_response({"state": "running" if vm.is_active else "starting"})

    async def _delete(self, request: web.Request) -> web.Response:
        if not await self._center.end(request.match_info["name"]):
            return http_api.failure(404, "Machine not found.")
        return web.Response(status=204)
