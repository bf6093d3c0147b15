"""The API of AMD Developer Cloud, as far as dstack uses it: the key, sizes, SSH keys, droplets.

It turns requests into VMs of the data centre and says what they are; it keeps nothing but SSH keys.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aiohttp import web

from tests.support.fake_cloud import http_api

if TYPE_CHECKING:
    from tests.support.fake_cloud.data_center import DataCenter
    from tests.support.fake_cloud.vm import FakeVM

HOST = "api.devcloud.amd.com"
KEY = "dop_v1_simulated"
BACKEND = "amddevcloud"


def _size(slug: str, *, gpus: int, vcpus: int, memory_gb: int, disk_gb: int, price: float) -> dict[str, Any]:
    return {
        "slug": slug,
        "memory": memory_gb * 1024,
        "vcpus": vcpus,
        "price_hourly": price,
        "regions": ["atl1", "nyc2"],
        "gpu_info": {
            "count": gpus,
            "vram": {"amount": 192 * gpus, "unit": "gib"},
            "model": "amd_mi300x",
        },
        "disk_info": [{"type": "local", "size": {"amount": disk_gb, "unit": "gib"}}],
    }


SIZES = {
    size["slug"]: size
    for size in (
        _size("gpu-mi300x1-192gb", gpus=1, vcpus=20, memory_gb=240, disk_gb=720, price=1.99),
        _size("gpu-mi300x8-1536gb", gpus=8, vcpus=160, memory_gb=1920, disk_gb=2048, price=15.92),
    )
}


class AmdDeveloperCloud:
    """Its API."""

    def __init__(self, centre: DataCenter) -> None:
        self._centre = centre
        self._keys: dict[int, dict[str, Any]] = {}

    def app(self) -> web.Application:
        """What listens to HOST."""
        app = web.Application(middlewares=[http_api.gate(self._centre, f"Bearer {KEY}")])
        app.add_routes(
            [
                web.get("/v2/account", self._account),
                web.get("/v2/account/keys", self._list_keys),
                web.post("/v2/account/keys", self._create_key),
                web.get("/v2/projects", self._projects),
                web.get("/v2/sizes", self._sizes),
                web.get("/v2/droplets", self._list),
                web.post("/v2/droplets", self._create),
                web.get("/v2/droplets/{id}", self._get),
                web.delete("/v2/droplets/{id}", self._delete),
            ]
        )
        return app

    async def _account(self, _: web.Request) -> web.Response:
        return web.json_response({"account": {"status": "active"}})

    async def _projects(self, _: web.Request) -> web.Response:
        return web.json_response({"projects": []})

    async def _sizes(self, _: web.Request) -> web.Response:
        return web.json_response({"sizes": list(SIZES.values())})

    async def _list_keys(self, _: web.Request) -> web.Response:
        return web.json_response({"ssh_keys": list(self._keys.values())})

    async def _create_key(self, request: web.Request) -> web.Response:
        body = await request.json()
        key = {"id": 1000 + len(self._keys), "name": body["name"], "public_key": body["public_key"]}
        self._keys[key["id"]] = key
        return web.json_response({"ssh_key": key}, status=201)

    async def _create(self, request: web.Request) -> web.Response:
        body = await request.json()
        if self._centre.is_full():
            return http_api.failure(422, "Size is not available in this region.")
        number = self._centre.next_number()
        vm = self._centre.create(
            vm_id=str(500_000 + number),
            number=number,
            name=body["name"],
            backend=BACKEND,
            price=SIZES[body["size"]]["price_hourly"],
            keys=[self._keys[key_id]["public_key"] for key_id in body["ssh_keys"]],
        )
        return web.json_response({"droplet": _droplet(vm)}, status=202)

    async def _list(self, _: web.Request) -> web.Response:
        vms = [vm for vm in self._centre.vms.values() if vm.backend == BACKEND]
        return web.json_response({"droplets": [_droplet(vm) for vm in vms]})

    async def _get(self, request: web.Request) -> web.Response:
        vm = self._centre.vms.get(request.match_info["id"])
        if vm is None:
            return http_api.failure(404, "The resource you were accessing could not be found.")
        return web.json_response({"droplet": _droplet(vm)})

    async def _delete(self, request: web.Request) -> web.Response:
        if not await self._centre.end(request.match_info["id"]):
            return http_api.failure(404, "The resource you were accessing could not be found.")
        return web.Response(status=204)


def _droplet(vm: FakeVM) -> dict[str, Any]:
    public = {"type": "public", "ip_address": vm.address}
    return {
        "id": int(vm.id),
        "name": vm.name,
        "status": "active" if vm.is_active else "new",
        "networks": {"v4": [public] if vm.is_active else []},
    }
