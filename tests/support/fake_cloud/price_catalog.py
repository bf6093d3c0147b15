"""An empty price catalog for other clouds, which a dstack server loads at start-up.

Without it, the server logs a long connection error every ten minutes.
"""

from __future__ import annotations

import io
import zipfile

from aiohttp import web


def app() -> web.Application:
    """Return the application that serves GPUHUNT_CATALOG_URL."""
    application = web.Application()
    application.add_routes(
        [web.get("/{provider}/version", _version), web.get("/{provider}/1/catalog.zip", _catalog)]
    )
    return application


async def _version(_: web.Request) -> web.Response:
    return web.Response(text="1")


async def _catalog(request: web.Request) -> web.Response:
    body = io.BytesIO()
    with zipfile.ZipFile(body, "w") as archive:
        archive.writestr(f"{request.match_info['provider']}.csv", "instance_name,location,price\n")
    return web.Response(body=body.getvalue())
