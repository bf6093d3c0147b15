"""Every error that Warmfront raises deliberately.

    WarmfrontError
    ├── UsageError                  the caller can fix it: exit code 2
    │   ├── BadSourceFile
    │   ├── UnknownProblem          HTTP 404
    │   ├── UnknownDtype
    │   ├── BadSetting
    │   ├── BadProblemFile
    │   ├── IsolationRequired
    │   ├── BadRequest              HTTP 422
    │   │   ├── InvalidCase         one of the author's own cases does not fit the problem
    │   │   └── InvalidLaunch       the launch of a scratch kernel does not fit the kernel or the limits
    │   ├── NoApiKey
    │   ├── NotAuthenticated        HTTP 401
    │   │   ├── SignInRequired      no session, or one that has ended, where people can sign in
    │   │   └── SignInFailed        the issuer's answer is not valid, or the sign-in was aborted
    │   ├── NotAllowed              HTTP 403
    │   │   ├── RoleRequired        the caller's role does not include the one that the action needs
    │   │   ├── SignInRejected      the person may not sign in
    │   │   │   ├── NotInvited
    │   │   │   └── InvitationRejected
    │   │   └── MadePrivate         a shared result that its owner has made private
    │   ├── NotFound                HTTP 404
    │   │   ├── SubmissionNotFound
    │   │   └── VMNotFound
    │   ├── ReceiptRefused          a receipt differs from what was signed, or contradicts itself
    │   │   └── UnknownSigningKey
    │   ├── Conflict                HTTP 409
    │   │   └── UserChanged         another user has signed in since the page was opened
    │   ├── RateLimitExceeded       HTTP 429
    │   ├── BudgetExceeded          HTTP 402
    │   ├── DstackMissing           dstack's client is not installed, or is too old
    │   ├── DstackDenied            the dstack server rejects the token or the project
    │   ├── DstackRefused           the dstack server rejects the request
    │   ├── FleetNotFound
    │   ├── FleetDiffers            the fleet exists with another configuration
    │   └── NotConfirmed            the action can cost money and was not confirmed
    └── InfrastructureError         the infrastructure failed: exit code 3
        ├── NoSandbox
        ├── NoToolchain
        ├── SandboxFailed
        ├── ToolchainFailed
        ├── GpuFailed               the GPU of a machine does not work: not the submission's fault
        ├── StoreUnavailable        HTTP 503
        │   └── StoreLocked         another service has locked the database
        ├── OnStandby               HTTP 503; another service is active
        ├── Superseded              HTTP 503; another service has taken over
        ├── ServerUnreachable
        ├── IssuerUnavailable       HTTP 503: the OpenID Connect issuer cannot be used
        ├── ProviderError
        ├── NoVM
        ├── VMUnreachable
        ├── VMUnhealthy             a VM differs from its lease, or its GPU does not work
        ├── SlotFailed              one slot of a VM ended in the middle of an attempt
        ├── UnknownAttempt
        ├── SimulationFailed        HTTP 503
        ├── IntakePaused            an operator has paused the intake: HTTP 503
        ├── DstackUnreachable
        ├── DstackFailed            the dstack server responded with a failure
        └── FleetFailed
            ├── NoBackend           the dstack project does not have the backend
            ├── NoOffers            no backend offers such a VM
            │   └── TooExpensive    one does, above the hourly rate
            ├── NoCapacity          the cloud offers the VM but has none available
            ├── NoQuota             the cloud account has reached its VM quota
            └── NoCredits           the cloud account has no credits left

An error states a fact: what failed, the field, the value, what is allowed. A class's docstring is the message
of an error raised without one. `code` is stable; programs may match on it.

Hints say what to do next, in one line, and belong to an audience:

- `hint` is for advice that helps everyone: a setting to change, a file to fix. It never names a `warmfront`
  command, a command-line option or an HTTP route, because the code that raises an error does not know its
  audience.
- The command line and the HTTP API each have a table from error class to hint, in `warmfront.cli.hints` and
  `warmfront.api.hints`; `hint_for` looks up an error in such a table. Code that belongs to one audience (a
  module of `cli/` or `api/`) may pass that audience's hint directly.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from warmfront.provisioning import FailureKind
    from warmfront.roles import Role


class WarmfrontError(Exception):
    """Warmfront failed."""

    code = "WARMFRONT_ERROR"

    def __init__(self, message: str | None = None, *, hint: str | None = None) -> None:
        self.message = message or inspect.cleandoc(type(self).__doc__ or "")
        self.hint = hint
        super().__init__(self.message)


def hint_for(error: WarmfrontError, hints: Mapping[type[WarmfrontError], str]) -> str:
    """Return an audience's hint: the table's entry for the nearest class, or the error's own hint."""
    return next((hints[kind] for kind in type(error).__mro__ if kind in hints), error.hint or "")


