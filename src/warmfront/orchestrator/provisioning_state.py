"""Recent provisioning failures of one GPU type: a shortage, or an open circuit breaker.

A shortage costs nothing, so submissions wait while VMs are requested with exponential backoff. Any other
failure may have been billed. If such a failure would repeat, or has repeated, the circuit breaker opens: no
VM is requested and submissions fail immediately. After the operator resets it or a cool-down has passed, one
VM is tried.
"""

from __future__ import annotations

from dataclasses import asdict, field, replace
from typing import TYPE_CHECKING, Any

from warmfront.provisioning import FailureKind, ProvisioningProblem
from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping

    from warmfront.orchestrator.pooled_vm import BootFailure

#: After this many consecutive failures that might not repeat, the circuit breaker opens.
BOOT_TRIES = 3
#: Linear backoff after a failure to provision: this value times the number of consecutive failures.
_BOOT_BACKOFF_S = 2.0
#: Exponential backoff during a shortage.
_FIRST_SHORTAGE_BACKOFF_S = 5.0
_LONGEST_SHORTAGE_BACKOFF_S = 60.0
#: The cool-down of the circuit breaker after failures that were billed, and after others. It doubles each
#: time the circuit breaker opens again.
_COOL_DOWN_S = 600.0
_FREE_COOL_DOWN_S = 60.0
_LONGEST_COOL_DOWN_S = 3600.0
#: Failures before the cloud started anything.
_FREE = frozenset(
    {
        FailureKind.DENIED,
        FailureKind.NO_CREDITS,
        FailureKind.TOO_EXPENSIVE,
        FailureKind.NO_FLEET,
        FailureKind.NO_BACKEND,
    }
)


@dataclass(kw_only=True)
class Shortage:
    """A shortage during which submissions wait."""

    kind: FailureKind
    reason: str
    hint: str
    since: float  #: when the first VM that was not available was requested
    tries: int = 0
    retry_at: float = 0.0
    notified: set[str] = field(default_factory=set)  #: submissions that were notified
    notified_tries: int = 0  #: the number of tries at the last notification


@dataclass(kw_only=True)
class Breaker:
    """An open circuit breaker; after `retry_at` one VM may be tried."""

    kind: FailureKind
    reason: str
    hint: str
    since: float
    retry_at: float
    failures: int  #: consecutive VMs that failed


