"""Error responses: `application/problem+json` (RFC 9457) with a stable code and a hint.

Every error response is created here, so that all have the same structure.
"""

from __future__ import annotations

import json
import logging
import re
import secrets
from http import HTTPMethod, HTTPStatus
from typing import TYPE_CHECKING, Any

from starlette.responses import Response
from starlette.routing import Match

from warmfront import errors
from warmfront.api.hints import api_hint
from warmfront.usage_limits import QuotaExceeded

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fastapi import FastAPI
    from fastapi.exceptions import RequestValidationError
    from starlette.exceptions import HTTPException
    from starlette.requests import Request
    from starlette.routing import BaseRoute

logger = logging.getLogger(__name__)

MEDIA_TYPE = "application/problem+json"

#: The `Retry-After` of a 503 response.
RETRY_AFTER_S = 5

#: HTTP status by error class; the nearest class in the MRO of an error is used.
_STATUS: dict[type[errors.WarmfrontError], int] = {
    errors.WarmfrontError: 500,
    errors.UsageError: 422,
    errors.NotAuthenticated: 401,
    errors.BudgetExceeded: 402,
    errors.NotAllowed: 403,
    errors.NotFound: 404,
    errors.UnknownProblem: 404,
    errors.Conflict: 409,
    errors.RateLimitExceeded: 429,
    errors.InfrastructureError: 503,
}

#: Codes of the errors that the framework raises.
_HTTP_CODES = {
    400: "BAD_REQUEST",
    404: "NOT_FOUND",
    405: "METHOD_NOT_ALLOWED",
    413: "BODY_TOO_LARGE",
    415: "UNSUPPORTED_MEDIA_TYPE",
}

BODY_TOO_LARGE_HINT = (
    "Leave data and generated tables out of the source; kernels are usually a few kilobytes."
)

#: A rejected value is quoted up to this length.
_QUOTED_CHARS = 80


#: A quoted path, a URL, or a path: failure details must not reveal them to clients.
_PLACE = re.compile(r"""(?P<quote>['"])~?/[^'"]*(?P=quote)|\b\w+://\S+|[\w.~+-]*/[^\s'",;:()]+""")


class InvalidField(errors.BadRequest):
    """A request field has a value that is not allowed."""

    def __init__(self, field: str, value: object, allowed: str, *, hint: str | None = None) -> None:
        super().__init__(f"{field} is {quote_value(value)}; allowed: {allowed}.", hint=hint)
        self.field = field


class InvalidText(errors.BadRequest):
    """A request field contains text that is not allowed; the message says why."""

    def __init__(self, field: str, message: str, *, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.field = field


def quote_value(value: object) -> str:
    """Quote a value for a message, escaped and truncated to a readable length."""
    text = repr(value)
    return text if len(text) <= _QUOTED_CHARS else f"{text[:_QUOTED_CHARS]}…"


def without_places(text: str) -> str:
    """Return the text of an infrastructure error without file paths and addresses, which are in the log.

    Example:
        >>> without_places("The database /var/lib/warmfront/warmfront.db is unavailable: disk full")
        'The database (path) is unavailable: disk full'
    """
    return _PLACE.sub(lambda match: "(address)" if "://" in match[0] else "(path)", text)


def problem_response(
    status: int,
    code: str,
    detail: str,
    *,
    hint: str = "",
    field: str | None = None,
    headers: Mapping[str, str] | None = None,
    **members: object,
) -> Response:
    """Return an error response; `members` are additional members of the problem object."""
    body: dict[str, Any] = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "code": code,
        "detail": detail,
        "hint": hint,
    }
    if field is not None:
        body["field"] = field
    body.update(members)
    return Response(json.dumps(body).encode(), status, headers, MEDIA_TYPE)


def error_response(error: errors.WarmfrontError) -> Response:
    """Return the response for a deliberate error."""
    status = next(_STATUS[kind] for kind in type(error).__mro__ if kind in _STATUS)
    headers: dict[str, str] = {}
    detail = error.message
    if status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    if status == 503:
        headers["Retry-After"] = str(RETRY_AFTER_S)
        logger.warning("responding with 503: %s: %s", error.code, error.message)
        detail = without_places(detail)
    if isinstance(error, QuotaExceeded):
        headers["Retry-After"] = str(error.retry_after_s)
    return problem_response(
        status,
        error.code,
        detail,
        hint=api_hint(error),
        field=getattr(error, "field", None),
        headers=headers,
        **({"role_needed": error.needed} if isinstance(error, errors.RoleRequired) else {}),
    )


