"""Errors about the fleet of CPU nodes name its settings and commands, not those of the other fleet."""

from __future__ import annotations

from dataclasses import replace

from warmfront import settings
from warmfront.errors import FleetDiffers
from warmfront.providers.dstack.fleet_terms import in_terms_of

OURS = replace(settings.load({}, env_file=None), provider="dstack", cpu_fleet_name="cpu-nodes")
ERROR = FleetDiffers(
    "The fleet has reached AMD_FLEET_MAX_NODES.",
    hint="Raise AMD_FLEET_MAX_NODES and run `warmfront fleet create`; `warmfront fleet show` lists the VMs.",
)


def test_settings_and_commands_of_cpu_nodes() -> None:
    """The class stays the same, and translating twice changes nothing."""
    once = in_terms_of(OURS.of_cpu_fleet(), ERROR)
    assert isinstance(once, FleetDiffers)
    assert (once.message, str(once)) == ("The fleet has reached AMD_CPU_FLEET_MAX_NODES.",) * 2
    assert once.hint == (
        "Raise AMD_CPU_FLEET_MAX_NODES and run `warmfront fleet create --cpu`; "
        "`warmfront fleet show cpu-nodes` lists the VMs."
    )
    twice = in_terms_of(OURS.of_cpu_fleet(), once)
    assert (twice.message, twice.hint) == (once.message, once.hint)


def test_the_other_fleet_keeps_its_own() -> None:
    """Nothing changes for VMs with a GPU."""
    assert in_terms_of(OURS, ERROR) is ERROR
