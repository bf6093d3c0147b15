"""Retries with exponential backoff and jitter."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, kw_only=True)
class Retry:
    """The policy for retries after a dropped connection.

    The delay doubles from `first_s` to `most_s`. Progress, such as a new event, resets the count.

    Example:
        >>> from warmfront.client import Client, Retry
        >>> client = Client(retry=Retry(attempts=3))
    """

    attempts: int = 36  #: consecutive retries; the default delays give a busy server two minutes to restart
    first_s: float = 0.1  #: the first delay
    most_s: float = 5.0  #: the longest delay

    def delays_s(self) -> Iterator[float]:
        """Yield the delay before each retry, with jitter so that many clients do not reconnect at once."""
        delay_s = self.first_s
        for _ in range(self.attempts):
            yield delay_s * random.uniform(0.5, 1)  # noqa: S311 - jitter needs no secure randomness
            delay_s = min(2 * delay_s, self.most_s)
