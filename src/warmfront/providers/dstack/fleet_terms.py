"""Messages and hints about a fleet, in terms of its own settings and commands."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, TypeVar

from warmfront.errors import WarmfrontError

if TYPE_CHECKING:
    from warmfront.settings import Settings

E = TypeVar("E", bound=WarmfrontError)

#: The settings and commands of the fleet of CPU nodes, by those of the other fleet.
_OF_CPU_FLEET = {
    "AMD_FLEET_MAX_NODES": "AMD_CPU_FLEET_MAX_NODES",
    "AMD_BACKEND": "AMD_CPU_BACKEND",
    "`warmfront fleet create`": "`warmfront fleet create --cpu`",
    "`warmfront fleet create --replace`": "`warmfront fleet create --cpu --replace`",
    "`warmfront fleet verify`": "`warmfront fleet verify --cpu`",
}


def in_terms_of(settings: Settings, error: E) -> E:
    """Return the error; if it is about the fleet of CPU nodes, with that fleet's settings and commands."""
    if not settings.is_of_cpu_fleet:
        return error
    changed = copy.copy(error)
    changed.message = _of_cpu_fleet(error.message, settings)
    changed.args = (changed.message,)
    changed.hint = _of_cpu_fleet(error.hint, settings) if error.hint else error.hint
    return changed


def _of_cpu_fleet(text: str, settings: Settings) -> str:
    for name, of_cpu_fleet in _OF_CPU_FLEET.items():
        text = text.replace(name, of_cpu_fleet)
    return text.replace("`warmfront fleet show`", f"`warmfront fleet show {settings.fleet_name}`")