@dataclass(kw_only=True)
class ProvisioningState:
    """The recent provisioning failures of one GPU type."""

    gpu: str
    failures: int = 0  #: consecutive failures that are not shortages
    opened: int = 0  #: how often in a row the circuit breaker opened
    provision_after: float = 0.0
    prewarm_after: float = 0.0
    replace_after: float = 0.0  #: when a small VM may be released for a larger one
    shortage: Shortage | None = None
    breaker: Breaker | None = None
    short_of: set[int] = field(default_factory=set)  #: sizes of VMs that were not available
    denied: tuple[str, str] | None = None  #: reason and hint, since the cloud last refused the key

    @classmethod
    def restored(cls, gpu: str, record: Mapping[str, Any]) -> ProvisioningState:
        """Return the state from a `record` of an earlier process."""
        state = cls(gpu=gpu, failures=record.get("failures", 0), opened=record.get("opened", 0))
        if "breaker" in record:
            kind = FailureKind(record["breaker"]["kind"])
            state.breaker = Breaker(**{**record["breaker"], "kind": kind})
            state.provision_after = state.breaker.retry_at
            if kind is FailureKind.DENIED:
                state.denied = state.breaker.reason, state.breaker.hint
        return state

    def record(self) -> dict[str, Any]:
        """Return the failures that were paid for, to be kept across restarts; empty if there were none."""
        if not self.failures and self.breaker is None:
            return {}
        record: dict[str, Any] = {"failures": self.failures, "opened": self.opened}
        if self.breaker is not None:
            record["breaker"] = asdict(self.breaker)
        return record

    def is_open(self, now: float) -> bool:
        """Return whether the circuit breaker is open, so that no VM is requested and submissions fail."""
        return self.breaker is not None and now < self.breaker.retry_at

    @property
    def requests_one_at_a_time(self) -> bool:
        """Whether to wait for the result of one VM before another is requested."""
        return self.shortage is not None or self.breaker is not None

    @property
    def is_troubled(self) -> bool:
        """Whether the last VM failed."""
        return bool(self.failures or self.shortage or self.breaker)

    def record_failure(self, failure: BootFailure, now: float) -> None:
        """Back off, or open the circuit breaker."""
        failure = self._with_cause(failure)
        if failure.kind.is_shortage:
            self._record_shortage(failure, now)
            return
        self.shortage = None
        self.failures += 1
        self.provision_after = now + _BOOT_BACKOFF_S * self.failures
        if self.breaker is not None or failure.kind.repeats or self.failures >= BOOT_TRIES:
            self._open(failure, now)

    def record_start(self, requested_at: float) -> None:
        """Record that the cloud started a VM. A VM requested during the shortage ends it."""
        if self.shortage is not None and requested_at > self.shortage.since:
            self.end_shortage()
            self.provision_after = 0.0

    def record_success(self, requested_at: float) -> None:
        """Record that a VM works.

        If it was requested after the failure, forget all failures.
        """
        cause = self.breaker or self.shortage
        if cause is None or requested_at > cause.since:
            self.reset()

    def end_shortage(self) -> None:
        """Forget the shortage, because there is a VM or no submission waits for one."""
        self.shortage = None
        self.short_of.clear()

    def reset(self) -> None:
        """Forget all failures, so that the next VM may be requested immediately."""
        self.failures = self.opened = 0
        self.shortage = self.breaker = self.denied = None
        self.short_of.clear()
        self.provision_after = 0.0

    def problem(self, now: float) -> ProvisioningProblem | None:
        """Return why no VM is being provisioned; None if nothing prevents it."""
        cause = self.breaker or self.shortage
        if cause is None:
            return None
        return ProvisioningProblem(
            gpu=self.gpu,
            is_open=self.is_open(now),
            kind=cause.kind,
            reason=cause.reason,
            hint=cause.hint,
            since=cause.since,
            retry_at=cause.retry_at,
            failures=cause.failures if isinstance(cause, Breaker) else cause.tries,
        )

    def _with_cause(self, failure: BootFailure) -> BootFailure:
        """Return the failure; if it is a lack of offers that a denial explains, return the denial instead.

        A cloud that refuses the key has no offers. dstack caches offers for minutes, so VMs are denied at
        first, and later there are no offers. Waiting would not help.
        """
        if failure.kind is FailureKind.DENIED:
            self.denied = failure.reason, failure.hint
        elif failure.kind is FailureKind.NO_OFFERS and self.denied is not None:
            reason, hint = self.denied
            return replace(failure, kind=FailureKind.DENIED, reason=reason, hint=hint)
        return failure

    def _record_shortage(self, failure: BootFailure, now: float) -> None:
        shortage = self.shortage
        if shortage is None:
            shortage = self.shortage = Shortage(
                kind=failure.kind, reason=failure.reason, hint=failure.hint, since=failure.requested_at
            )
        shortage.kind, shortage.reason, shortage.hint = failure.kind, failure.reason, failure.hint
        self.short_of.add(failure.gpu_count)
        pause_s = min(_FIRST_SHORTAGE_BACKOFF_S * 2**shortage.tries, _LONGEST_SHORTAGE_BACKOFF_S)
        shortage.tries += 1
        shortage.retry_at = self.provision_after = now + pause_s

    def _open(self, failure: BootFailure, now: float) -> None:
        first_s = _FREE_COOL_DOWN_S if failure.kind in _FREE else _COOL_DOWN_S
        cool_down_s = min(first_s * 2**self.opened, _LONGEST_COOL_DOWN_S)
        self.opened += 1
        self.breaker = Breaker(
            kind=failure.kind,
            reason=failure.reason,
            hint=failure.hint,
            since=self.breaker.since if self.breaker is not None else now,
            retry_at=now + cool_down_s,
            failures=self.failures,
        )
        self.provision_after = self.breaker.retry_at
