"""FastAPI dependencies: the parameters that the framework fills in for a route."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, cast

from fastapi import Depends, Request

from warmfront.api.auth import Caller
from warmfront.api.context import ServiceContext
from warmfront.api.open_streams import OpenStreams
from warmfront.api.validation import ProblemCatalog
from warmfront.roles import Role

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable


# Coroutines although they do not await: FastAPI runs plain functions in a thread pool on every request.
async def _service(request: Request) -> ServiceContext:
    return cast("ServiceContext", request.app.state.service)


async def _problems(request: Request) -> ProblemCatalog:
    return cast("ProblemCatalog", request.app.state.problems)


async def _caller(request: Request) -> Caller:
    caller = request.scope["warmfront.caller"]
    assert isinstance(caller, Caller)  # noqa: S101 - AuthMiddleware sets it on every protected path
    return caller


async def _optional_caller(request: Request) -> Caller | None:
    return cast("Caller | None", request.scope.get("warmfront.caller"))


async def _streams(request: Request) -> OpenStreams:
    return cast("OpenStreams", request.app.state.streams)


#: The components of the service.
ServiceDep = Annotated[ServiceContext, Depends(_service)]

#: The problems of this service.
ProblemsDep = Annotated[ProblemCatalog, Depends(_problems)]

#: The authenticated user.
CallerDep = Annotated[Caller, Depends(_caller)]

#: The authenticated user; None on the few paths that are open to everyone.
OptionalCallerDep = Annotated[Caller | None, Depends(_optional_caller)]


def require_role(needed: Role, action: str) -> Callable[[Caller], Awaitable[Caller]]:
    """Return a dependency that provides the caller, or responds with 403 and the name of the required role.

    Example:
        >>> Drainer = Annotated[Caller, Depends(require_role(Role.OPERATOR, "Draining a VM"))]
    """

    async def authorized(caller: CallerDep) -> Caller:
        caller.require(needed, action)
        return caller

    return authorized


require_operator = require_role(Role.OPERATOR, "This action")

#: The authenticated user, who must be an operator.
OperatorDep = Annotated[Caller, Depends(require_operator)]

#: The open event streams.
StreamsDep = Annotated[OpenStreams, Depends(_streams)]
