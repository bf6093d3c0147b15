"""Puts the HTTP service together: routes, gate and edge over the parts that it is handed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import FastAPI
from fastapi.responses import Response

import warmfront
from warmfront import problems
from warmfront.api import (
    auth,
    catalogue,
    failures,
    health,
    machines,
    money,
    openapi,
    operations,
    outlook,
    prometheus,
    quotes,
    site,
    submissions,
    views,
)
from warmfront.api.admission import Names
from warmfront.api.edge import Edge

if TYPE_CHECKING:
    from warmfront.api.service import Service


def create_app(service: Service) -> FastAPI:
    """The application. Whoever made the parts starts them before it serves and stops them after."""
    # Without the framework's pages: they load scripts of another site, which would act as the user here.
    app = FastAPI(
        title="Warmfront",
        version=warmfront.__version__,
        redirect_slashes=False,
        docs_url=None,
        redoc_url=None,
    )
    app.state.service = service
    app.state.names = Names(problems.all_problems())
    app.state.simulations = outlook.Simulations()
    for part in (submissions, quotes, catalogue, machines, money, operations, outlook, health):
        app.include_router(part.router, prefix=views.ROOT)
    app.include_router(health.router, include_in_schema=False)
    app.add_api_route(
        "/metrics",
        money.scraped,
        response_class=Response,
        responses={200: {"content": {prometheus.MEDIA_TYPE: {}}}, **openapi.refusals()},
        tags=["figures"],
    )
    failures.install(app)
    openapi.install(app)
    app.add_middleware(auth.Gate, service=service)
    app.add_middleware(site.Site)
    app.add_middleware(Edge)  # added last: it is the outermost
    return app
