"""The health report of a GPU: a list of checks, each with its result and a remedy.

`hip/gpu_host.py` checks the machine; `listener/gpu_checks.py` adds checks that use the GPU as a
submission does. The JSON of a report is kept with the VM's record.
"""

from __future__ import annotations

from typing import Any

from warmfront.value_class import dataclass


@dataclass(frozen=True, kw_only=True)
class HealthCheck:
    """The result of one check."""

    name: str  #: such as `/dev/kfd`
    ok: bool
    detail: str  #: what was found
    remedy: str = ""  #: what to do if the check failed
    required: bool = True  #: whether a machine that fails the check must not judge; otherwise it is advisory

    def to_json(self) -> dict[str, Any]:
        """Return the check as JSON types."""
        return {
            "name": self.name,
            "ok": self.ok,
            "detail": self.detail,
            "remedy": self.remedy,
            "required": self.required,
        }


@dataclass(frozen=True, kw_only=True)
class GpuHealth:
    """The results of the checks of a GPU.

    Example:
        >>> health = check_gpu(toolchain, sandbox, settings)
        >>> if not health.ok:
        ...     log.error("the GPU is not healthy: %s", health.summary())
    """

    checks: tuple[HealthCheck, ...]
    stage: str  #: `host`, `quick` (before a listener is ready) or `full` (`warmfront doctor --gpu --full`)
    duration_s: float = 0.0

    @property
    def ok(self) -> bool:
        """Whether every required check passed."""
        return not self.failures

    @property
    def failures(self) -> tuple[HealthCheck, ...]:
        """The required checks that failed."""
        return tuple(check for check in self.checks if check.required and not check.ok)

    def summary(self) -> str:
        """Return one line for a log, an event or a VM's record."""
        if self.ok:
            return f"{len(self.checks)} checks passed"
        return "; ".join(f"{check.name}: {check.detail}" for check in self.failures)

    def to_json(self) -> dict[str, Any]:
        """Return the report as JSON types."""
        return {
            "ok": self.ok,
            "stage": self.stage,
            "summary": self.summary(),
            "duration_s": round(self.duration_s, 3),
            "checks": [check.to_json() for check in self.checks],
        }
