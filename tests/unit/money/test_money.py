"""Billing models, the meter and the escrow: amounts are exact and never exceed the credits."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warmfront.errors import BudgetExceeded
from warmfront.money.billing import Billing, accrued_usd, actual_billing, charge_work, meter_until
from warmfront.money.escrow import BudgetStatus, Escrow
from warmfront.store.records import Meter
from warmfront.vm import VMInstance, VMState

CLOUD = Billing(rate_usd_per_h=Decimal("1.99"))
BILLINGS = st.builds(
    Billing,
    rate_usd_per_h=st.decimals(min_value=0, max_value=100, places=2),
    granularity_s=st.sampled_from([0.0, 1.0, 60.0, 3600.0]),
    minimum_s=st.sampled_from([0.0, 60.0, 86_400.0]),
)
START = 1_800_000_000.0
MOMENTS = st.lists(
    st.floats(min_value=0, max_value=200_000).map(lambda s: round(s, 3)), min_size=1, max_size=8
)


def vm(**fields: object) -> VMInstance:
    """Return a VM that is billed from START."""
    given_fields = {"id": "v", "provider": "p", "gpu": "MI300X", "state": VMState.IDLE, "created_at": START}
    return VMInstance(**{**given_fields, "started_at": START, **fields})  # type: ignore[arg-type]  # by name


def test_an_hour_costs_the_rate() -> None:
    """3,600 s at $1.99 per hour cost $1.99, and a minute costs a sixtieth, to nine decimals."""
    assert CLOUD.cost_usd(3600) == Decimal("1.99")
    assert CLOUD.cost_usd(60) == Decimal("0.033166667")


def test_billed_time_is_rounded_up_and_has_a_minimum() -> None:
    """Billed by the hour with a minimum of two, 10 minutes cost two hours and 121 minutes three."""
    billing = replace(CLOUD, granularity_s=3600, minimum_s=7200)
    assert billing.cost_usd(600) == 2 * CLOUD.rate_usd_per_h
    assert billing.cost_usd(121 * 60) == 3 * CLOUD.rate_usd_per_h
    assert billing.paid_until_s(600) == 7200
    assert billing.paid_until_s(7201) == 10_800


@given(BILLINGS, st.floats(min_value=0, max_value=1e6), st.floats(min_value=0, max_value=1e6))
def test_a_longer_lifetime_never_costs_less(billing: Billing, one: float, other: float) -> None:
    """Cost is monotonic in age, and constant to the end of the paid block."""
    shorter, longer = sorted((one, other))
    assert billing.cost_usd(shorter) <= billing.cost_usd(longer)
    assert billing.cost_usd(billing.paid_until_s(shorter)) == billing.cost_usd(shorter)


@given(BILLINGS, MOMENTS, st.floats(min_value=0, max_value=1000))
def test_intervals_add_up_to_the_bill_wherever_they_are_split(
    billing: Billing, moments: list[float], ready_s: float
) -> None:
    """The entries of a VM sum exactly to the provider's bill."""
    machine, total = vm(ready_at=START + ready_s), Decimal(0)
    for moment in sorted(moments):
        machine, entries = meter_until(machine, billing, START + moment)
        total += sum(entry.amount_usd for entry in entries)
        assert all(entry.started_at <= entry.ended_at for entry in entries)
    assert total == billing.cost_usd(max(moments))


@given(BILLINGS, MOMENTS)
def test_an_end_earlier_than_what_is_metered_is_corrected(billing: Billing, moments: list[float]) -> None:
    """The entries of a VM sum to its bill even if it ended before the last of them."""
    machine, total = vm(ready_at=START), Decimal(0)
    for moment in moments:
        machine, entries = meter_until(machine, billing, START + moment)
        total += sum(entry.amount_usd for entry in entries)
    assert total == billing.cost_usd(moments[-1])


def test_provisioning_and_idle_are_separate_intervals() -> None:
    """Settled at its first attempt, a VM has an interval of provisioning and one of idle time."""
    machine, entries = meter_until(vm(ready_at=START + 100), CLOUD, START + 160, submission_id="s", owner="o")
    assert [(entry.meter, entry.ended_at - entry.started_at) for entry in entries] == [
        (Meter.PROVISIONING, 100.0),
        (Meter.IDLE, 60.0),
    ]
    assert {entry.submission_id for entry in entries} == {None}
    assert machine.metered_until == START + 160


@pytest.mark.parametrize("pays_boot", [False, True])
def test_idle_time_is_charged_to_the_pool(*, pays_boot: bool) -> None:
    """A submission is charged for its work, and for a boot only if it pays for one."""
    machine, before = meter_until(
        vm(ready_at=START + 100),
        CLOUD,
        START + 160,
        submission_id="s",
        owner="o",
        pays_boot=pays_boot,
    )
    work = charge_work(machine, CLOUD, START + 160, START + 200, submission_id="s", owner="o")
    assert meter_until(machine, CLOUD, START + 200, busy_since=[START + 160])[1] == []
    boot_for = "s" if pays_boot else None
    assert [(entry.meter, entry.submission_id) for entry in (*before, *work)] == [
        (Meter.PROVISIONING, boot_for),
        (Meter.IDLE, None),
        (Meter.WORK, "s"),
    ]
    assert all((entry.owner is None) == (entry.submission_id is None) for entry in (*before, *work))


