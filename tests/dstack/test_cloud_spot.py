"""Spot VMs of the fake cloud behind a real dstack server: offers, prices, regions and interruptions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.dstack.harness import finished, job, open_stack, running
from tests.support.fake_cloud import Switches, amd_developer_cloud

if TYPE_CHECKING:
    from pathlib import Path

#: The real dstack server is slow.
pytestmark = pytest.mark.slow


def test_spot_offers_and_interruption(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run's `spot_policy` chooses the offer and its price; the job of a reclaimed VM is interrupted."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    with open_stack(tmp_path, switches=Switches(spot_price=0.80)) as stack:
        plans = {
            policy: {
                (offer.instance.name, offer.price)
                for offer in stack.plan_fleet("offers", spot_policy=policy).offers
            }
            for policy in ("spot", "on-demand")
        }
        assert plans["spot"] == {(amd_developer_cloud.SPOT_SLUG, 0.80)}
        assert plans["on-demand"] == {("gpu-mi300x1-192gb", 1.99)}
        stack.apply_fleet("both", nodes="0..2", spot_policy="auto")
        run = running(stack.submit("spot", "both", "sleep 600", spot_policy="spot"))
        [billed] = stack.billed("spot")
        assert (billed.price, billed.spot) == (0.80, True)
        stack.cloud.interrupt(billed.id)
        assert finished(run).status.value == "failed"
        assert job(run).termination_reason == "interrupted_by_no_capacity"
        assert stack.cloud.billed(billed.id).ended_at is not None
        stack.remove_fleet("both")
