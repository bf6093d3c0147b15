"""How often and how patiently something is tried again after a cut. Values only."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, kw_only=True)
class Retry:
    """Tries in a row without any progress; progress starts the count again."""

    attempts: int = 12  #: with the waits below, a server may take half a minute to restart
    first_s: float = 0.1
    most_s: float = 5.0

    def waits_s(self) -> Iterator[float]:
        """The wait before each further try. Spread, so that a thousand clients do not return as one."""
        wait_s = self.first_s
        for _ in range(self.attempts):
            yield wait_s * random.uniform(0.5, 1)  # noqa: S311 - nothing secret about it
            wait_s = min(2 * wait_s, self.most_s)
