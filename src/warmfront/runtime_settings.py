"""The settings that an operator can change while the service runs, as text."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from warmfront.setting_variables import VARIABLES
from warmfront.settings import with_options

if TYPE_CHECKING:
    from collections.abc import Mapping

    from warmfront.settings import Settings

#: The fields that an operator can change while the service runs; the others need a restart.
RUNTIME_FIELDS = (
    "idle_timeout_s",
    "idle_timeout_max_s",
    "keep_warm",
    "wait_value_usd_per_h",
    "max_vms",
    "credits_usd",
    "alert_threshold",
    "alert_burn_usd_per_h",
    "alert_queue_wait_s",
    "daily_budget_usd",
    "team_daily_budget_usd",
    "total_daily_budget_usd",
)
#: The text of a field that has no value, for the run-time fields that may have none.
NO_VALUE = "none"
_OPTIONAL = frozenset(
    {"alert_burn_usd_per_h", "daily_budget_usd", "team_daily_budget_usd", "total_daily_budget_usd"}
)


def variable_of(name: str) -> str:
    """Return the variable of a field."""
    return VARIABLES[name][0]


def allowed_values(name: str) -> str:
    """Describe the values that a run-time field may have."""
    return f"{VARIABLES[name][2]}, or {NO_VALUE}" if name in _OPTIONAL else VARIABLES[name][2]


def text_of(settings: Settings, name: str) -> str:
    """Return the value of a run-time field as text, which `with_texts` parses."""
    value = getattr(settings, name)
    if value is None:
        return NO_VALUE
    return f"{value:g}" if isinstance(value, float) else str(value)


def with_texts(settings: Settings, texts: Mapping[str, str]) -> Settings:
    """Return the settings with other values of run-time fields, given as text.

    Raises:
        BadSetting: A value is not allowed; the message names the variable.
    """
    unset = {name: None for name, text in texts.items() if name in _OPTIONAL and text.strip() == NO_VALUE}
    given = {name: text for name, text in texts.items() if name not in unset}
    options = {name: (variable_of(name), text) for name, text in given.items()}
    return replace(with_options(settings, options), **unset)  # type: ignore[arg-type]  # optional fields
