"""The price list that a dstack server loads at its start for other clouds: an empty one.

Without it the server writes a long error about the internet into its log every ten minutes.
"""

from __future__ import annotations

import io
import zipfile

from aiohttp import web


def app() -> web.Application:
    """What GPUHUNT_CATALOG_URL leads to."""
    app_ = web.Application()
    app_.add_routes(
        [web.get("/{provider}/version", _version), web.get("/{provider}/1/catalog.zip", _catalog)]
    )
    return app_


async def _version(_: web.Request) -> web.Response:
    return web.Response(text="1")


async def _catalog(request: web.Request) -> web.Response:
    body = io.BytesIO()
    with zipfile.ZipFile(body, "w") as archive:
        archive.writestr(f"{request.match_info['provider']}.csv", "instance_name,location,price\n")
    return web.Response(body=body.getvalue())
