"""The tenancies of an instance divide its bill."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

from warmfront.providers.dstack.assignment_events import InstanceAssignment
from warmfront.providers.dstack.resources import DstackInstance
from warmfront.providers.dstack.tenancy import divide

INSTANCE = DstackInstance(
    id="i",
    name="fleet-0",
    num=0,
    fleet="fleet",
    status="terminated",
    is_unreachable=False,
    hostname="127.0.0.2",
    backend="amddevcloud",
    region=None,
    price_usd_per_h=Decimal("1.99"),
    created_at=100.0,
    finished_at=500.0,
    termination_reason=None,
    termination_message=None,
)


def test_tenancies_divide_the_bill_of_an_instance() -> None:
    """The first tenancy starts and the last one ends with the instance; the others follow without a gap."""
    assignments = [
        InstanceAssignment(at=at, run=run, instance_id="i")
        for at, run in [(101.0, "a"), (180.0, "a"), (200.0, "b"), (290.0, "b"), (300.0, "c")]
    ]
    tenancies = [divide(INSTANCE, run, assignments) for run in ("a", "b", "c")]
    intervals = [(tenancy.started_at, tenancy.ended_at) for tenancy in tenancies]
    assert intervals == [(100.0, 200.0), (200.0, 300.0), (300.0, 500.0)]


def test_pending_instance_is_not_billed() -> None:
    """An instance without a VM has no billed interval."""
    pending = replace(INSTANCE, status="pending", price_usd_per_h=None, finished_at=None)
    tenancy = divide(pending, "a", [])
    assert (tenancy.started_at, tenancy.ended_at) == (None, None)
