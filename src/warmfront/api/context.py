"""The components that the HTTP service uses, and the methods that it needs.

`warmfront serve` creates them. This module does not open, start or stop components.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Protocol, TypeVar

from warmfront.value_class import dataclass
from warmfront.verdicts import Endpoint

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

    from warmfront.audit_chain import Actor
    from warmfront.clock import Clock
    from warmfront.hip.xray import XrayReport
    from warmfront.money.escrow import BudgetStatus
    from warmfront.orchestrator.action_effects import ActionEffects
    from warmfront.orchestrator.event_log import ChangeNotifier
    from warmfront.orchestrator.intake import Intake
    from warmfront.orchestrator.quotes import Quote
    from warmfront.orchestrator.runtime_limits import RuntimeLimits
    from warmfront.orchestrator.vm_controls import VMControls
    from warmfront.problems.spec import Dtype, Problem
    from warmfront.providers.base import Provider
    from warmfront.provisioning import ProvisioningProblem
    from warmfront.receipts.keyring import Keyring
    from warmfront.service.alert_monitor import AlertMonitor
    from warmfront.service.billing_reconciliation import BillingReconciler
    from warmfront.settings import Settings
    from warmfront.sign_in.provider import IdentityProvider
    from warmfront.store.records import StoredEvent
    from warmfront.store.store import Store
    from warmfront.submission import NewSubmission, Submission
    from warmfront.usage_limits import DailyCaps, Quota
    from warmfront.vm import VMInstance


T = TypeVar("T")


class Orchestrator(Protocol):
    """The part of `VMOrchestrator` that the routes use."""

    async def submit(
        self, new: NewSubmission, *, quotas: Sequence[Quota] = (), caps: DailyCaps | None = None
    ) -> Submission:
        """Store the submission with its first event, within the quotas and caps of its owner."""

    @property
    def vm_controls(self) -> VMControls:
        """The operators' actions on VMs."""

    @property
    def intake(self) -> Intake:
        """The intake of submissions, which operators can pause."""

    @property
    def action_effects(self) -> ActionEffects:
        """What it saves or costs to cancel a submission, or to pause or resume the intake."""

    @property
    def limits(self) -> RuntimeLimits:
        """The limits that operators change at run time."""

    async def cancel(self, submission_id: str, *, by: Actor | None = None) -> Submission:
        """End the submission and wait until its sandbox is destroyed; `by` is for the audit log.

        Raises `Conflict` if the submission already has a verdict.
        """

    async def run_xray(self, user: str, make_xray: Callable[[], Awaitable[T]]) -> T:
        """Make an X-ray without a submission when it is this user's turn. It can be cancelled."""

    def quote(self, gpu: str, owner: str, endpoint: str = Endpoint.SUBMIT) -> Quote:
        """Return the expected wait and cost of a submission that this owner sends now."""

    def pool(self) -> list[VMInstance]:
        """Return the live VMs."""

    def waiting(self, limit: int) -> list[Submission]:
        """Return the first `limit` queued submissions, in approximately the order in which they will run."""

    def provisioning_problems(self) -> list[ProvisioningProblem]:
        """Return the GPU types for which no VM is provisioned now, and why."""

    def reset_provisioning(self, gpu: str) -> bool:
        """Close the circuit breaker of a GPU type; return whether there was anything to reset."""

    def budget_status(self) -> BudgetStatus:
        """Return how much of the credits is spent, reserved and left."""

    def slots(self) -> tuple[int, int]:
        """Return how many slots of ready VMs are in use, and how many there are."""

    def queue_length(self) -> int:
        """Return the number of submissions that wait for a VM."""


class EventSource(Protocol):
    """The part of `EventLog` that the routes use: pub/sub with replay."""

    @property
    def changes(self) -> ChangeNotifier:
        """The notifier that is called after every write."""

    def follow(self, submission_id: str, after: int = 0) -> AsyncIterator[StoredEvent]:
        """Yield the events after the id `after` until the verdict: first stored events, then live ones."""


class XrayFunction(Protocol):
    """A function that makes an X-ray in a sandbox, outside the event loop."""

    async def __call__(
        self, source: str, *, arch: str, problem: Problem | None, dtype: Dtype | None
    ) -> XrayReport:
        """Return the report of a source, even if it does not compile."""


async def _assume_storage() -> None:
    """Do nothing: the default storage check, for a service whose store is not on a disk."""


@dataclass(frozen=True, kw_only=True)
class ServiceContext:
    """Everything that the routes use."""

    settings: Settings
    store: Store
    orchestrator: Orchestrator
    log: EventSource
    provider: Provider
    clock: Clock
    new_id: Callable[[str], str]  #: returns an unguessable id with this prefix
    xray: XrayFunction  #: for `POST /api/amd/xray`
    billing_reconciler: BillingReconciler | None = None
    alerts: AlertMonitor | None = None  #: None for a service that watches no alert rules
    identity_provider: IdentityProvider | None = None  #: None for a service without sign-in
    signing_keys: Keyring | None = None  #: None for a service without receipts
    #: Raises `InfrastructureError` if the data directory cannot be written, or is almost full.
    check_storage: Callable[[], Awaitable[object]] = _assume_storage
    #: Whether the service is on standby: it answers reads, and every change raises `OnStandby`.
    state: Literal["active", "standby"] = "active"

    @property
    def current_settings(self) -> Settings:
        """The settings, with the limits that operators have changed at run time."""
        return self.orchestrator.limits.current
