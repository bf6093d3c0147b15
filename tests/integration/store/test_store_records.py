"""VMs, ledger, keys, counters, marks and totals are stored exactly."""

from __future__ import annotations

import dataclasses
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy.exc import StatementError

from tests.support.store_samples import accepted, begun, queued
from warmfront.quota import Quota, QuotaExceeded
from warmfront.store import (
    event_queries,
    key_queries,
    ledger_queries,
    mark_queries,
    quota_queries,
    report_queries,
    vm_queries,
)
from warmfront.store.records import LedgerEntry, Meter, Role
from warmfront.vm import VMInstance, VMState

if TYPE_CHECKING:
    from sqlalchemy import Connection

VM = VMInstance(id="vm1", provider="local", gpu="MI300X", state=VMState.PROVISIONING, created_at=1.0)
FULL = VMInstance(
    id="vm2",
    provider="local",
    gpu="MI300X",
    state=VMState.IDLE,
    created_at=2.0,
    started_at=2.125,
    ready_at=3.5,
    deadline_at=600.0,
    ended_at=None,
    address="http://127.0.0.1:8000",
    simulated=True,
    escrow_usd=Decimal("0.995000001"),
    metered_until=4.5,
    provisioned_for="s1",
    tasks_done=3,
    reason="",
)
DAY_S = 86_400.0


def entry(amount: str, **changes: object) -> LedgerEntry:
    """Return an interval of `vm1`."""
    plain = LedgerEntry(
        vm_id="vm1",
        meter=Meter.WORK,
        started_at=10.0,
        ended_at=20.0,
        amount_usd=Decimal(amount),
        submission_id="s1",
        owner="ada",
    )
    return dataclasses.replace(plain, **changes)  # type: ignore[arg-type]


def test_every_field_of_a_vm_is_stored(c: Connection) -> None:
    """A VM is read as it was saved, and saving it again updates its row."""
    vm_queries.save(c, VM)
    vm_queries.save(c, FULL)
    assert vm_queries.get(c, "vm1") == VM
    assert vm_queries.get(c, "vm2") == FULL
    over = dataclasses.replace(FULL, state=VMState.TERMINATED, ended_at=99.0, reason="idle")
    vm_queries.save(c, over)
    assert vm_queries.get(c, "vm2") == over
    assert vm_queries.get(c, "vm3") is None


def test_vms_alive_are_those_whose_end_is_not_confirmed(c: Connection) -> None:
    """A VM that is shutting down counts as alive; recent VMs are listed newest first."""
    for number, state in enumerate(VMState):
        vm_queries.save(c, dataclasses.replace(VM, id=str(state), state=state, created_at=float(number)))
    assert {vm.state for vm in vm_queries.live(c)} == set(VMState) - {VMState.TERMINATED, VMState.FAILED}
    assert [vm.state for vm in vm_queries.recent(c, 2)] == [VMState.FAILED, VMState.TERMINATED]


def test_the_ledger_adds_up_exactly(c: Connection) -> None:
    """Sums by VM, submission, owner, day and meter are exact to the billionth."""
    ledger_queries.add(
        c,
        [
            entry("0.000000001"),
            entry("0.1", meter=Meter.IDLE, started_at=DAY_S, ended_at=DAY_S + 1, submission_id="s2"),
            entry("0.2", vm_id="vm2", owner="bob", started_at=DAY_S + 5, ended_at=DAY_S + 6),
            entry("5", submission_id=None, owner=None, started_at=3 * DAY_S, ended_at=3 * DAY_S),
        ],
    )
    assert ledger_queries.total_usd(c) == Decimal("5.300000001")
    assert ledger_queries.total_of_vm(c, "vm1") == Decimal("5.100000001")
    assert ledger_queries.of_submission(c, "s1") == Decimal("0.200000001")
    assert ledger_queries.of_owner_since(c, "ada", 0.0) == Decimal("0.100000001")
    assert ledger_queries.of_owner_since(c, "ada", DAY_S) == Decimal("0.1")
    assert ledger_queries.by_day(c, 0.0) == {
        "1970-01-01": Decimal("0.000000001"),
        "1970-01-02": Decimal("0.3"),
        "1970-01-04": Decimal(5),
    }
    assert list(ledger_queries.by_day(c, 2 * DAY_S)) == ["1970-01-04"]
    assert ledger_queries.by_meter(c) == {Meter.IDLE: Decimal("0.1"), Meter.WORK: Decimal("5.200000001")}


