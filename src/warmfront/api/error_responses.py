"""Errors as `application/problem+json`: a stable code, what is wrong, and what to do about it.

Every answer that is not a success is made here, so that all have one shape. Nothing is decided here.
"""

from __future__ import annotations

import json
import logging
import secrets
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from starlette.responses import Response

from warmfront import errors
from warmfront.api.hints import api_hint

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from fastapi import FastAPI
    from fastapi.exceptions import RequestValidationError
    from starlette.exceptions import HTTPException
    from starlette.requests import Request

logger = logging.getLogger(__name__)

MEDIA_TYPE = "application/problem+json"

#: When to try again after a fault of the machine.
RETRY_AFTER_S = 5

#: The nearest class of an error's ancestry decides.
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

#: Codes of what the web framework refuses by itself.
_HTTP_CODES = {
    400: "BAD_REQUEST",
    404: "NOT_FOUND",
    405: "METHOD_NOT_ALLOWED",
    413: "BODY_TOO_LARGE",
    415: "UNSUPPORTED_MEDIA_TYPE",
}

#: What to do about a body that is too large.
SMALLER = "A kernel is a page or two of text: leave data and generated tables out."

#: Of a value that is refused, this much is shown.
_SHOWN_CHARS = 80


class InvalidField(errors.BadRequest):
    """A field has a value that is not allowed."""

    def __init__(self, field: str, value: object, allowed: str, *, hint: str | None = None) -> None:
        super().__init__(f"{field} is {quote_value(value)}; allowed: {allowed}.", hint=hint)
        self.field = field


class InvalidText(errors.BadRequest):
    """A field holds text that cannot be taken; the message says why."""

    def __init__(self, field: str, message: str, *, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.field = field


class QuotaExceeded(errors.RateLimitExceeded):
    """Too many, for now."""

    def __init__(self, message: str, *, retry_after_s: int, hint: str) -> None:
        super().__init__(message, hint=hint)
        self.retry_after_s = retry_after_s


def quote_value(value: object) -> str:
    """A value as it is quoted in a message: never long, never raw."""
    text = repr(value)
    return text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}…"


def problem(
    status: int,
    code: str,
    detail: str,
    *,
    hint: str = "",
    field: str | None = None,
    headers: Mapping[str, str] | None = None,
    **more: object,
) -> Response:
    """One refusal."""
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
    body.update(more)
    return Response(json.dumps(body).encode(), status, headers, MEDIA_TYPE)


def of_error(error: errors.WarmfrontError) -> Response:
    """An error of ours."""
    status = next(_STATUS[kind] for kind in type(error).__mro__ if kind in _STATUS)
    headers: dict[str, str] = {}
    if status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    if status == 503:
        headers["Retry-After"] = str(RETRY_AFTER_S)
        logger.warning("%s: %s", error.code, error.message)
    if isinstance(error, QuotaExceeded):
        headers["Retry-After"] = str(error.retry_after_s)
    return problem(
        status,
        error.code,
        error.message,
        hint=api_hint(error),
        field=getattr(error, "field", None),
        headers=headers,
    )


def unexpected(error: Exception, what: str) -> Response:
    """A bug of ours: the caller gets a number that finds it in the log, and nothing more."""
    number = f"err_{secrets.token_hex(6)}"
    logger.error("%s: %s", number, what, exc_info=error)
    return problem(
        500,
        "INTERNAL",
        "Warmfront failed at this; the request is not to blame.",
        hint=f"Tell the operator this number, which is in the log: {number}",
        error_id=number,
    )


def install(app: FastAPI) -> None:
    """Answer every error that a route raises in this shape."""
    from fastapi.exceptions import RequestValidationError  # noqa: PLC0415 - beside its only use
    from starlette.exceptions import HTTPException  # noqa: PLC0415 - as above

    app.add_exception_handler(errors.WarmfrontError, _on_error)  # type: ignore[arg-type]  # narrower
    app.add_exception_handler(HTTPException, _on_http)  # type: ignore[arg-type]  # as above
    app.add_exception_handler(RequestValidationError, _on_invalid)  # type: ignore[arg-type]  # as above


async def _on_error(_request: Request, error: errors.WarmfrontError) -> Response:
    return of_error(error)


async def _on_http(request: Request, error: HTTPException) -> Response:
    where = f"{request.method} {request.url.path}"
    details = {
        400: ("The body cannot be read as JSON in UTF-8.", "Let a JSON library write it."),
        404: (f"There is nothing at {quote_value(where)}.", "GET /openapi.json lists what there is."),
        405: (
            f"{request.method} is not for {quote_value(request.url.path)}.",
            "The Allow header has what is.",
        ),
        413: (str(error.detail), SMALLER),
    }
    detail, hint = details.get(error.status_code, (str(error.detail), ""))
    code = _HTTP_CODES.get(error.status_code, "HTTP_ERROR")
    return problem(error.status_code, code, detail, hint=hint, headers=error.headers)


async def _on_invalid(request: Request, error: RequestValidationError) -> Response:
    first = error.errors()[0]
    kind, where = first["type"], [str(part) for part in first["loc"]]
    if kind == "json_invalid":
        return problem(
            400,
            "BAD_REQUEST",
            f"The body is not JSON: {first['ctx']['error']} at character {where[-1]}.",
            hint='Send an object such as {"problem": "leaky-relu", "solution_code": "..."}.',
        )
    media_type = request.headers.get("content-type", "")
    if where == ["body"] and "json" not in media_type:
        return problem(
            415,
            "UNSUPPORTED_MEDIA_TYPE",
            f"The body's Content-Type is {quote_value(media_type)}; allowed: application/json.",
            hint="With curl: -H 'Content-Type: application/json', or --json in place of -d.",
        )
    return _invalid(first, where)


def _invalid(first: Mapping[str, Any], where: Sequence[str]) -> Response:
    """A body or a parameter that is not as documented."""
    field = ".".join(where[1:]) or where[0]
    hint = "GET /openapi.json has the whole form."
    if first["type"] == "missing":
        detail = f"{field} is missing; it is required."
    elif first["type"] == "extra_forbidden" and field == "submission_id":
        detail, hint = "submission_id is ours to give: leave it out.", "The answer's `id` has it."
    elif first["type"] == "extra_forbidden":
        detail = f"{quote_value(field)} is not a field of this request."
    else:
        detail = f"{field} is {quote_value(first.get('input'))}; allowed: {_allowed(first)}."
    return problem(422, errors.BadRequest.code, detail, hint=hint, field=field[:_SHOWN_CHARS])


def _allowed(first: Mapping[str, Any]) -> str:
    """What the form says, in words."""
    if "expected" in first.get("ctx", {}):
        return str(first["ctx"]["expected"])
    message = str(first["msg"]).removeprefix("Input should ").removeprefix("be ")
    return message.removeprefix("Value error, ")
