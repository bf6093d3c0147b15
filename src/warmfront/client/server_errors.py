"""Turns what a server refused into the error that it means.

The `code` of a problem+json answer names a class of `warmfront.errors`; nothing else is guessed from words.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from warmfront import errors

if TYPE_CHECKING:
    import httpx


def failure(response: httpx.Response) -> errors.WarmfrontError:
    """The error that an answer stands for; its body has been read."""
    problem = _problem(response)
    code = str(problem.get("code") or "")
    message = str(problem.get("detail") or problem.get("title") or f"HTTP {response.status_code}.")
    generic = errors.InfrastructureError if response.status_code >= 500 else errors.UsageError
    error = _BY_CODE.get(code, generic)(message, hint=problem.get("hint") or None)
    error.code = code or error.code  # also one that only the server knows: programs can match on it
    return error


def unreachable(url: str, error: Exception) -> errors.ServerUnreachable:
    """No answer came from this address."""
    reason = str(error) or type(error).__name__
    return errors.ServerUnreachable(
        f"No Warmfront service answers at {url}: {reason}.".replace("..", "."),
        hint="Start the service there, or use the address of a running one (WARMFRONT_URL).",
    )


def _problem(response: httpx.Response) -> dict[str, Any]:
    try:
        body = json.loads(response.content)
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}


_BY_CODE: dict[str, type[errors.WarmfrontError]] = {
    kind.code: kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, errors.WarmfrontError) and "code" in vars(kind)
}
