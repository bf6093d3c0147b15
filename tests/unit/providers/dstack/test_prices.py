"""The price of a VM is that of its instance in dstack."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from tests.unit.providers.dstack.test_tenancy import INSTANCE
from warmfront.money.billing import Billing
from warmfront.providers.dstack.prices import VMPrices
from warmfront.providers.dstack.tenancy import divide
from warmfront.settings import Settings

if TYPE_CHECKING:
    from warmfront.providers.dstack.tenancy import Tenancy

BOTH = Settings(backend="amddevcloud,hotaisle", minimum_reservation_s=14400)


def _tenancy(**changes: object) -> Tenancy:
    return divide(replace(INSTANCE, **changes), "a", [])  # type: ignore[arg-type]  # by name


def test_the_price_is_that_of_the_instance() -> None:
    """It is rounded to billionths, which is the precision of the ledger."""
    prices = VMPrices(lambda _: Settings())
    tenancy = _tenancy(price_usd_per_h=Decimal("1.49000000000001"))
    assert prices.billing(tenancy, "MI300X") == Billing(rate_usd_per_h=Decimal("1.49"))


@pytest.mark.parametrize(
    "tenancy", [None, _tenancy(price_usd_per_h=None), _tenancy(backend="remote", price_usd_per_h=Decimal(0))]
)
def test_without_a_price_the_configured_rate_is_used(tenancy: Tenancy | None) -> None:
    """A run has no instance yet, an instance no VM, or the machine is a host of an SSH fleet."""
    assert VMPrices(lambda _: Settings()).billing(tenancy, "MI300X") is None


@pytest.mark.parametrize(("backend", "minimum_s"), [("hotaisle", 14400), ("amddevcloud", 0)])
def test_only_backends_with_a_minimum_have_it(backend: str, minimum_s: int) -> None:
    """With two backends, the minimum reservation of the one does not apply to VMs on the other."""
    billing = VMPrices(lambda _: BOTH).billing(_tenancy(backend=backend), "MI300X")
    assert billing is not None
    assert billing.minimum_s == minimum_s


def test_a_price_above_the_reserved_one_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    """A lower price is normal, and is not logged."""
    prices = VMPrices(lambda _: Settings())
    prices.check("vm_1", _tenancy(price_usd_per_h=Decimal("1.49")), "MI300X", 1)
    assert not caplog.messages
    for _ in range(2):
        prices.check("vm_2", _tenancy(price_usd_per_h=Decimal("2.49")), "MI300X", 1)
    (message,) = caplog.messages
    assert message.endswith("more than the $1.99 that are reserved: set AMD_MI300X_HOURLY_RATE=2.49")
