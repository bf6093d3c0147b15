"""The API of dstack's shim, one per VM: it pulls images, and starts and ends the containers of tasks.

There are no real images and containers: a pull is a delay, and a container is a runner.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from aiohttp import web

from tests.support.fake_cloud import http_api
from tests.support.fake_cloud.images import LayerCache, Pull
from tests.support.fake_cloud.runner import VERSION, Runner

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.fake_cloud.switches import Switches

RUNNER_PORT = 10999
CONTAINER_SSH_PORT = 10022


@dataclass(kw_only=True, eq=False)
class ShimTask:
    """A container, from its request to its end."""

    request: dict[str, Any]
    runner: Runner
    status: str = "pending"
    reason: str = ""
    message: str = ""
    pull: Pull | None = None  #: while it pulls an image whose size is known
    start: asyncio.Task[None] | None = field(default=None, repr=False)

    def describe(self) -> dict[str, Any]:
        """Return the task in the API's format."""
        ports = []
        if self.request["network_mode"] == "bridge" and self.status == "running":
            ports = [{"container": port, "host": port} for port in (RUNNER_PORT, CONTAINER_SSH_PORT)]
        return {
            "id": self.request["id"],
            "status": self.status,
            "termination_reason": self.reason,
            "termination_message": self.message,
            "ports": ports,
            "container_name": self.request["name"],
            "container_id": "",
            "gpu_ids": [],
            "image_pull_progress": self.pull.describe() if self.pull else None,
        }


class Shim:
    """The shim of one VM."""

    def __init__(self, folder: Path, switches: Switches) -> None:
        self._folder = folder
        self._switches = switches
        self._images: set[str] = set()
        self._layers = LayerCache()
        self._server: web.AppRunner | None = None
        self.tasks: dict[str, ShimTask] = {}
        self.requests: list[dict[str, Any]] = []  #: every requested container
        self.port: int | None = None  #: None: not listening yet

    async def start(self) -> None:
        """Start listening and set `port`."""
        app = web.Application()
        app.add_routes(
            [
                web.get("/api/healthcheck", self._health),
                web.get("/api/instance/health", self._instance_health),
                web.get("/api/instance/info", self._instance_info),
                web.get("/api/components", self._components),
                web.get("/api/tasks", self._list),
                web.post("/api/tasks", self._submit),
                web.get("/api/tasks/{id}", self._get),
                web.post("/api/tasks/{id}/terminate", self._terminate),
                web.post("/api/tasks/{id}/remove", self._remove),
            ]
        )
        self._server, self.port = await http_api.serve(app)

    async def close(self) -> None:
        """End all containers and stop listening."""
        self.port = None
        for task in self.tasks.values():
            await self._end(task)
        if self._server is not None:
            await self._server.cleanup()

    def running_task(self) -> ShimTask | None:
        """Return the container that owns the VM's ports: the last one that runs."""
        running = [task for task in self.tasks.values() if task.status == "running"]
        return running[-1] if running else None

    async def _health(self, _: web.Request) -> web.Response:
        return web.json_response({"service": "dstack-shim", "version": VERSION})

    async def _instance_health(self, _: web.Request) -> web.Response:
        return web.json_response({})

    async def _instance_info(self, _: web.Request) -> web.Response:
        return web.json_response({"gpu_vendor": "amd", "gpu_driver_version": "6.19.14"})

    async def _components(self, _: web.Request) -> web.Response:
        names = ("dstack-runner", "dstack-shim")
        installed = [{"name": name, "version": VERSION, "status": "installed"} for name in names]
        return web.json_response({"components": installed})

    async def _list(self, _: web.Request) -> web.Response:
        tasks = [{"id": task_id, "status": task.status} for task_id, task in self.tasks.items()]
        return web.json_response({"tasks": tasks})

    async def _submit(self, request: web.Request) -> web.Response:
        body = await request.json()
        if body["id"] in self.tasks:
            return web.Response(status=409)
        self.requests.append(body)
        runner = Runner(
            root=self._folder / "containers" / body["id"],
            host=self._folder / "host",
            mounts=body.get("instance_mounts") or [],
            image_environ=self._switches.image_environ,
            clock_skew_s=self._switches.vm_clock_skew_s,
            light=self._switches if self._switches.light_attempt_s is not None else None,
        )
        task = ShimTask(request=body, runner=runner)
        self.tasks[body["id"]] = task
        task.start = asyncio.create_task(self._start(task))
        return web.json_response(task.describe())

    async def _start(self, task: ShimTask) -> None:
        image = task.request["image_name"]
        task.status = "pulling"
        await self._pull(task, image)
        if image in self._switches.unpullable:
            task.status, task.reason = "terminated", "creating_container_error"
            task.message = f"pull access denied for {image}, repository does not exist"
            return
        self._images.add(image)
        task.status = "creating"
        await task.runner.start()
        await asyncio.sleep(self._switches.container_s)
        task.status = "running"

    async def _pull(self, task: ShimTask, image: str) -> None:
        """Pull an image: as long as its missing layers take, or `pull_s` if its size is not known."""
        layers = self._switches.images.get(image)
        if layers is not None:
            task.pull = Pull(layers=self._layers.missing(layers))
            await task.pull.run(self._layers, self._switches.bytes_per_s)
            task.pull = None
        elif image not in self._images:
            await asyncio.sleep(self._switches.pull_s)

    async def _get(self, request: web.Request) -> web.Response:
        task = self.tasks.get(request.match_info["id"])
        return web.Response(status=404) if task is None else web.json_response(task.describe())

    async def _terminate(self, request: web.Request) -> web.Response:
        task = self.tasks.get(request.match_info["id"])
        if task is None:
            return web.Response(status=404)
        body = await request.json()
        if task.status != "terminated":
            task.status = "terminated"
            task.reason, task.message = body["termination_reason"], body["termination_message"]
        await self._end(task)
        return web.json_response(task.describe())

    async def _remove(self, request: web.Request) -> web.Response:
        task = self.tasks.pop(request.match_info["id"], None)
        return web.Response(status=404) if task is None else web.json_response(None)

    @staticmethod
    async def _end(task: ShimTask) -> None:
        if task.start is not None:
            task.start.cancel()
            with suppress(asyncio.CancelledError):
                await task.start
        await task.runner.close()
