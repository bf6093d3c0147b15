"""Turn error responses, and responses that this client cannot read, into `warmfront.errors`.

The `code` of a problem+json response names the error class; nothing is inferred from its text.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ValidationError

from warmfront import errors

if TYPE_CHECKING:
    import httpx

M = TypeVar("M", bound=BaseModel)


def error_from_response(response: httpx.Response) -> errors.WarmfrontError:
    """Return the error of a response whose body has been read."""
    problem = _problem_details(response)
    code = str(problem.get("code") or "")
    message = str(problem.get("detail") or problem.get("title") or f"HTTP {response.status_code}.")
    fallback = errors.InfrastructureError if response.status_code >= 500 else errors.UsageError
    error = _BY_CODE.get(code, fallback)(message, hint=problem.get("hint") or None)
    error.code = code or error.code  # programs may match on a code that only the server knows
    return error


def unreachable(url: str, error: Exception) -> errors.ServerUnreachable:
    """Return the error for a server that did not respond."""
    reason = str(error) or type(error).__name__
    return errors.ServerUnreachable(
        f"No Warmfront service responds at {url}: {reason}.".replace("..", "."),
        hint="Start the service there, or use the address of a running one (WARMFRONT_URL).",
    )


def parse_response(model: type[M], body: object) -> M:
    """Return the JSON body of a response as a model.

    Raises:
        InfrastructureError: The body does not match the wire schema of this client.
    """
    try:
        return model.model_validate(body)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"]) or "body"
        raise errors.InfrastructureError(
            f"The server's response has {field} = {first.get('input')!r}: {first['msg']}.",
            hint="Upgrade this client to the server's release.",
        ) from error


def _problem_details(response: httpx.Response) -> dict[str, Any]:
    try:
        body = json.loads(response.content)
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}


#: If several errors share a code, their base class comes first in `warmfront.errors` and is used.
_BY_CODE: dict[str, type[errors.WarmfrontError]] = {
    kind.code: kind
    for kind in reversed(list(vars(errors).values()))
    if isinstance(kind, type) and issubclass(kind, errors.WarmfrontError)
}
