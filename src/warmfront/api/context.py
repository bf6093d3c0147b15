"""What the HTTP service is made of: the parts that it is handed, and what it asks of each.

The program that starts the service makes them; nothing in here opens, starts or stops anything.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from warmfront.clock import Clock
    from warmfront.hip.xray import XrayReport
    from warmfront.money.book import Money
    from warmfront.orchestrator.pulse import Pulse
    from warmfront.orchestrator.quote import Quote
    from warmfront.problems.spec import Dtype, Problem
    from warmfront.providers.base import Provider
    from warmfront.service.billing_reconciliation import BillingReconciler
    from warmfront.settings import Settings
    from warmfront.store.base import Store
    from warmfront.store.records import StoredEvent
    from warmfront.submission import NewSubmission, Submission
    from warmfront.vm import VMInstance


class Orchestrator(Protocol):
    """What the service asks of `VMOrchestrator`."""

    async def submit(self, new: NewSubmission) -> Submission:
        """Take it; it is stored, with its first event, when this returns."""

    async def cancel(self, submission_id: str) -> Submission:
        """End it; its sandbox is gone when this returns. `Conflict` if it has a verdict."""

    def quote(self, gpu: str, owner: str) -> Quote:
        """What a submission of this owner may expect, if it came now."""

    def pool(self) -> list[VMInstance]:
        """The VMs alive."""

    def waiting(self, most: int) -> list[Submission]:
        """The first of those who wait, in about the order in which they are served."""

    def money(self) -> Money:
        """Where the credits stand now."""

    def queue_length(self) -> int:
        """Submissions that wait for a VM."""


class Events(Protocol):
    """What the service asks of `EventLog`."""

    pulse: Pulse  #: beats whenever something was written

    def follow(self, submission_id: str, after: int = 0) -> AsyncIterator[StoredEvent]:
        """The events after `after`, stored ones first, then as they come; ends after the verdict."""


class XrayOf(Protocol):
    """X-rays a source in a sandbox, off the event loop."""

    async def __call__(
        self, source: str, *, arch: str, problem: Problem | None, dtype: Dtype | None
    ) -> XrayReport:
        """The report; a source that does not compile has one too."""


@dataclass(frozen=True, kw_only=True)
class ServiceContext:
    """The service."""

    settings: Settings
    store: Store
    orchestrator: Orchestrator
    log: Events
    provider: Provider
    clock: Clock
    new_id: Callable[[str], str]  #: a prefix → an id that nobody can guess
    xray: XrayOf  #: for `POST /api/amd/xray`
    billing_reconciler: BillingReconciler | None = None  #: holds the ledger against the provider's record