def test_costs_of_several_vms_in_one_query(c: Connection) -> None:
    """Each requested VM has its cost per meter; VMs without costs are omitted."""
    bills = [
        entry("0.5", vm_id="vm_a", meter=Meter.WORK),
        entry("0.25", vm_id="vm_a", meter=Meter.WORK),
        entry("0.1", vm_id="vm_a", meter=Meter.IDLE),
        entry("7", vm_id="vm_b"),
    ]
    ledger_queries.add(c, bills)
    assert ledger_queries.by_vm(c, ["vm_a", "vm_c"]) == {
        "vm_a": {Meter.WORK: Decimal("0.75"), Meter.IDLE: Decimal("0.1")}
    }
    assert ledger_queries.by_vm(c, []) == {}


def test_an_empty_ledger_is_zero(c: Connection) -> None:
    """The total of an empty ledger is 0."""
    assert ledger_queries.total_usd(c) == 0
    assert ledger_queries.of_owner_since(c, "ada", 0.0) == 0
    assert ledger_queries.by_day(c, 0.0) == {}
    ledger_queries.add(c, [])
    assert ledger_queries.entries(c, "vm1") == []


def test_simulated_dollars_are_separate(c: Connection) -> None:
    """Simulated VMs cost no real dollars; ledger entries without a VM do."""
    vm_queries.save(c, FULL)
    ledger_queries.add(c, [entry("1", vm_id="vm2"), entry("2"), entry("4", vm_id="unknown")])
    assert ledger_queries.total_usd(c, simulated=True) == 1
    assert ledger_queries.total_usd(c, simulated=False) == 6


def test_intervals_are_in_order(c: Connection) -> None:
    """The intervals of a VM are returned in order of time."""
    first = entry("1", meter=Meter.PROVISIONING, started_at=1.0, ended_at=2.0)
    second = entry("2", started_at=2.0, ended_at=3.0, submission_id=None, owner=None)
    ledger_queries.add(c, [second, first])
    assert ledger_queries.entries(c, "vm1") == [first, second]


def test_an_interval_cannot_end_before_it_begins(c: Connection) -> None:
    """If the clock was set back, the entries are rejected."""
    with pytest.raises(ValueError, match="before it begins"):
        ledger_queries.add(c, [entry("1"), entry("1", started_at=2.0, ended_at=1.0)])
    assert ledger_queries.total_usd(c) == 0


def test_amounts_below_a_billionth_are_rejected(c: Connection) -> None:
    """An amount that cannot be stored exactly is rejected."""
    with pytest.raises(StatementError, match="billionths"):
        ledger_queries.add(c, [entry("0.0000000001")])


@given(nanos=st.lists(st.integers(0, 10**15), max_size=20))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_sum_is_exact(c: Connection, nanos: list[int]) -> None:
    """For any number of intervals, the database's sum equals the sum of the amounts."""
    with c.begin_nested() as savepoint:
        amounts = [Decimal(nano).scaleb(-9) for nano in nanos]
        ledger_queries.add(c, [dataclasses.replace(entry("0"), amount_usd=amount) for amount in amounts])
        assert ledger_queries.total_usd(c) == sum(amounts)
        savepoint.rollback()


def test_a_key_is_valid_until_it_is_revoked(c: Connection) -> None:
    """A secret finds its key until the key is revoked; revoking it again changes nothing."""
    assert key_queries.any_active(c) is False
    key, secret = key_queries.create(c, "ada", Role.OPERATOR, 5.0)
    assert secret.startswith(f"wf_{key.id}_")
    assert key_queries.any_active(c) is True
    assert key_queries.find(c, secret) == key
    assert key.role is Role.OPERATOR
    assert key_queries.revoke(c, key.id, 9.0) is True
    assert key_queries.find(c, secret) is None
    assert key_queries.revoke(c, key.id, 10.0) is False
    assert key_queries.any_active(c) is False
    assert key_queries.all_keys(c) == [dataclasses.replace(key, revoked_at=9.0)]


