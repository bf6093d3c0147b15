"""The common part of both cloud APIs: authentication, injected failures and the HTTP server."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from aiohttp import web

from tests.support.fake_cloud.uninterrupted import start_or_close

if TYPE_CHECKING:
    import ssl
    from collections.abc import Awaitable, Callable

    from aiohttp.typedefs import Middleware

    from tests.support.fake_cloud.data_center import DataCenter
    from tests.support.fake_cloud.refusals import Refusal

    Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

#: Polling interval of a silent API.
_POLL_S = 0.05


def auth_and_faults(center: DataCenter, authorization: str) -> Middleware:
    """Return a middleware that requires the API key and applies the failures of the switches."""
    switches = center.switches

    @web.middleware
    async def middleware(request: web.Request, handler: Handler) -> web.StreamResponse:
        center.waiting += 1
        try:
            while switches.is_silent(request.method):  # noqa: ASYNC110 - a test sets it from another thread
                await asyncio.sleep(_POLL_S)
        finally:
            center.waiting -= 1
        if switches.rejects_key or request.headers.get("Authorization") != authorization:
            return failure(401, "Unable to authenticate you")
        if status := switches.status_of(request.method):
            center.refused_at.setdefault(request.method, center.now())
            return failure(status, "injected by the test")
        response = await handler(request)
        await asyncio.sleep(switches.answer_s)
        return response

    return middleware


def failure(status: int, message: str) -> web.Response:
    """Return an error in the format of both clouds."""
    return web.json_response({"id": "error", "message": message}, status=status)


def refuse(refusal: Refusal) -> web.Response:
    """Return an error in the cloud's own words."""
    return web.json_response({"id": refusal.id, "message": refusal.message}, status=refusal.status)


async def serve(app: web.Application, tls: ssl.SSLContext | None = None) -> tuple[web.AppRunner, int]:
    """Serve an application on a free loopback port; return its runner and the port."""
    runner = await start_or_close(_start(app, tls), web.AppRunner.cleanup)
    return runner, runner.addresses[0][1]


async def _start(app: web.Application, tls: ssl.SSLContext | None) -> web.AppRunner:
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls).start()
    return runner