@given(BILLINGS, st.lists(st.tuples(st.floats(0, 5000), st.floats(0, 500)), max_size=8), st.integers(1, 8))
def test_what_slots_and_the_pool_are_charged_adds_up_to_the_bill(
    billing: Billing, attempts: list[tuple[float, float]], slots: int
) -> None:
    """Whenever attempts begin and end in the slots of a VM, its entries sum exactly to its bill."""
    machine, total = vm(ready_at=START, slots=slots), Decimal(0)
    moments = [(START + begin, True, number) for number, (begin, _) in enumerate(attempts)]
    moments += [(START + begin + lasts, False, number) for number, (begin, lasts) in enumerate(attempts)]
    busy: dict[int, float] = {}
    for moment, begins, number in sorted(moments, key=lambda change: change[0]):
        machine, entries = meter_until(machine, billing, moment, busy_since=busy.values())
        if begins and len(busy) < slots:
            busy[number] = moment
        elif not begins and number in busy:
            entries += charge_work(machine, billing, busy.pop(number), moment, submission_id="s", owner="o")
        total += sum(entry.amount_usd for entry in entries)
    machine, entries = meter_until(machine, billing, START + 6000, busy_since=busy.values())
    assert total + sum(entry.amount_usd for entry in entries) == billing.cost_usd(6000)


def test_an_attempt_is_charged_its_slots_share() -> None:
    """In one of eight slots an hour costs an eighth of the VM's rate; the other seven belong to the pool."""
    machine = vm(ready_at=START, slots=8, metered_until=START)
    [work] = charge_work(machine, CLOUD, START, START + 3600, submission_id="s", owner="o")
    _, [idle] = meter_until(machine, CLOUD, START + 3600, busy_since=[START])
    assert work.amount_usd == CLOUD.rate_usd_per_h / 8
    assert (idle.meter, idle.amount_usd) == (Meter.IDLE, CLOUD.rate_usd_per_h / 8 * 7)


def test_a_boot_is_shared_by_the_slots() -> None:
    """A submission that pays for the boot of a VM with eight GPUs pays an eighth of it."""
    machine = vm(ready_at=START + 80, slots=8)
    _, entries = meter_until(machine, CLOUD, START + 80, submission_id="s", owner="o", pays_boot=True)
    own, others = (entry.amount_usd for entry in entries)
    assert others == pytest.approx(7 * own, rel=Decimal("1e-6"))
    assert own + others == CLOUD.cost_usd(80)


def test_a_vm_has_its_own_price_once_that_is_known() -> None:
    """The granularity is that of the provider; the first price that is reported counts."""
    configured = replace(CLOUD, granularity_s=60.0, minimum_s=3600.0)
    assert actual_billing(vm(), configured) is configured
    cheap = vm().record_price(Decimal("1.49"), 0.0)
    assert actual_billing(cheap, configured) == Billing(rate_usd_per_h=Decimal("1.49"), granularity_s=60.0)
    assert cheap.record_price(Decimal("1.99"), 0.0) is cheap
    metered = vm(metered_until=START + 60)
    assert metered.record_price(Decimal("1.49"), 0.0) is metered


def test_a_vm_that_was_never_started_costs_nothing() -> None:
    """Without a start at the provider there are no ledger entries."""
    never = vm(started_at=None)
    assert meter_until(never, CLOUD, START + 5) == (never, [])
    assert accrued_usd(never, CLOUD, START + 5) == 0


def test_a_reservation_beyond_the_credits_is_rejected() -> None:
    """Credits for two worst cases hold two VMs; the error for the third states the amounts."""
    escrow = Escrow(credits_usd=Decimal("2.50"))
    escrow.reserve("a", Decimal("1.20"))
    escrow.reserve("b", Decimal("1.20"))
    with pytest.raises(
        BudgetExceeded, match=r"up to \$1\.20; only \$0\.10 of the budget is unreserved \(credits \$2\.50"
    ):
        escrow.reserve("c", Decimal("1.20"))
    escrow.settle("a", Decimal("0.30"))
    escrow.reserve("c", Decimal("1.00"))
    assert escrow.committed_usd == Decimal("2.50")


_AMOUNT = st.decimals(min_value=0, max_value=10, places=3)


@given(st.lists(st.tuples(st.sampled_from("abcde"), _AMOUNT, st.booleans(), _AMOUNT), max_size=40))
def test_spent_plus_reserved_never_exceeds_the_credits(
    steps: list[tuple[str, Decimal, bool, Decimal]],
) -> None:
    """After any sequence of reservations, extensions and settlements, the sum is within the credits."""
    escrow = Escrow(credits_usd=Decimal(20))
    for name, worst, settles, share in steps:
        before = escrow.committed_usd
        try:
            escrow.reserve(name, worst)
        except BudgetExceeded:
            assert escrow.committed_usd == before
        if settles:
            escrow.settle(name, min(share, escrow.reserved_usd(name)))
        assert 0 <= escrow.committed_usd <= escrow.credits_usd


def test_percent_and_remainder_are_exact() -> None:
    """$5.25 of $1,400 leave $1,394.75 and are 0.375 percent."""
    money = BudgetStatus(
        credits_usd=Decimal(1400), spent_usd=Decimal("5.25"), reserved_usd=Decimal(0), alert_sent=False
    )
    assert money.remaining_usd == Decimal("1394.75")
    assert money.used_pct == Decimal("0.375")
