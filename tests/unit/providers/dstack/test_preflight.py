"""The checks before the first VM: each failure is reported with a hint, and unknown facts are listed."""

from __future__ import annotations

import asyncio
import sys
from decimal import Decimal
from typing import TYPE_CHECKING

from warmfront import settings
from warmfront.errors import DstackUnreachable
from warmfront.providers.dstack.client import DstackClient
from warmfront.providers.dstack.preflight import run_preflight, what_is_unknown
from warmfront.providers.dstack.resources import FleetPlan, Offer

if TYPE_CHECKING:
    import pytest

OURS = settings.load({"WARMFRONT_PROVIDER": "dstack"}, env_file=None)


def test_every_failure_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without SSH, image and server all three are reported, each with a hint."""

    def unreachable(_: settings.Settings) -> DstackClient:
        raise DstackUnreachable("No dstack server responds.", hint="Start it.")

    monkeypatch.setitem(sys.modules, "asyncssh", None)
    monkeypatch.setattr(DstackClient, "open", unreachable)
    checks = {check.name: check for check in asyncio.run(run_preflight(OURS))}
    assert {name: check.works for name, check in checks.items()} == {
        "ssh": False,
        "image of VMs": False,
        "dstack server": False,
    }
    assert all(check.hint for check in checks.values())
    assert "asyncssh" in checks["ssh"].detail


def test_what_a_plan_cannot_show() -> None:
    """An offer without availability does not mean that a VM is available."""

    def plan(availability: str) -> FleetPlan:
        offer = Offer(
            backend="amddevcloud",
            region="atl1",
            instance_type="gpu-mi300x1-192gb",
            resources="1x MI300X",
            price_usd_per_h=Decimal("1.99"),
            availability=availability,
        )
        return FleetPlan(offers=(offer,), total_offers=1, max_price_usd_per_h=None, current=None, model=None)

    assert "whether a VM is free now" in what_is_unknown(OURS, plan("unknown"))[0]
    assert not any("free now" in line for line in what_is_unknown(OURS, plan("available")))
    assert any("key" in line for line in what_is_unknown(OURS, plan("available")))
