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
    │   └── BudgetExceeded          HTTP 402
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
        └── UnknownAttempt

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


class UnknownAttempt(InfrastructureError):
    """The listener has no attempt of that id."""

    code = "UNKNOWN_ATTEMPT"
