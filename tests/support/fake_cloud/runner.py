"""The API of dstack's runner, one per container: it accepts a job, runs it and reports its state and output.

This module implements the protocol; `Job` runs the commands.
"""

from __future__ import annotations

import asyncio
import base64
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from aiohttp import web

from tests.support.fake_cloud import http_api
from tests.support.fake_cloud.job import Job
from tests.support.fake_cloud.light_job import LightJob
from tests.support.fake_cloud.path_map import PathMap

if TYPE_CHECKING:
    import socket
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from tests.support.fake_cloud.switches import Switches

VERSION = "0.22.5"
_UPLOAD_LIMIT_BYTES = 1 << 30


class Runner:
    """The runner of one task."""

    def __init__(
        self,
        *,
        root: Path,
        host: Path,
        mounts: Sequence[Mapping[str, Any]],
        image_environ: Mapping[str, str] | None = None,
        clock_skew_s: float = 0.0,
        light: Switches | None = None,
    ) -> None:
        """Create a runner; with `light` its job has no processes and obeys these switches."""
        self._clock_skew_s = clock_skew_s
        self._image_environ = image_environ or {}
        self._root = root
        self._host = host
        self._mounts = mounts
        self._light = light
        self._submission: dict[str, Any] | None = None
        self._archives: dict[str, bytes] = {}
        self._job: Job | LightJob | None = None
        self._work: asyncio.Task[None] | None = None
        self._states: list[dict[str, Any]] = []
        self._logs: list[dict[str, Any]] = []
        self._last_ms = 0
        self._ended = False
        self._changed = asyncio.Event()
        self._server: web.AppRunner | None = None
        self.port = 0

    async def start(self) -> None:
        """Start listening and set `port`."""
        app = web.Application(client_max_size=_UPLOAD_LIMIT_BYTES)
        app.add_routes(
            [
                web.get("/api/healthcheck", self._health),
                web.get("/api/metrics", self._metrics),
                web.post("/api/submit", self._submit),
                web.post("/api/upload_archive", self._upload_archive),
                web.post("/api/upload_code", self._upload_code),
                web.post("/api/run", self._run),
                web.get("/api/pull", self._pull),
                web.post("/api/stop", self._stop),
                web.get("/logs_ws", self._stream_logs),
            ]
        )
        self._server, self.port = await http_api.serve(app)

    async def close(self) -> None:
        """End the job, return when it has ended, and stop listening."""
        if self._work is not None:
            self._work.cancel()
            with suppress(asyncio.CancelledError):
                await self._work
        if self._server is not None:
            await self._server.cleanup()

    async def connect(self, port: int) -> socket.socket:
        """Connect to a port of the job."""
        if self._job is None:
            raise ConnectionRefusedError("No job runs.")
        return await self._job.connect(port)

    async def execute(self, command: str) -> tuple[int, str]:
        """Run a command in the container, beside the job; return its exit code and output."""
        if not isinstance(self._job, Job):
            return 255, "No job with processes runs."
        return await self._job.execute(command)

    async def _health(self, _: web.Request) -> web.Response:
        return web.json_response({"service": "dstack-runner", "version": VERSION})

    async def _metrics(self, _: web.Request) -> web.Response:
        return web.Response(status=404)

    async def _submit(self, request: web.Request) -> web.Response:
        if self._work is not None:
            return web.Response(status=409)
        self._submission = await request.json()
        return web.json_response(None)

    async def _upload_archive(self, request: web.Request) -> web.Response:
        form = await request.post()
        archive = form["archive"]
        if not isinstance(archive, web.FileField):
            return web.Response(status=400)
        self._archives[archive.filename] = archive.file.read()
        archive.file.close()
        return web.json_response(None)

    async def _upload_code(self, request: web.Request) -> web.Response:
        await request.read()
        return web.json_response(None)

    async def _run(self, _: web.Request) -> web.Response:
        if self._submission is None or self._work is not None:
            return web.Response(status=409)
        paths = PathMap(
            root=self._root, host=self._host, spec=self._submission["job_spec"], mounts=self._mounts
        )
        if self._light is not None:
            self._job = LightJob(submission=self._submission, switches=self._light)
        else:
            self._job = Job(
                submission=self._submission,
                archives=self._archives,
                paths=paths,
                image_environ=self._image_environ,
                emit=self._emit,
            )
        self._work = asyncio.create_task(self._follow(self._job))
        return web.json_response({"working_dir": str(paths.working_dir), "username": "root"})

    async def _follow(self, job: Job | LightJob) -> None:
        self._add_state(state="running")
        try:
            end = await job.run()
        except Exception as error:  # noqa: BLE001 - any error must end the job
            self._add_state(state="failed", reason="executor_error", message=repr(error))
        else:
            self._add_state(
                state=end.state,
                reason=end.termination_reason,
                message=end.termination_message,
                exit_status=end.exit_status,
            )
        self._ended = True
        self._notify()

    async def _pull(self, request: web.Request) -> web.Response:
        after = int(request.query.get("timestamp", 0))
        return web.json_response(
            {
                "job_states": [event for event in self._states if event["timestamp"] > after],
                "job_logs": [event for event in self._logs if event["timestamp"] > after],
                "runner_logs": [],
                "last_updated": self._last_ms,
                "no_connections_secs": 0,
                "has_more": not self._ended,
            }
        )

    async def _stop(self, _: web.Request) -> web.Response:
        if self._job is not None:
            self._job.stop()
        return web.json_response(None)

    async def _stream_logs(self, request: web.Request) -> web.WebSocketResponse:
        """Stream the output so far and new output, until the job has ended."""
        stream = web.WebSocketResponse()
        await stream.prepare(request)
        sent = 0
        while True:
            changed, ended = self._changed, self._ended
            for event in self._logs[sent:]:
                await stream.send_bytes(base64.b64decode(event["message"]))
                sent += 1
            if ended:
                break
            await changed.wait()
        await stream.close()
        return stream

    def _emit(self, data: bytes) -> None:
        self._logs.append({"timestamp": self._now_ms(), "message": base64.b64encode(data).decode()})
        self._notify()

    def _add_state(
        self, *, state: str, reason: str = "", message: str = "", exit_status: int | None = None
    ) -> None:
        self._states.append(
            {
                "timestamp": self._now_ms(),
                "state": state,
                "termination_reason": reason,
                "termination_message": message,
                "exit_status": exit_status,
            }
        )

    def _notify(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    def _now_ms(self) -> int:
        """Return a unique timestamp: clients request events after a timestamp and would miss equal ones."""
        self._last_ms = max(self._last_ms + 1, int((time.time() + self._clock_skew_s) * 1000))
        return self._last_ms
