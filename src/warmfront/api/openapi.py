"""Complete the OpenAPI document that FastAPI generates: error responses, event streams and API keys."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from fastapi.openapi.utils import get_openapi
from pydantic.json_schema import models_json_schema

import warmfront
from warmfront.api import error_responses
from warmfront.wire.events import OperationsChangedMessage, SubmissionEvent, SubmissionEventMessage
from warmfront.wire.health import ProblemDetails
from warmfront.wire.operations import OperationsChangedEvent
from warmfront.wire.version import SUPPORTED_VERSIONS, VERSION_HEADER

if TYPE_CHECKING:
    from fastapi import FastAPI
    from pydantic import BaseModel

_COMPONENT = "#/components/schemas/{model}"

#: Models that only our own additions refer to; FastAPI does not see them.
_ADDED_MODELS: tuple[type[BaseModel], ...] = (
    ProblemDetails,
    SubmissionEvent,
    SubmissionEventMessage,
    OperationsChangedEvent,
    OperationsChangedMessage,
)


def _event_stream(message: type[BaseModel], description: str, example: str) -> dict[str, Any]:
    schema = {"$ref": _COMPONENT.format(model=message.__name__)}
    return {
        "description": description,
        "content": {"text/event-stream": {"schema": schema, "example": example}},
    }


#: The response of a route that streams the events of a submission.
EVENT_STREAM = _event_stream(
    SubmissionEventMessage,
    "Server-sent events, each sent as it is stored. The stream ends after the verdict.",
    "id: 1\nevent: IN_QUEUE\n"
    'data: {"id":1,"time":"2026-01-31T12:00:00.000Z","schema":1,"status":"IN_QUEUE","submission_id":"sub_1",'
    '"position":0,"quote":{"vm_state":"WARM_REUSE","wait_s":0.0,"cost_usd":0.0006,"warm_chance":0.98}}\n\n',
)

#: The response of a route that streams changes of the service.
CHANGE_STREAM = _event_stream(
    OperationsChangedMessage,
    "One event immediately, then one per change, at most two per second. The stream does not end on its own.",
    "id: 1\nevent: CHANGED\n"
    'data: {"id":1,"time":"2026-01-31T12:00:00.000Z","schema":1,"status":"CHANGED","pool":{"IDLE":1},'
    '"queue_length":0,"tasks_done":{"vm_1":3},"deadlines":{"vm_1":"2026-01-31T12:10:00.000Z"},'
    '"alerted":false,"spent_usd":5.25}\n\n',
)

_EXAMPLES = {
    400: ("BAD_REQUEST", "The request body is not JSON: Expecting value at character 0."),
    401: ("NOT_AUTHENTICATED", "This request requires an API key."),
    402: ("BUDGET_EXCEEDED", "ada has spent $2.0131 of the daily budget of $2.00."),
    403: ("NOT_ALLOWED", "problem_def requires the role operator; your role is author."),
    404: ("NOT_FOUND", "There is no submission 'sub_x'."),
    409: ("CONFLICT", "The submission already has a verdict: ACCEPTED."),
    413: ("BODY_TOO_LARGE", "The request body is larger than 524,288 bytes."),
    415: ("UNSUPPORTED_MEDIA_TYPE", "Content-Type is 'text/plain'; allowed: application/json."),
    422: ("BAD_REQUEST", "gpu_type is 'H100'; allowed: MI300X."),
    429: ("RATE_LIMIT_EXCEEDED", "Rate limit exceeded: 600 submissions per minute for ada."),
    503: ("STORE_UNAVAILABLE", "The database cannot be reached or written."),
}


def error_responses_for(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """Return the error responses of a route, for its `responses`.

    Every protected route also has 400 (unsupported version), 401, 403 and 503.
    """
    return {status: _error_response(status) for status in sorted({400, 401, 403, 503, *statuses})}


def _error_response(status: int) -> dict[str, Any]:
    code, detail = _EXAMPLES[status]
    example = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "code": code,
        "detail": detail,
        "hint": "What to do next.",
    }
    schema = {"$ref": _COMPONENT.format(model=ProblemDetails.__name__)}
    return {
        "description": code,
        "content": {error_responses.MEDIA_TYPE: {"schema": schema, "example": example}},
    }


def install(app: FastAPI) -> None:
    """Make `app` generate the completed document."""

    def document() -> dict[str, Any]:
        if app.openapi_schema is None:
            schema = get_openapi(
                title="Warmfront",
                version=warmfront.__version__,
                description=(
                    "Checks whether a HIP kernel is correct and measures how fast it is.\n\n"
                    f"Requests may send `{VERSION_HEADER}` (supported: "
                    f"{', '.join(map(str, SUPPORTED_VERSIONS))}); every response has it."
                ),
                routes=app.routes,
            )
            components = schema.setdefault("components", {})
            _, added = models_json_schema(
                [(model, "serialization") for model in _ADDED_MODELS], ref_template=_COMPONENT
            )
            components["schemas"] = dict(sorted({**added["$defs"], **components["schemas"]}.items()))
            components["securitySchemes"] = {
                "key": {"type": "http", "scheme": "bearer", "bearerFormat": "wf_…"}
            }
            # A service on loopback without any key accepts requests without one.
            schema["security"] = [{"key": []}, {}]
            app.openapi_schema = schema
        return app.openapi_schema

    app.openapi = document  # type: ignore[method-assign]  # FastAPI documents this way of extending it
