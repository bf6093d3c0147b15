"""What the APIs of both clouds have in common: a key, failures on demand, and a port to listen on.

What the requests mean is the business of each.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from aiohttp import web

if TYPE_CHECKING:
    import ssl
    from collections.abc import Awaitable, Callable

    from aiohttp.typedefs import Middleware

    from tests.support.fake_cloud.data_center import DataCenter

    Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

#: How soon a silent API notices that it may speak again.
_LOOK_S = 0.05


def gate(centre: DataCenter, authorization: str) -> Middleware:
    """Let a request through that has the key, unless a switch says what else happens to it."""
    switches = centre.switches

    @web.middleware
    async def middleware(request: web.Request, handler: Handler) -> web.StreamResponse:
        centre.waiting += 1
        try:
            while switches.is_silent(request.method):  # noqa: ASYNC110 - a test sets it, from any thread
                await asyncio.sleep(_LOOK_S)
        finally:
            centre.waiting -= 1
        if switches.rejects_key or request.headers.get("Authorization") != authorization:
            return failure(401, "Unable to authenticate you")
        if status := switches.status_of(request.method):
            return failure(status, "as the test wants it")
        return await handler(request)

    return middleware


def failure(status: int, message: str) -> web.Response:
    """An error in the shape that both clouds use."""
    return web.json_response({"id": "error", "message": message}, status=status)


async def serve(app: web.Application, tls: ssl.SSLContext | None = None) -> tuple[web.AppRunner, int]:
    """Listen on a free port of loopback."""
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls).start()
    return runner, runner.addresses[0][1]