def internal_error(error: Exception, request: str) -> Response:
    """Log an unhandled exception with a random id and return a 500 response with only the id."""
    error_id = f"err_{secrets.token_hex(6)}"
    logger.error("unhandled exception %s in %s", error_id, request, exc_info=error)
    return problem_response(
        500,
        "INTERNAL",
        "Internal error. The request is not the cause.",
        hint=f"Report error id {error_id} to the operator; the service's log has the details.",
        error_id=error_id,
    )


def install(app: FastAPI) -> None:
    """Register handlers that turn every error of a route into a problem response."""
    from fastapi.exceptions import RequestValidationError  # noqa: PLC0415 - beside its only use
    from starlette.exceptions import HTTPException  # noqa: PLC0415 - beside its only use

    # Starlette types a handler's second parameter as Exception; each of these is called with its own class.
    app.add_exception_handler(errors.WarmfrontError, _on_error)  # type: ignore[arg-type]
    app.add_exception_handler(HTTPException, _on_http)  # type: ignore[arg-type]
    app.add_exception_handler(RequestValidationError, _on_invalid)  # type: ignore[arg-type]


async def _on_error(_request: Request, error: errors.WarmfrontError) -> Response:
    return error_response(error)


async def _on_http(request: Request, error: HTTPException) -> Response:
    route = f"{request.method} {request.url.path}"
    details = {
        400: ("The request body is not JSON in UTF-8.", "Use a JSON library to encode the body."),
        404: (f"There is no route {quote_value(route)}.", "GET /openapi.json lists the routes."),
        405: (
            f"{request.method} is not allowed for {quote_value(request.url.path)}.",
            "The Allow header lists the allowed methods.",
        ),
        413: (str(error.detail), BODY_TOO_LARGE_HINT),
    }
    detail, hint = details.get(error.status_code, (str(error.detail), ""))
    code = _HTTP_CODES.get(error.status_code, "HTTP_ERROR")
    headers = error.headers if error.status_code != 405 else {"Allow": ", ".join(_methods_of_path(request))}
    return problem_response(error.status_code, code, detail, hint=hint, headers=headers)


def _methods_of_path(request: Request) -> list[str]:
    """Return the methods that the path of the request supports.

    The header of the framework names only those of the first route that has the path, and GET and POST of one
    path are two routes.
    """
    routes: Sequence[BaseRoute] = request.app.routes
    return [
        method.value
        for method in HTTPMethod
        if any(route.matches({**request.scope, "method": method.value})[0] is Match.FULL for route in routes)
    ]


async def _on_invalid(request: Request, error: RequestValidationError) -> Response:
    first = error.errors()[0]
    kind, location = first["type"], [str(part) for part in first["loc"]]
    if kind == "json_invalid":
        return problem_response(
            400,
            "BAD_REQUEST",
            f"The request body is not JSON: {first['ctx']['error']} at character {location[-1]}.",
            hint='Send an object such as {"problem": "leaky-relu", "solution_code": "..."}.',
        )
    media_type = request.headers.get("content-type", "")
    if location == ["body"] and "json" not in media_type:
        return problem_response(
            415,
            "UNSUPPORTED_MEDIA_TYPE",
            f"Content-Type is {quote_value(media_type)}; allowed: application/json.",
            hint="With curl, add -H 'Content-Type: application/json', or use --json instead of -d.",
        )
    return _invalid(first, location)


def _invalid(first: Mapping[str, Any], location: Sequence[str]) -> Response:
    """Return the response for a body or parameter that does not match the schema."""
    field = ".".join(location[1:]) or location[0]
    hint = "GET /openapi.json describes every field."
    if first["type"] == "missing":
        detail = f"{field} is required."
    elif first["type"] == "extra_forbidden" and field == "submission_id":
        detail = "submission_id cannot be set: the service assigns it."
        hint = "Omit the field; the response has the id."
    elif first["type"] == "extra_forbidden":
        detail = f"{quote_value(field)} is not a field of this request."
    else:
        detail = f"{field} is {quote_value(first.get('input'))}; allowed: {_allowed(first)}."
    return problem_response(422, errors.BadRequest.code, detail, hint=hint, field=field[:_QUOTED_CHARS])


def _allowed(first: Mapping[str, Any]) -> str:
    """Return the constraint that Pydantic reports, in words."""
    if "expected" in first.get("ctx", {}):
        return str(first["ctx"]["expected"])
    message = str(first["msg"]).removeprefix("Input should ").removeprefix("be ")
    return message.removeprefix("Value error, ")