def test_a_wrong_secret_finds_no_key(c: Connection) -> None:
    """A secret that is changed, truncated, of another key, or not storable finds no key."""
    key, secret = key_queries.create(c, "ada", Role.USER, 5.0)
    other, _ = key_queries.create(c, "bob", Role.USER, 5.0)
    changed = secret[:-1] + ("0" if secret[-1] != "0" else "1")
    swapped = secret.replace(key.id, other.id)
    for wrong in (changed, swapped, secret[:-1], secret + "\n", key.id, "", "wf__", "\0", "wf_é_\ud800"):
        assert key_queries.find(c, wrong) is None


def test_a_limit_is_counted_by_window(c: Connection) -> None:
    """Each window allows the limit and then nothing; users, kinds and windows are separate."""
    two, per_day = _quota("submit", 2), _quota("day", 2)
    quota_queries.consume(c, "ada", 60.0, [two])
    quota_queries.consume(c, "ada", 119.0, [two])
    with pytest.raises(QuotaExceeded, match="Retry after 1 s") as error:
        quota_queries.consume(c, "ada", 119.5, [two])
    assert error.value.retry_after_s == 1
    quota_queries.consume(c, "bob", 60.0, [two])
    quota_queries.consume(c, "ada", 60.0, [per_day])
    quota_queries.consume(c, "ada", 120.0, [two])
    with pytest.raises(QuotaExceeded):
        quota_queries.consume(c, "ada", 120.0, [_quota("submit", 0)])


def test_a_raised_limit_keeps_the_count(c: Connection) -> None:
    """When an operator raises the limit, what was used remains used."""
    quota_queries.consume(c, "ada", 0.0, [_quota("day", 1)])
    with pytest.raises(QuotaExceeded):
        quota_queries.consume(c, "ada", 0.0, [_quota("day", 1)])
    quota_queries.consume(c, "ada", 0.0, [_quota("day", 2)])
    with pytest.raises(QuotaExceeded):
        quota_queries.consume(c, "ada", 0.0, [_quota("day", 2)])


def _quota(kind: str, limit: int) -> Quota:
    return Quota(kind=kind, window_s=60, limit=limit, noun="submissions per minute", variable="WARMFRONT_X")


def test_a_mark_is_set_once(c: Connection) -> None:
    """Only the first caller gets True."""
    assert [mark_queries.once(c, "alert", 1.0) for _ in range(3)] == [True, False, False]
    assert mark_queries.once(c, "other", 1.0) is True


def test_a_value_is_remembered(c: Connection) -> None:
    """The last value stored under a name is returned."""
    assert mark_queries.get(c, "boot_s") is None
    mark_queries.put(c, "boot_s", "60", 1.0)
    mark_queries.put(c, "boot_s", "75", 2.0)
    assert mark_queries.get(c, "boot_s") == "75"


def test_totals_count_what_a_vm_judged(c: Connection) -> None:
    """A compile error in the X-ray and a cancelled submission do not count as completed."""
    accepted(c, "s1", 1.0)
    queued(c, "s2")
    event_queries.complete(c, "s2", {"status": "COMPILE_ERROR"}, 1.0)
    for this, verdict in (("s3", "WRONG_ANSWER"), ("s4", "CANCELLED"), ("s5", "ERROR")):
        queued(c, this)
        begun(c, this, f"a-{this}", cold=True)
        event_queries.complete(c, this, {"status": verdict}, 1.0)
    queued(c, "s6")
    totals = report_queries.totals(c)
    assert (totals.tasks_completed, totals.cold_starts, totals.warm_reuses) == (2, 3, 1)
    assert totals.by_verdict == {
        "ACCEPTED": 1,
        "CANCELLED": 1,
        "COMPILE_ERROR": 1,
        "ERROR": 1,
        "WRONG_ANSWER": 1,
    }


def test_latencies_are_from_submit_to_verdict(c: Connection) -> None:
    """Quantiles cover the last judged submissions: all, cold starts and warm reuses."""
    assert report_queries.latencies(c)["all"].p50_s is None
    for number in range(10):
        this = f"s{number}"
        queued(c, this, created_at=100.0)
        begun(c, this, f"a{number}", cold=number == 9)
        event_queries.complete(c, this, {"status": "CHECKED"}, 101.0 + number)
    latencies = report_queries.latencies(c)
    everyone = latencies["all"]
    assert (everyone.count, everyone.p50_s, everyone.p99_s) == (10, 6.0, 10.0)
    assert latencies["cold"].p50_s == 10.0
    assert latencies["warm"].count == 9
