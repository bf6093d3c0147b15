"""Quotas: fixed-window rate limits per user, and the error when one is used up.

The store counts; it consumes a quota in the same transaction that creates the submission.
"""

from __future__ import annotations

from dataclasses import dataclass

from warmfront.errors import RateLimitExceeded


@dataclass(frozen=True, kw_only=True)
class Quota:
    """At most `limit` uses per fixed window of `window_s` seconds."""

    kind: str  #: its name in the store
    window_s: int
    limit: int
    noun: str  #: what is counted, for messages, such as "submissions per minute"
    variable: str  #: the setting that an operator can raise

    def window_start(self, now: float) -> float:
        """Return when the window that contains `now` began."""
        return now - now % self.window_s

    def exceeded(self, now: float) -> QuotaExceeded:
        """Return the error for a user who has used all of it."""
        return QuotaExceeded(self, retry_after_s=int(self.window_start(now) + self.window_s - now) + 1)


class QuotaExceeded(RateLimitExceeded):
    """A quota is used up until its window ends."""

    def __init__(self, quota: Quota, *, retry_after_s: int) -> None:
        super().__init__(
            f"Rate limit exceeded: {quota.limit:,} {quota.noun}. Retry after {retry_after_s} s.",
            hint=f"An operator can raise {quota.variable}.",
        )
        self.quota = quota
        self.retry_after_s = retry_after_s
