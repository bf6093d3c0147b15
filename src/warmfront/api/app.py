"""Assemble the HTTP application: routes and middleware around a `ServiceContext`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import FastAPI
from fastapi.responses import Response

import warmfront
from warmfront.api import auth, documentation, error_responses, openapi, prometheus, serialization, web_page
from warmfront.api.middleware import AccessLogMiddleware, BodyLimitMiddleware, VersionMiddleware
from warmfront.api.open_streams import OpenStreams
from warmfront.api.routes import (
    account,
    alerts,
    audit,
    catalog,
    costs,
    forecasts,
    health,
    managed_keys,
    operations,
    operator_controls,
    people,
    provisioning,
    quotes,
    receipts,
    session,
    shares,
    submissions,
    teams,
    vms,
)
from warmfront.api.validation import ProblemCatalog
from warmfront.problems import all_problems

if TYPE_CHECKING:
    from warmfront.api.context import ServiceContext


def create_app(service: ServiceContext) -> FastAPI:
    """Return the application.

    The caller owns the components in `service`: it starts them before the application serves requests and
    stops them afterwards.
    """
    # FastAPI's documentation pages load scripts from another site, which would run with this origin's
    # permissions.
    app = FastAPI(
        title="Warmfront",
        version=warmfront.__version__,
        redirect_slashes=False,
        docs_url=None,
        redoc_url=None,
    )
    app.state.service = service
    app.state.problems = ProblemCatalog(all_problems())
    app.state.streams = OpenStreams(service)
    app.state.simulations = forecasts.Simulations()
    for module in (
        submissions,
        receipts,
        quotes,
        catalog,
        vms,
        provisioning,
        costs,
        operations,
        forecasts,
        operator_controls,
        managed_keys,
        alerts,
        audit,
        health,
        session,
        account,
        people,
        shares,
        teams,
    ):
        app.include_router(module.router, prefix=serialization.ROOT)
    app.include_router(health.router, include_in_schema=False)
    app.include_router(session.callback_router)
    app.add_api_route(
        "/metrics",
        costs.prometheus_metrics,
        response_class=Response,
        responses={200: {"content": {prometheus.MEDIA_TYPE: {}}}, **openapi.error_responses_for()},
        tags=["operations"],
    )
    error_responses.install(app)
    openapi.install(app)
    app.add_middleware(auth.AuthMiddleware, service=service)
    app.add_middleware(web_page.WebPageMiddleware, service=service)
    app.add_middleware(documentation.DocumentationMiddleware)
    app.add_middleware(BodyLimitMiddleware)
    app.add_middleware(VersionMiddleware)
    app.add_middleware(AccessLogMiddleware)  # added last, so it is the outermost
    return app
