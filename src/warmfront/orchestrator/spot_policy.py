"""Decide whether a new VM is a spot VM: weigh its price against the risk of losing the work on it.

A spot VM is cheaper, but the cloud may preempt it at any time. Interruptions are modeled as a Poisson
process, whose rate is learned from our own spot VMs. A submission is interrupted at most once: it is then
retried on demand. docs/costs.md derives the formula. Decisions are made in memory without waiting.
"""

from __future__ import annotations

import math
from dataclasses import field
from typing import TYPE_CHECKING

from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from warmfront.settings import Settings

_S_PER_H = 3600.0
#: The configured rate counts as much as this many hours of our own spot VMs.
_PRIOR_H = 24.0
#: After a spot VM failed to provision, `auto` requests on-demand VMs for this long.
_AVOID_S = 600.0


@dataclass(frozen=True, kw_only=True)
class SpotTerms:
    """The savings and risks of a spot VM."""

    rate_usd_per_h: float  #: the rate of an on-demand VM
    spot_rate_usd_per_h: float
    interruptions_per_h: float
    wait_usd_per_h: float  #: the cost of an hour of an author's waiting

    def on_demand_usd(self, busy_s: float) -> float:
        """Return the cost of an on-demand VM that boots and works for `busy_s`."""
        return self.rate_usd_per_h * busy_s / _S_PER_H

    def spot_usd(self, busy_s: float) -> float:
        """Return the expected cost of the same work if it begins on a spot VM.

        An interruption loses all work up to then, which is repeated on demand.
        """
        busy_h = busy_s / _S_PER_H
        if not self.interruptions_per_h:
            return self.spot_rate_usd_per_h * busy_h
        survives = math.exp(-self.interruptions_per_h * busy_h)
        # The expected time until the work is done or interrupted.
        spot_h = (1 - survives) / self.interruptions_per_h
        lost_h = spot_h - busy_h * survives
        repeated_usd = (1 - survives) * self.on_demand_usd(busy_s)
        return self.spot_rate_usd_per_h * spot_h + repeated_usd + self.wait_usd_per_h * lost_h

    def favor_spot(self, busy_s: float) -> bool:
        """Return whether the spot VM is cheaper in expectation."""
        return self.spot_usd(busy_s) < self.on_demand_usd(busy_s)


@dataclass(kw_only=True)
class InterruptionRate:
    """The interruptions per hour of a spot VM: the configured rate, corrected by observations.

    This is the mean of a gamma distribution. Its prior is the configured rate, with the weight of a day of
    observations.
    """

    configured_per_h: float
    observed_h: float = 0.0
    interruptions: int = 0

    @property
    def per_h(self) -> float:
        """The current estimate."""
        prior = self.configured_per_h * _PRIOR_H
        return (prior + self.interruptions) / (_PRIOR_H + self.observed_h)

    def observe(self, lived_s: float, *, interrupted: bool) -> None:
        """Add a spot VM that has ended."""
        self.observed_h += max(0.0, lived_s) / _S_PER_H
        self.interruptions += interrupted


@dataclass(kw_only=True)
class SpotPolicy:
    """The policy in AMD_SPOT_POLICY: always `spot`, always `on-demand`, or the cheaper one (`auto`)."""

    policy: str
    wait_usd_per_h: float
    rate: InterruptionRate
    _avoid_until: dict[str, float] = field(default_factory=dict)  #: by GPU type

    @classmethod
    def of(cls, settings: Settings) -> SpotPolicy:
        """Return the policy for these settings."""
        return cls(
            policy=settings.spot_policy,
            wait_usd_per_h=settings.wait_value_usd_per_h,
            rate=InterruptionRate(configured_per_h=settings.spot_interruptions_per_h),
        )

    def chooses_spot(
        self,
        gpu: str,
        *,
        rate_usd_per_h: float,
        spot_rate_usd_per_h: float,
        busy_s: float,
        now: float,
    ) -> bool:
        """Return whether a new VM that boots and works for `busy_s` should be a spot VM."""
        if self.policy != "auto":
            return self.policy == "spot"
        if spot_rate_usd_per_h >= rate_usd_per_h or self.is_avoided(gpu, now):
            return False
        terms = SpotTerms(
            rate_usd_per_h=rate_usd_per_h,
            spot_rate_usd_per_h=spot_rate_usd_per_h,
            interruptions_per_h=self.rate.per_h,
            wait_usd_per_h=self.wait_usd_per_h,
        )
        return terms.favor_spot(busy_s)

    def is_avoided(self, gpu: str, now: float) -> bool:
        """Return whether VMs with this GPU type are requested on demand after a spot VM failed to boot."""
        return self.policy == "auto" and now < self._avoid_until.get(gpu, 0.0)

    def record_boot_failure(self, gpu: str, now: float) -> None:
        """Request on-demand VMs for a while, because the cloud has no spot VM."""
        self._avoid_until[gpu] = now + _AVOID_S
