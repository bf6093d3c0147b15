"""How the API documents itself: every refusal with an example, in one shape, beside each route's answers."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from fastapi.openapi.utils import get_openapi

import warmfront
from warmfront.api import error_responses, models

if TYPE_CHECKING:
    from fastapi import FastAPI

_EVENT = (
    "id: 1\nevent: IN_QUEUE\n"
    'data: {"id":1,"time":"2026-01-31T12:00:00.000Z","status":"IN_QUEUE","submission_id":"sub_1",'
    '"position":0,"quote":{"vm_state":"WARM_REUSE","wait_s":0.0,"cost_usd":0.0006}}\n\n'
)

#: One event of a stream.
_EVENT_SCHEMA: dict[str, Any] = {
    "type": "object",
    "description": "One event; a stream is one after the other, with comments between them.",
    "required": ["id", "event", "data"],
    "properties": {
        "id": {"type": "string", "description": "From 1, without gap: the next request's Last-Event-ID."},
        "event": {"type": "string", "description": "The status."},
        "data": {
            "type": "string",
            "contentMediaType": "application/json",
            "contentSchema": {
                "type": "object",
                "required": ["id", "time", "status"],
                "properties": {
                    "id": {"type": "integer"},
                    "time": {"type": "string", "format": "date-time"},
                    "status": {"type": "string"},
                },
            },
        },
    },
}

#: What a stream of events looks like.
EVENT_STREAM: dict[str, Any] = {
    "description": "The events, each as it is stored; the stream ends after the verdict.",
    "content": {"text/event-stream": {"schema": _EVENT_SCHEMA, "example": _EVENT}},
}

_CHANGE = (
    "id: 1\nevent: CHANGED\n"
    'data: {"id":1,"time":"2026-01-31T12:00:00.000Z","status":"CHANGED","pool":{"IDLE":1},"queue_length":0,'
    '"tasks_done":{"vm_1":3},"deadlines":{"vm_1":"2026-01-31T12:10:00.000Z"},"alerted":false,"spent_usd":5.25}\n\n'
)

#: What a stream of changes looks like.
CHANGE_STREAM: dict[str, Any] = {
    "description": "One event at once, then one after each change, at most two a second, without end.",
    "content": {"text/event-stream": {"schema": _EVENT_SCHEMA, "example": _CHANGE}},
}

_EXAMPLES = {
    400: ("BAD_REQUEST", "The body is not JSON: Expecting value at character 0."),
    401: ("NOT_AUTHENTICATED", "This needs an API key."),
    402: ("BUDGET_EXCEEDED", "ada has spent $2.0131 today of $2.00 a day."),
    403: ("NOT_ALLOWED", "problem_def is Python that the service would run: it takes an operator's key."),
    404: ("NOT_FOUND", "There is no submission 'sub_x'."),
    409: ("CONFLICT", "It has its verdict already: ACCEPTED."),
    413: ("BODY_TOO_LARGE", "The body has more than 524,288 bytes."),
    415: ("UNSUPPORTED_MEDIA_TYPE", "The body's Content-Type is 'text/plain'; allowed: application/json."),
    422: ("BAD_REQUEST", "gpu_type is 'H100'; allowed: MI300X."),
    429: ("RATE_LIMIT_EXCEEDED", "ada has had the 600 submissions a minute that are allowed."),
    503: ("STORE_UNAVAILABLE", "The database cannot be reached or written."),
}


def error_responses_for(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """A route's answers that are no success, for its `responses`; all guarded routes have 401, 403, 503."""
    return {status: _refusal(status) for status in sorted({401, 403, 503, *statuses})}


def _refusal(status: int) -> dict[str, Any]:
    code, detail = _EXAMPLES[status]
    example = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "code": code,
        "detail": detail,
        "hint": "What to do next.",
    }
    schema = {"$ref": "#/components/schemas/Problem"}
    return {
        "description": code,
        "content": {error_responses.MEDIA_TYPE: {"schema": schema, "example": example}},
    }


def install(app: FastAPI) -> None:
    """Complete what the framework generates: the refusals' form, and how a key is sent."""

    def document() -> dict[str, Any]:
        if app.openapi_schema is None:
            schema = get_openapi(
                title="Warmfront",
                version=warmfront.__version__,
                description="Proves whether a HIP kernel is right and measures how fast it is.",
                routes=app.routes,
            )
            parts = schema.setdefault("components", {})
            parts.setdefault("schemas", {})["Problem"] = models.Problem.model_json_schema()
            parts["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer", "bearerFormat": "wf_…"}}
            # A service on loopback that has no keys takes requests without one.
            schema["security"] = [{"key": []}, {}]
            app.openapi_schema = schema
        return app.openapi_schema

    app.openapi = document  # type: ignore[method-assign]  # the framework's documented way