class UsageError(WarmfrontError):
    """The request is invalid."""

    code = "USAGE"


class BadSourceFile(UsageError):
    """The source file cannot be judged."""

    code = "BAD_SOURCE_FILE"


class UnknownProblem(UsageError):
    """The problem does not exist."""

    code = "UNKNOWN_PROBLEM"


class UnknownDtype(UsageError):
    """The problem does not support this dtype."""

    code = "UNKNOWN_DTYPE"


class BadSetting(UsageError):
    """A setting has a value that is not allowed."""

    code = "BAD_SETTING"


class BadProblemFile(UsageError):
    """A problem file does not define a valid problem."""

    code = "BAD_PROBLEM_FILE"


class IsolationRequired(UsageError):
    """Submitted code must run in a sandbox."""

    code = "ISOLATION_REQUIRED"


class BadRequest(UsageError):
    """A field of the request has a value that is not allowed."""

    code = "BAD_REQUEST"


class InvalidCase(BadRequest):
    """One of the author's own cases does not fit the problem."""

    def __init__(self, field: str, message: str, *, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.field = field  #: the field of the request, such as `own_cases[0].values.n`


class InvalidLaunch(BadRequest):
    """The launch of a scratch kernel does not fit the kernel or the limits."""

    def __init__(self, field: str, message: str, *, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.field = field  #: the field of the request, such as `launch.block`


class NoApiKey(UsageError):
    """The service has no API key, and other machines could reach it."""


class NotAuthenticated(UsageError):
    """An API key is required."""

    code = "NOT_AUTHENTICATED"


class SignInRequired(NotAuthenticated):
    """A sign-in or an API key is required."""


class SignInFailed(NotAuthenticated):
    """The sign-in failed."""

    code = "SIGN_IN_FAILED"


class NotAllowed(UsageError):
    """The caller may not do this."""

    code = "NOT_ALLOWED"


class RoleRequired(NotAllowed):
    """The action needs a role that the caller does not have."""

    def __init__(self, needed: Role, role: Role, action: str, *, hint: str = "") -> None:
        super().__init__(
            f"{action} requires the role {needed}; your role is {role}.",
            hint=hint or f"Ask an admin for the role {needed}.",
        )
        self.needed = needed  #: for the member `role_needed` of the response


class SignInRejected(NotAllowed):
    """The person may not sign in."""

    code = "SIGN_IN_REJECTED"


class NotInvited(SignInRejected):
    """The person has no account, and an invitation is required."""

    code = "NOT_INVITED"

    def __init__(self, person: str) -> None:
        super().__init__(
            f"There is no account for {person[:100]}, and this service requires an invitation.",
            hint="Ask an admin for an invitation link.",
        )


class InvitationRejected(SignInRejected):
    """The invitation cannot be used."""

    def __init__(self, reason: str) -> None:
        super().__init__(_INVITATION_MESSAGES[reason], hint="Ask the person who sent it for a new one.")
        self.code = f"INVITATION_{reason.upper()}"


_INVITATION_MESSAGES = {
    "unknown": "The invitation link is not valid: it is incomplete, or from another service.",
    "used": "The invitation has already been used. Each invitation works once.",
    "revoked": "The invitation was revoked.",
    "expired": "The invitation has expired.",
}


class MadePrivate(NotAllowed):
    """The owner has made it private."""

    code = "MADE_PRIVATE"


class NotFound(UsageError):
    """The requested object does not exist."""

    code = "NOT_FOUND"


class SubmissionNotFound(NotFound):
    """The submission does not exist, or belongs to another user."""

    def __init__(self, submission_id: str) -> None:
        super().__init__(f"There is no submission {submission_id[:64]!r}.")


class VMNotFound(NotFound):
    """The VM does not exist."""

    def __init__(self, vm_id: str) -> None:
        super().__init__(f"There is no VM {vm_id[:64]!r}.")


class ReceiptRefused(UsageError):
    """The receipt is not valid."""

    code = "RECEIPT_REFUSED"


class UnknownSigningKey(ReceiptRefused):
    """The receipt is signed with an unknown key."""

    code = "UNKNOWN_SIGNING_KEY"


class Conflict(UsageError):
    """The action is not possible in the current state."""

    code = "CONFLICT"


class UserChanged(Conflict):
    """Another user has signed in."""

    code = "USER_CHANGED"


class RateLimitExceeded(UsageError):
    """Rate limit exceeded."""

    code = "RATE_LIMIT_EXCEEDED"


class BudgetExceeded(UsageError):
    """The remaining credits do not cover the VM's worst-case cost."""

    code = "BUDGET_EXCEEDED"


class DstackMissing(UsageError):
    """dstack's client is not installed."""

    code = "DSTACK_MISSING"


class DstackDenied(UsageError):
    """The dstack server rejected the token for this project."""

    code = "DSTACK_DENIED"


class DstackRefused(UsageError):
    """The dstack server rejected the request."""

    code = "DSTACK_REFUSED"


class FleetNotFound(UsageError):
    """The dstack project has no fleet with this name."""

    code = "FLEET_NOT_FOUND"


class FleetDiffers(UsageError):
    """The fleet's configuration differs from the requested one."""

    code = "FLEET_DIFFERS"


class NotConfirmed(UsageError):
    """This action can cost money and was not confirmed."""

    code = "NOT_CONFIRMED"


class InfrastructureError(WarmfrontError):
    """The infrastructure failed; the kernel is not the cause."""

    code = "INFRASTRUCTURE"


class NoSandbox(InfrastructureError):
    """No sandbox works on this machine, so submitted code cannot run."""

    code = "NO_SANDBOX"


class NoToolchain(InfrastructureError):
    """No compiler for this toolchain was found on this machine."""

    code = "NO_TOOLCHAIN"


class SandboxFailed(InfrastructureError):
    """The sandbox failed."""

    code = "SANDBOX_FAILED"


class ToolchainFailed(InfrastructureError):
    """The toolchain could not build its runtime."""

    code = "TOOLCHAIN_FAILED"


class GpuFailed(InfrastructureError):
    """The GPU of this machine does not work."""

    code = "GPU_FAILED"


class StoreUnavailable(InfrastructureError):
    """The database is unavailable."""

    code = "STORE_UNAVAILABLE"


class StoreLocked(StoreUnavailable):
    """Another service has locked the database."""


class OnStandby(InfrastructureError):
    """This service is on standby: it can be read from, but another service accepts requests for changes."""

    code = "ON_STANDBY"


class Superseded(InfrastructureError):
    """Another service has taken over; this one no longer decides or writes."""

    code = "SUPERSEDED"


class ServerUnreachable(InfrastructureError):
    """No Warmfront service responds at this address."""

    code = "SERVER_UNREACHABLE"


class IssuerUnavailable(InfrastructureError):
    """The identity provider cannot be reached, or does not respond as an OpenID Connect issuer."""

    code = "ISSUER_UNAVAILABLE"


class ProviderError(InfrastructureError):
    """The provider failed."""

    code = "PROVIDER_ERROR"

    def __init__(
        self, message: str | None = None, *, hint: str | None = None, kind: FailureKind | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.kind = kind  #: why a VM could not be provisioned, if known


class NoVM(InfrastructureError):
    """The provider could not provide a VM."""

    code = "NO_VM"


class VMUnreachable(InfrastructureError):
    """The VM's listener does not respond."""

    code = "VM_UNREACHABLE"


class VMUnhealthy(InfrastructureError):
    """The VM differs from its lease, or its GPU does not work."""

    code = "VM_UNHEALTHY"


class SlotFailed(InfrastructureError):
    """The process of one slot of a VM ended; the VM restarts it."""

    code = "SLOT_FAILED"


class SimulationFailed(InfrastructureError):
    """The simulation failed."""

    code = "SIMULATION_FAILED"


class IntakePaused(InfrastructureError):
    """The service does not accept submissions at the moment."""

    code = "INTAKE_PAUSED"


class UnknownAttempt(InfrastructureError):
    """The listener has no attempt with this id."""

    code = "UNKNOWN_ATTEMPT"


class DstackUnreachable(InfrastructureError):
    """No dstack server responds at this address."""

    code = "DSTACK_UNREACHABLE"


class DstackFailed(InfrastructureError):
    """The dstack server failed."""

    code = "DSTACK_FAILED"


class FleetFailed(InfrastructureError):
    """The fleet cannot provide a VM."""

    code = "FLEET_FAILED"


class NoBackend(FleetFailed):
    """The dstack project does not have this backend."""

    code = "NO_BACKEND"


class NoOffers(FleetFailed):
    """No backend offers a VM that meets the requirements."""

    code = "NO_OFFERS"


class TooExpensive(NoOffers):
    """Such a VM is offered, but costs more than the hourly rate."""

    code = "TOO_EXPENSIVE"


class NoCapacity(FleetFailed):
    """The cloud has no such VM available."""

    code = "NO_CAPACITY"


class NoQuota(FleetFailed):
    """The cloud account has reached its VM quota."""

    code = "NO_QUOTA"


class NoCredits(FleetFailed):
    """The cloud account has no credits left."""

    code = "NO_CREDITS"
