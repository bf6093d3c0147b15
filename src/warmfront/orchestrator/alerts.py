"""Tells that the credits run low: once, also over restarts. What is spent, others say."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from warmfront.store import marks

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from warmfront.money.book import Book, Money
    from warmfront.orchestrator.journal import Journal
    from warmfront.settings import Settings

log = logging.getLogger(__name__)

#: Is told once when the credits run low.
Alert = Callable[[dict[str, Any]], Awaitable[None]]

#: How often at most the credits are looked at.
_LOOK_S = 1.0


@dataclass(kw_only=True)
class Alerts:
    """Looks at the credits."""

    settings: Settings
    book: Book
    journal: Journal
    money: Callable[[], Money]
    spawn: Callable[[Coroutine[object, object, None]], object]
    tell: Alert | None
    done: bool = False  #: it was told
    _look_after: float = 0.0

    @property
    def name(self) -> str:
        """Other credits or another threshold are another alert."""
        return f"alert:{self.settings.alert_threshold}:{self.settings.credits_usd}"

    def look(self, now: float) -> None:
        """Raise the alert if it is time."""
        if self.done or now < self._look_after:
            return
        self._look_after = now + _LOOK_S
        alert_usd = self.settings.alert_threshold * self.book.credits_usd
        # What is spent is never more than what is committed, which is known without looking at every VM.
        if self.book.committed_usd < alert_usd:
            return
        money = self.money()
        if money.spent_usd < alert_usd:
            return
        self.done = True
        self.spawn(self._raise(money, now))

    async def _raise(self, money: Money, now: float) -> None:
        """Once in the life of these credits."""
        if not await self.journal.write(marks.once, self.name, now):
            return
        facts = {
            "spent_usd": float(round(money.spent_usd, 2)),
            "credits_usd": float(money.credits_usd),
            "threshold": float(self.settings.alert_threshold),
        }
        log.warning(
            "budget alert: $%.2f of $%.2f are spent, %d%% or more",
            money.spent_usd,
            money.credits_usd,
            self.settings.alert_threshold * 100,
        )
        if self.tell is not None:
            await self.tell(facts)
