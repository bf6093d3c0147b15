"""The API of AMD Developer Cloud, as far as it is used: account, sizes, SSH keys, droplets and actions.

Requests create and describe VMs of the data center; the API itself stores only SSH keys.
"""

from __future__ import annotations

from datetime import UTC, datetime
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from aiohttp import web

from tests.support.fake_cloud import http_api, refusals

if TYPE_CHECKING:
    from tests.support.fake_cloud.data_center import DataCenter
    from tests.support.fake_cloud.vm import FakeVM

HOST = "api.devcloud.amd.com"
KEY = "dop_v1_fake"
BACKEND = "amddevcloud"
#: The parameters of a list, with their defaults.
_PAGING = (("page", "1"), ("per_page", "20"))


def size(
    slug: str,
    *,
    model: str = "amd_mi300x",
    gpu_memory_gb: int = 192,
    gpus: int = 1,
    vcpus: int = 20,
    memory_gb: int = 240,
    disk_gb: int = 720,
    price: float,
    regions: tuple[str, ...] | None = None,
) -> dict[str, Any]:
    """Return a size in the API's format; it is in all regions unless `regions` says otherwise."""
    return {
        "slug": slug,
        "memory": memory_gb * 1024,
        "vcpus": vcpus,
        "price_hourly": price,
        "regions": regions,
        "gpu_info": {
            "count": gpus,
            "vram": {"amount": gpu_memory_gb * gpus, "unit": "gib"},
            "model": model,
        },
        "disk_info": [{"type": "local", "size": {"amount": disk_gb, "unit": "gib"}}],
    }


def cpu_size(slug: str, *, vcpus: int, memory_gb: int, disk_gb: int, price: float) -> dict[str, Any]:
    """Return a size without a GPU in the API's format."""
    with_gpu = size(slug, vcpus=vcpus, memory_gb=memory_gb, disk_gb=disk_gb, price=price)
    return {name: value for name, value in with_gpu.items() if name != "gpu_info"}


SIZES = (
    size("gpu-mi300x1-192gb", price=1.99),
    size("gpu-mi325x1-256gb", model="amd_mi325x", gpu_memory_gb=256, price=2.25),
    size("gpu-mi300x8-1536gb", gpus=8, vcpus=160, memory_gb=1920, disk_gb=2048, price=15.92),
)
#: The real API has no spot VMs. The scaled dstack server treats sizes with such a slug as spot offers.
SPOT_SLUG = "gpu-mi300x1-192gb-spot"


