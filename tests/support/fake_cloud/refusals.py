"""Errors of AMD Developer Cloud in its own words, which are those of DigitalOcean's API.

The status decides what dstack does: it takes 422 for a lack of capacity and tries the next offer.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Refusal:
    """An error of the API."""

    status: int
    id: str
    message: str


NOT_AVAILABLE = Refusal(422, "unprocessable_entity", "Size is not available in this region.")
#: Quota.
DROPLET_LIMIT = Refusal(
    422, "unprocessable_entity", "creating this/these droplet(s) will exceed your droplet limit"
)
#: Billing. The exact words for an account without credits are not documented.
NO_CREDITS = Refusal(
    402, "payment_required", "Your account has no credits left. Add a payment method to create resources."
)
LOCKED = Refusal(403, "forbidden", "Your account is locked. Please contact support.")
#: The key lacks the scope.
FORBIDDEN = Refusal(403, "forbidden", "You are not authorized to perform this operation")
RATE_LIMIT = Refusal(429, "too_many_requests", "API Rate limit exceeded.")
SERVER_ERROR = Refusal(500, "server_error", "Unexpected server-side error")
