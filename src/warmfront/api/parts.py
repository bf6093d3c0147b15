"""How a route gets at the parts of the service: as parameters that the framework fills in."""

from __future__ import annotations

from typing import Annotated, cast

from fastapi import Depends, Request

from warmfront.api.admission import Names
from warmfront.api.service import Service


# Coroutines, though they wait for nothing: the framework would give plain functions a thread each time.
async def _parts(request: Request) -> Service:
    return cast("Service", request.app.state.service)


async def _names(request: Request) -> Names:
    return cast("Names", request.app.state.names)


#: A route's parameter: the parts of the service.
Parts = Annotated[Service, Depends(_parts)]

#: A route's parameter: the problems.
Known = Annotated[Names, Depends(_names)]
