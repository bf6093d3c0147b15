"""Every error that Warmfront raises on purpose.

    WarmfrontError
    ├── UsageError                  the person at the keyboard can fix it: exit code 2
    │   ├── BadSourceFile
    │   ├── UnknownProblem
    │   ├── UnknownDtype
    │   ├── BadSetting
    │   ├── BadProblemFile
    │   ├── IsolationRequired
    │   ├── BadRequest              HTTP 422
    │   ├── NotAuthenticated        HTTP 401
    │   ├── NotAllowed              HTTP 403
    │   ├── NotFound                HTTP 404
    │   ├── Conflict                HTTP 409
    │   ├── RateLimitExceeded       HTTP 429
    │   ├── BudgetExceeded          HTTP 402
    │   ├── DstackMissing           the extra is not installed, or too old
    │   ├── DstackDenied            the token or the project is not right
    │   ├── DstackRefused           the server does not take what was asked
    │   ├── FleetNotFound
    │   ├── FleetDiffers            it exists, and is not what was asked for
    │   └── NotConfirmed            it can cost money, and nobody said yes
    └── InfrastructureError         the machine cannot do it, or broke: exit code 3
        ├── NoSandbox
        ├── NoToolchain
        ├── SandboxFailed
        ├── ToolchainFailed
        ├── StoreUnavailable        HTTP 503
        ├── ServerUnreachable
        ├── ProviderError
        ├── NoVM
        ├── VMUnreachable
        ├── UnknownAttempt
        ├── SimulationFailed        HTTP 503
        ├── DstackUnreachable
        ├── DstackFailed            it answered, and could not
        └── FleetFailed
            ├── NoBackend           the dstack project has no such backend
            ├── NoOffers            no backend sells what was asked for
            ├── NoCapacity          it is sold, and there is none now
            ├── NoQuota             the account may not have more
            └── NoCredits           the account has no money left

A class's docstring is its message when it is raised without one. `code` is stable: programs may
match on it. `hint` is the next step, in one line.
"""

from __future__ import annotations

import inspect


class WarmfrontError(Exception):
    """Something went wrong in Warmfront."""

    code = "WARMFRONT_ERROR"

    def __init__(self, message: str | None = None, *, hint: str | None = None) -> None:
        self.message = message or inspect.cleandoc(type(self).__doc__ or "")
        self.hint = hint
        super().__init__(self.message)


class UsageError(WarmfrontError):
    """What was asked for does not make sense."""

    code = "USAGE"


class BadSourceFile(UsageError):
    """The source file cannot be judged."""

    code = "BAD_SOURCE_FILE"


class UnknownProblem(UsageError):
    """There is no problem of that name."""

    code = "UNKNOWN_PROBLEM"


class UnknownDtype(UsageError):
    """The problem is not defined for that dtype."""

    code = "UNKNOWN_DTYPE"


class BadSetting(UsageError):
    """A setting has a value that is not allowed."""

    code = "BAD_SETTING"


class BadProblemFile(UsageError):
    """A problem file does not define a usable problem."""

    code = "BAD_PROBLEM_FILE"


class IsolationRequired(UsageError):
    """Code runs outside a sandbox only for its own author, with --trust."""

    code = "ISOLATION_REQUIRED"


class BadRequest(UsageError):
    """A field of the request has a value that is not allowed."""

    code = "BAD_REQUEST"


class NotAuthenticated(UsageError):
    """This needs an API key."""

    code = "NOT_AUTHENTICATED"


class NotAllowed(UsageError):
    """This key may not do that."""

    code = "NOT_ALLOWED"


class NotFound(UsageError):
    """There is nothing of that name."""

    code = "NOT_FOUND"


class Conflict(UsageError):
    """That cannot be done in the present state."""

    code = "CONFLICT"


class RateLimitExceeded(UsageError):
    """Too many requests; this one was not taken."""

    code = "RATE_LIMIT_EXCEEDED"


class BudgetExceeded(UsageError):
    """The credits left do not cover this VM's worst case."""

    code = "BUDGET_EXCEEDED"


class DstackMissing(UsageError):
    """dstack's client is not installed."""

    code = "DSTACK_MISSING"


class DstackDenied(UsageError):
    """The dstack server does not take this token for this project."""

    code = "DSTACK_DENIED"


class DstackRefused(UsageError):
    """The dstack server does not take what was asked."""

    code = "DSTACK_REFUSED"


class FleetNotFound(UsageError):
    """The dstack project has no fleet of that name."""

    code = "FLEET_NOT_FOUND"


class FleetDiffers(UsageError):
    """The fleet is not what was asked for."""

    code = "FLEET_DIFFERS"


class NotConfirmed(UsageError):
    """This can cost money, and nobody has confirmed it."""

    code = "NOT_CONFIRMED"


class InfrastructureError(WarmfrontError):
    """The machine could not do its part; the kernel is not to blame."""

    code = "INFRASTRUCTURE"


class NoSandbox(InfrastructureError):
    """No sandbox works on this machine, so untrusted code is not run."""

    code = "NO_SANDBOX"


class NoToolchain(InfrastructureError):
    """No compiler for this toolchain was found on this machine."""

    code = "NO_TOOLCHAIN"


class SandboxFailed(InfrastructureError):
    """The sandbox could not be started, or broke."""

    code = "SANDBOX_FAILED"


class ToolchainFailed(InfrastructureError):
    """The toolchain could not build its own parts."""

    code = "TOOLCHAIN_FAILED"


class StoreUnavailable(InfrastructureError):
    """The database cannot be reached or written."""

    code = "STORE_UNAVAILABLE"


class ServerUnreachable(InfrastructureError):
    """No Warmfront service answers at this address."""

    code = "SERVER_UNREACHABLE"


class ProviderError(InfrastructureError):
    """The provider could not do what it was asked."""

    code = "PROVIDER_ERROR"


class NoVM(InfrastructureError):
    """The provider gives no VM."""

    code = "NO_VM"


class VMUnreachable(InfrastructureError):
    """The VM's listener does not answer."""

    code = "VM_UNREACHABLE"


class SimulationFailed(InfrastructureError):
    """The simulation did not come to its end."""

    code = "SIMULATION_FAILED"


class UnknownAttempt(InfrastructureError):
    """The listener has no attempt of that id."""

    code = "UNKNOWN_ATTEMPT"


class DstackUnreachable(InfrastructureError):
    """No dstack server answers at this address."""

    code = "DSTACK_UNREACHABLE"


class DstackFailed(InfrastructureError):
    """The dstack server could not do what it was asked."""

    code = "DSTACK_FAILED"


class FleetFailed(InfrastructureError):
    """The fleet cannot give a VM."""

    code = "FLEET_FAILED"


class NoBackend(FleetFailed):
    """The dstack project has no such backend."""

    code = "NO_BACKEND"


class NoOffers(FleetFailed):
    """No backend sells what was asked for."""

    code = "NO_OFFERS"


class NoCapacity(FleetFailed):
    """The cloud has none of these VMs now."""

    code = "NO_CAPACITY"


class NoQuota(FleetFailed):
    """The cloud account may not have one more VM."""

    code = "NO_QUOTA"


class NoCredits(FleetFailed):
    """The cloud account has no money left."""

    code = "NO_CREDITS"
