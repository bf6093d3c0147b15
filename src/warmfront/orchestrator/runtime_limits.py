"""The limits that operators change while the service runs: idle time, policy, VMs, credits and budgets.

A change is checked and reserved in memory, stored with its entry of the audit log, and then applied. It
overrides the environment until it is reset, even across restarts.
"""

from __future__ import annotations

import logging
from decimal import Decimal
from typing import TYPE_CHECKING

from warmfront.audit_chain import AuditAction
from warmfront.errors import BadSetting, WarmfrontError
from warmfront.runtime_settings import RUNTIME_FIELDS, text_of, variable_of, with_texts
from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from warmfront.audit_chain import Actor
    from warmfront.clock import Clock
    from warmfront.orchestrator.budget import Budget
    from warmfront.orchestrator.vm_pool import VMPool
    from warmfront.settings import Settings
    from warmfront.store.store import Store

log = logging.getLogger(__name__)

_HOUR_S = Decimal(3600)


@dataclass(frozen=True, kw_only=True)
class LimitEffect:
    """The effect of changing one limit, for the confirmation."""

    name: str  #: the field of `Settings`
    text: str
    saves_usd: Decimal = Decimal(0)
    costs_usd: Decimal = Decimal(0)


class RuntimeLimits:
    """The current settings, and how operators change them."""

    def __init__(
        self,
        *,
        settings: Settings,
        pool: VMPool,
        budget: Budget,
        store: Store,
        clock: Clock,
        apply: Callable[[Settings], Awaitable[None]],
    ) -> None:
        self._pool = pool
        self._budget = budget
        self._store = store
        self._clock = clock
        self._apply = apply
        self._texts: dict[str, str] = {}  # the changed fields
        self.configured = settings  #: from the environment
        self.current = settings

    @property
    def changed(self) -> frozenset[str]:
        """The fields whose value was set at run time."""
        return frozenset(self._texts)

    def restore(self, texts: Mapping[str, str]) -> Settings:
        """Return the settings with the changes that were stored before a restart."""
        for name, text in texts.items():
            try:
                self.current = (
                    with_texts(self.current, {name: text}) if name in RUNTIME_FIELDS else self.current
                )
            except BadSetting as error:
                log.warning("%s The value that was set at run time is ignored.", error.message)
            else:
                self._texts[name] = text
        return self.current

    def preview(self, changes: Mapping[str, str | None]) -> list[LimitEffect]:
        """Return the effects of changes; None stands for the configured value.

        Raises:
            BadSetting: a value is not allowed.
        """
        after = self._with(changes)
        return [self._effect(name, after) for name in changes]

    async def change(self, changes: Mapping[str, str | None], reason: str, by: Actor) -> None:
        """Change limits by field; None resets one to the configured value.

        Raises:
            BadSetting: a value is not allowed.
            Conflict: the credits would be less than the spent and reserved amounts, or not cover the VMs.
        """
        try:
            after = self._with(changes)
            self._budget.reserve_for(after, self._pool.instances())
        except WarmfrontError as error:
            refused = by.refused(AuditAction.LIMITS_CHANGE, ", ".join(changes), error.message)
            await self._store.append_audit(refused, self._clock.now())
            raise
        record = by.record(
            AuditAction.LIMITS_CHANGE,
            ", ".join(changes),
            before={name: text_of(self.current, name) for name in changes},
            after={name: text_of(after, name) for name in changes},
            detail=reason,
        )
        await self._pool.save_reservations()
        await self._store.save_limits(changes, record, self._clock.now())
        for name, text in changes.items():
            if text is None:
                self._texts.pop(name, None)
            else:
                self._texts[name] = text
        self.current = after
        await self._apply(after)

    def _with(self, changes: Mapping[str, str | None]) -> Settings:
        texts = {
            name: text_of(self.configured, name) if text is None else text for name, text in changes.items()
        }
        return with_texts(self.current, texts)

    def _effect(self, name: str, after: Settings) -> LimitEffect:
        """Return the effect of the new value of one field."""
        old, new = text_of(self.current, name), text_of(after, name)
        if old == new:
            return LimitEffect(name=name, text=f"{variable_of(name)} is already {new}.")
        change = f"{variable_of(name)} changes from {old} to {new}."
        effects = {
            "max_vms": self._max_vms_effect,
            "credits_usd": self._credits_effect,
        }
        if name in effects:
            return effects[name](change, after)
        if name in _IDLE_TIMES:
            return self._idle_effect(name, change, after)
        if name in _DAILY_BUDGETS:
            return self._daily_budget_effect(name, change, after)
        return LimitEffect(name=name, text=f"{change} {_OTHER_EFFECTS[name]}")

    def _idle_effect(self, name: str, change: str, after: Settings) -> LimitEffect:
        added_s = Decimal(getattr(after, name)) - Decimal(getattr(self.current, name))
        rate_usd_per_h = self._rate_usd_per_h()
        amount_usd = round(abs(added_s) / _HOUR_S * rate_usd_per_h, 6)
        more = added_s > 0
        text = (
            f"{change} {_IDLE_TIMES[name]} keeping it costs up to ${amount_usd:.4f} "
            f"{'more' if more else 'less'} (${rate_usd_per_h:.2f} per hour)."
        )
        return LimitEffect(
            name=name,
            text=text,
            costs_usd=amount_usd if more else Decimal(0),
            saves_usd=Decimal(0) if more else amount_usd,
        )

    def _max_vms_effect(self, change: str, after: Settings) -> LimitEffect:
        live, rate_usd_per_h = len(self._pool), self._rate_usd_per_h()
        added = after.max_vms - self.current.max_vms
        if added > 0:
            text = f"{change} More VMs can cost up to ${added * rate_usd_per_h:.2f} per hour more."
            return LimitEffect(name="max_vms", text=text, costs_usd=added * rate_usd_per_h)
        text = f"{change} This saves up to ${-added * rate_usd_per_h:.2f} per hour."
        if live > after.max_vms:
            text += (
                f" {live} VMs are live. This ends none of them; no VM is provisioned until fewer are live."
            )
        return LimitEffect(name="max_vms", text=text, saves_usd=-added * rate_usd_per_h)

    def _credits_effect(self, change: str, after: Settings) -> LimitEffect:
        added_usd = after.credits_usd - self.current.credits_usd
        if added_usd > 0:
            text = f"{change} The service may spend ${added_usd:,.2f} more."
            return LimitEffect(name="credits_usd", text=text, costs_usd=added_usd)
        text = f"{change} The service may spend ${-added_usd:,.2f} less."
        return LimitEffect(name="credits_usd", text=text, saves_usd=-added_usd)

    def _daily_budget_effect(self, name: str, change: str, after: Settings) -> LimitEffect:
        old_usd, new_usd = getattr(self.current, name), getattr(after, name)
        who = _DAILY_BUDGETS[name]
        if old_usd is None or new_usd is None:
            allowed = "any amount" if new_usd is None else f"at most ${new_usd:,.2f}"
            before = "any amount" if old_usd is None else f"at most ${old_usd:,.2f}"
            text = f"{change} {who} may spend {allowed} per day (UTC); previously {before}."
            return LimitEffect(name=name, text=text)
        added_usd = new_usd - old_usd
        direction = "more" if added_usd > 0 else "less"
        text = f"{change} {who} may spend ${abs(added_usd):,.2f} {direction} per day (UTC)."
        return LimitEffect(
            name=name, text=text, costs_usd=max(added_usd, Decimal(0)), saves_usd=max(-added_usd, Decimal(0))
        )

    def _rate_usd_per_h(self) -> Decimal:
        return self._budget.billing(self.current.default_gpu, 1).rate_usd_per_h


#: The idle times, and when each applies.
_IDLE_TIMES = {
    "idle_timeout_s": "Each time a VM becomes idle,",
    "idle_timeout_max_s": "Each time the keep-warm policy would keep an idle VM for that long,",
}
#: The daily budgets, and the users that each limits.
_DAILY_BUDGETS = {
    "daily_budget_usd": "Each user",
    "team_daily_budget_usd": "Each team without a budget of its own",
    "total_daily_budget_usd": "All users together",
}
#: The effects of changing limits that have no amount.
_OTHER_EFFECTS = {
    "keep_warm": "Idle VMs get a new deadline now. What-if compares the costs of both policies this month.",
    "wait_value_usd_per_h": "The adaptive policy keeps VMs longer if an author's waiting is worth more.",
    "alert_threshold": "The budget alert is sent when this share of the credits is spent.",
    "alert_burn_usd_per_h": "An alert is sent when the live VMs together cost this much per hour.",
    "alert_queue_wait_s": "An alert is sent when a submission has waited this long.",
}