class AmdDeveloperCloud:
    """The API server."""

    def __init__(self, center: DataCenter) -> None:
        self._center = center
        self._keys: dict[int, dict[str, Any]] = {}

    def app(self) -> web.Application:
        """Return the application that serves HOST."""
        app = web.Application(middlewares=[http_api.auth_and_faults(self._center, f"Bearer {KEY}")])
        app.add_routes(
            [
                web.get("/v2/account", self._account),
                web.get("/v2/account/keys", self._list_keys),
                web.post("/v2/account/keys", self._create_key),
                web.get("/v2/projects", self._projects),
                web.get("/v2/sizes", self._sizes),
                web.get("/v2/actions", self._actions),
                web.get("/v2/droplets", self._list),
                web.post("/v2/droplets", self._create),
                web.get("/v2/droplets/{id}", self._get),
                web.delete("/v2/droplets/{id}", self._delete),
            ]
        )
        return app

    async def _account(self, _: web.Request) -> web.Response:
        return web.json_response({"account": {"status": self._center.switches.account_status}})

    async def _projects(self, _: web.Request) -> web.Response:
        return web.json_response({"projects": []})

    async def _sizes(self, _: web.Request) -> web.Response:
        return web.json_response({"sizes": list(self._offered().values())})

    def _offered(self) -> dict[str, dict[str, Any]]:
        """Return the sizes by slug, each with its regions."""
        switches = self._center.switches
        sizes = [*SIZES, *switches.extra_sizes]
        if switches.spot_price is not None:
            sizes.append(size(SPOT_SLUG, price=switches.spot_price))
        everywhere = tuple(switches.regions)
        return {each["slug"]: {**each, "regions": list(each["regions"] or everywhere)} for each in sizes}

    async def _list_keys(self, _: web.Request) -> web.Response:
        return web.json_response({"ssh_keys": list(self._keys.values())})

    async def _create_key(self, request: web.Request) -> web.Response:
        body = await request.json()
        key = {"id": 1000 + len(self._keys), "name": body["name"], "public_key": body["public_key"]}
        self._keys[key["id"]] = key
        return web.json_response({"ssh_key": key}, status=201)

    async def _create(self, request: web.Request) -> web.Response:
        body = await request.json()
        switches, region = self._center.switches, body.get("region", "")
        wanted = self._offered()[body["size"]]
        if switches.refuses_create is not None:
            return http_api.refuse(switches.refuses_create)
        if self._center.is_full(region):
            return http_api.refuse(refusals.NOT_AVAILABLE)
        number = self._center.next_number()
        vm = self._center.create(
            vm_id=str(500_000 + number),
            number=number,
            name=body["name"],
            backend=BACKEND,
            price=wanted["price_hourly"],
            region=region,
            spot=wanted["slug"] == SPOT_SLUG,
            keys=[self._keys[key_id]["public_key"] for key_id in body["ssh_keys"]],
        )
        if switches.fails_after_create is not None:
            return http_api.refuse(switches.fails_after_create)
        return web.json_response({"droplet": _droplet(vm)}, status=202)

    async def _list(self, request: web.Request) -> web.Response:
        """Return one page, and a link to the next one if there is one."""
        vms = [vm for vm in self._center.vms.values() if vm.backend == BACKEND]
        return _page(request, "droplets", [_droplet(vm) for vm in vms])

    async def _actions(self, request: web.Request) -> web.Response:
        """Return one page of the actions on droplets, newest first."""
        if not self._center.switches.records_actions:
            return http_api.failure(403, "You are not authorized to perform this operation")
        entries = [entry for entry in self._center.bill.entries() if entry.backend == BACKEND]
        done = [("create", entry.id, entry.started_at) for entry in entries]
        done += [("destroy", entry.id, entry.ended_at) for entry in entries if entry.ended_at is not None]
        done.sort(key=itemgetter(2), reverse=True)
        return _page(request, "actions", [_action(*each) for each in done])

    async def _get(self, request: web.Request) -> web.Response:
        vm = self._center.vms.get(request.match_info["id"])
        if vm is None:
            return http_api.failure(404, "The resource you were accessing could not be found.")
        return web.json_response({"droplet": _droplet(vm)})

    async def _delete(self, request: web.Request) -> web.Response:
        if not await self._center.end(request.match_info["id"]):
            return http_api.failure(404, "The resource you were accessing could not be found.")
        return web.Response(status=204)


def _page(request: web.Request, name: str, items: list[dict[str, Any]]) -> web.Response:
    """Return one page of a list, and a link to the next one if there is one."""
    page, per_page = (int(request.query.get(parameter, default)) for parameter, default in _PAGING)
    last = page * per_page
    pages = {"next": f"https://{HOST}{request.path}?page={page + 1}"} if last < len(items) else {}
    return web.json_response({name: items[last - per_page : last], "links": {"pages": pages}})


def _action(kind: str, vm_id: str, at: float) -> dict[str, Any]:
    return {
        "type": kind,
        "status": "completed",
        "resource_type": "droplet",
        "resource_id": int(vm_id),
        "started_at": _timestamp(at),
        "completed_at": _timestamp(at),
    }


def _timestamp(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _droplet(vm: FakeVM) -> dict[str, Any]:
    public = {"type": "public", "ip_address": vm.address}
    return {
        "id": int(vm.id),
        "name": vm.name,
        "created_at": _timestamp(vm.created_at),
        "region": {"slug": vm.region},
        "status": "active" if vm.is_active else "new",
        "networks": {"v4": [public] if vm.is_active else []},
    }
