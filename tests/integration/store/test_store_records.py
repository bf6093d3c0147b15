"""VMs, ledger, keys, quotas, marks and totals are stored exactly."""

from __future__ import annotations

import dataclasses
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy.exc import StatementError

from tests.support.store_samples import add_accepted, add_queued, begin_attempt
from warmfront.roles import Role
from warmfront.store import account_queries, event_queries, ledger_queries, report_queries, vm_queries
from warmfront.store.records import LedgerEntry, Meter
from warmfront.usage_limits import Quota, QuotaExceeded
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
    """Return a ledger entry of `vm1`."""
    default = LedgerEntry(
        vm_id="vm1",
        meter=Meter.WORK,
        started_at=10.0,
        ended_at=20.0,
        amount_usd=Decimal(amount),
        submission_id="s1",
        owner="ada",
    )
    return dataclasses.replace(default, **changes)  # type: ignore[arg-type]


def test_every_field_of_a_vm_is_stored(conn: Connection) -> None:
    """A VM is read as it was saved, and saving it again updates its row."""
    vm_queries.save(conn, VM)
    vm_queries.save(conn, FULL)
    assert vm_queries.get(conn, "vm1") == VM
    assert vm_queries.get(conn, "vm2") == FULL
    over = dataclasses.replace(FULL, state=VMState.TERMINATED, ended_at=99.0, reason="idle")
    vm_queries.save(conn, over)
    assert vm_queries.get(conn, "vm2") == over
    assert vm_queries.get(conn, "vm3") is None


def test_live_vms_are_those_without_a_confirmed_end(conn: Connection) -> None:
    """A VM that is shutting down is live; recent VMs include all states, the newest first."""
    for number, state in enumerate(VMState):
        vm_queries.save(conn, dataclasses.replace(VM, id=str(state), state=state, created_at=float(number)))
    assert {vm.state for vm in vm_queries.live(conn)} == set(VMState) - {VMState.TERMINATED, VMState.FAILED}
    assert [vm.state for vm in vm_queries.recent(conn, 2)] == [VMState.FAILED, VMState.TERMINATED]


def test_ledger_sums_are_exact(conn: Connection) -> None:
    """Sums per VM, submission, owner, day and meter are exact to nine decimals."""
    ledger_queries.add(
        conn,
        [
            entry("0.000000001"),
            entry("0.1", meter=Meter.IDLE, started_at=DAY_S, ended_at=DAY_S + 1, submission_id="s2"),
            entry("0.2", vm_id="vm2", owner="bob", started_at=DAY_S + 5, ended_at=DAY_S + 6),
            entry("5", submission_id=None, owner=None, started_at=3 * DAY_S, ended_at=3 * DAY_S),
        ],
    )
    assert ledger_queries.total_usd(conn) == Decimal("5.300000001")
    assert ledger_queries.total_of_vm(conn, "vm1") == Decimal("5.100000001")
    assert ledger_queries.of_submission(conn, "s1") == Decimal("0.200000001")
    assert ledger_queries.of_owner_since(conn, "ada", 0.0) == Decimal("0.100000001")
    assert ledger_queries.of_owner_since(conn, "ada", DAY_S) == Decimal("0.1")
    assert ledger_queries.by_day(conn, 0.0) == {
        "1970-01-01": Decimal("0.000000001"),
        "1970-01-02": Decimal("0.3"),
        "1970-01-04": Decimal(5),
    }
    assert list(ledger_queries.by_day(conn, 2 * DAY_S)) == ["1970-01-04"]
    assert ledger_queries.by_meter(conn) == {Meter.IDLE: Decimal("0.1"), Meter.WORK: Decimal("5.200000001")}


def test_costs_are_grouped_by_vm_and_meter(conn: Connection) -> None:
    """Each requested VM has its cost per meter; VMs without costs are left out."""
    bills = [
        entry("0.5", vm_id="vm_a", meter=Meter.WORK),
        entry("0.25", vm_id="vm_a", meter=Meter.WORK),
        entry("0.1", vm_id="vm_a", meter=Meter.IDLE),
        entry("7", vm_id="vm_b"),
    ]
    ledger_queries.add(conn, bills)
    assert ledger_queries.by_vm(conn, ["vm_a", "vm_c"]) == {
        "vm_a": {Meter.WORK: Decimal("0.75"), Meter.IDLE: Decimal("0.1")}
    }
    assert ledger_queries.by_vm(conn, []) == {}


def test_an_empty_ledger_is_zero(conn: Connection) -> None:
    """Sums over an empty ledger are 0, not None."""
    assert ledger_queries.total_usd(conn) == 0
    assert ledger_queries.of_owner_since(conn, "ada", 0.0) == 0
    assert ledger_queries.by_day(conn, 0.0) == {}
    ledger_queries.add(conn, [])
    assert ledger_queries.entries(conn, "vm1") == []


def test_simulated_costs_are_separate(conn: Connection) -> None:
    """Costs of simulated VMs are simulated; costs without a stored VM are real."""
    vm_queries.save(conn, FULL)
    ledger_queries.add(conn, [entry("1", vm_id="vm2"), entry("2"), entry("4", vm_id="unknown")])
    assert ledger_queries.total_usd(conn, simulated=True) == 1
    assert ledger_queries.total_usd(conn, simulated=False) == 6


def test_ledger_entries_are_in_order(conn: Connection) -> None:
    """The entries of a VM are sorted by their beginning."""
    first = entry("1", meter=Meter.PROVISIONING, started_at=1.0, ended_at=2.0)
    second = entry("2", started_at=2.0, ended_at=3.0, submission_id=None, owner=None)
    ledger_queries.add(conn, [second, first])
    assert ledger_queries.entries(conn, "vm1") == [first, second]


def test_an_interval_cannot_end_before_it_begins(conn: Connection) -> None:
    """An entry with a negative duration raises ValueError, and no entry is written."""
    with pytest.raises(ValueError, match="before it begins"):
        ledger_queries.add(conn, [entry("1"), entry("1", started_at=2.0, ended_at=1.0)])
    assert ledger_queries.total_usd(conn) == 0


def test_amounts_are_not_rounded(conn: Connection) -> None:
    """An amount with more than nine decimals is rejected."""
    with pytest.raises(StatementError, match="billionths"):
        ledger_queries.add(conn, [entry("0.0000000001")])


@given(nanos=st.lists(st.integers(0, 10**15), max_size=20))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_sum_is_exact(conn: Connection, nanos: list[int]) -> None:
    """The database's sum of any amounts is exact."""
    with conn.begin_nested() as savepoint:
        amounts = [Decimal(nano).scaleb(-9) for nano in nanos]
        ledger_queries.add(conn, [dataclasses.replace(entry("0"), amount_usd=amount) for amount in amounts])
        assert ledger_queries.total_usd(conn) == sum(amounts)
        savepoint.rollback()


def test_a_key_is_valid_until_it_is_revoked(conn: Connection) -> None:
    """A secret finds its key until the key is revoked; revoking it again changes nothing."""
    assert account_queries.any_active_key(conn) is False
    key, secret = account_queries.create_key(conn, "ada", Role.OPERATOR, 5.0)
    assert secret.startswith(f"wf_{key.id}_")
    assert account_queries.any_active_key(conn) is True
    assert account_queries.find_key(conn, secret) == key
    assert key.role is Role.OPERATOR
    assert account_queries.revoke_key(conn, key.id, 9.0) is True
    assert account_queries.find_key(conn, secret) is None
    assert account_queries.revoke_key(conn, key.id, 10.0) is False
    assert account_queries.any_active_key(conn) is False
    assert account_queries.all_keys(conn) == [dataclasses.replace(key, revoked_at=9.0)]


def test_a_wrong_secret_finds_no_key(conn: Connection) -> None:
    """A secret that is altered, truncated, of another key or not encodable finds no key."""
    key, secret = account_queries.create_key(conn, "ada", Role.AUTHOR, 5.0)
    other, _ = account_queries.create_key(conn, "bob", Role.AUTHOR, 5.0)
    changed = secret[:-1] + ("0" if secret[-1] != "0" else "1")
    swapped = secret.replace(key.id, other.id)
    for wrong in (changed, swapped, secret[:-1], secret + "\n", key.id, "", "wf__", "\0", "wf_é_\ud800"):
        assert account_queries.find_key(conn, wrong) is None


def test_a_quota_is_counted_per_window(conn: Connection) -> None:
    """Each window allows the limit; users, kinds and windows are counted separately."""
    two, per_day = _quota("submit", 2), _quota("day", 2)
    account_queries.consume_quotas(conn, "ada", 60.0, [two])
    account_queries.consume_quotas(conn, "ada", 119.0, [two])
    with pytest.raises(QuotaExceeded, match="Retry after 1 s") as error:
        account_queries.consume_quotas(conn, "ada", 119.5, [two])
    assert error.value.retry_after_s == 1
    account_queries.consume_quotas(conn, "bob", 60.0, [two])
    account_queries.consume_quotas(conn, "ada", 60.0, [per_day])
    account_queries.consume_quotas(conn, "ada", 120.0, [two])
    with pytest.raises(QuotaExceeded):
        account_queries.consume_quotas(conn, "ada", 120.0, [_quota("submit", 0)])


def test_a_raised_quota_keeps_its_count(conn: Connection) -> None:
    """Consumed quota stays consumed when an operator raises the limit."""
    account_queries.consume_quotas(conn, "ada", 0.0, [_quota("day", 1)])
    with pytest.raises(QuotaExceeded):
        account_queries.consume_quotas(conn, "ada", 0.0, [_quota("day", 1)])
    account_queries.consume_quotas(conn, "ada", 0.0, [_quota("day", 2)])
    with pytest.raises(QuotaExceeded):
        account_queries.consume_quotas(conn, "ada", 0.0, [_quota("day", 2)])


def _quota(kind: str, limit: int) -> Quota:
    return Quota(kind=kind, window_s=60, limit=limit, noun="submissions per minute", variable="WARMFRONT_X")


def test_a_mark_is_set_once(conn: Connection) -> None:
    """Only the first call for a name returns True."""
    assert [account_queries.mark_once(conn, "alert", 1.0) for _ in range(3)] == [True, False, False]
    assert account_queries.mark_once(conn, "other", 1.0) is True


def test_only_marks_with_the_prefix_are_deleted(conn: Connection) -> None:
    """Deleting the budget alerts keeps active alerts and other marks."""
    names = ["alert:0.8:1400", "alert:0.8:20", "active-alert:spent:", "overdue:vm_1:5"]
    for name in names:
        account_queries.put_mark(conn, name, "x", 1.0)
    account_queries.delete_marks(conn, account_queries.BUDGET_ALERT_MARK)
    assert [account_queries.get_mark(conn, name) for name in names] == [None, None, "x", "x"]


def test_a_mark_has_its_last_value(conn: Connection) -> None:
    """The last value stored under a name is returned."""
    assert account_queries.get_mark(conn, "boot_s") is None
    account_queries.put_mark(conn, "boot_s", "60", 1.0)
    account_queries.put_mark(conn, "boot_s", "75", 2.0)
    assert account_queries.get_mark(conn, "boot_s") == "75"


def test_totals_count_submissions_judged_on_a_vm(conn: Connection) -> None:
    """Compile errors of the X-ray and cancelled submissions have verdicts but are not completed."""
    add_accepted(conn, "s1", 1.0)
    add_queued(conn, "s2")
    event_queries.complete(conn, "s2", {"status": "COMPILE_ERROR"}, 1.0)
    for submission_id, verdict in (("s3", "WRONG_ANSWER"), ("s4", "CANCELLED"), ("s5", "ERROR")):
        add_queued(conn, submission_id)
        begin_attempt(conn, submission_id, f"a-{submission_id}", cold=True)
        event_queries.complete(conn, submission_id, {"status": verdict}, 1.0)
    add_queued(conn, "s6")
    totals = report_queries.totals(conn)
    assert (totals.tasks_completed, totals.cold_starts, totals.warm_reuses) == (2, 1, 1)
    assert (totals.cold_attempts, totals.warm_attempts) == (3, 1)
    assert totals.by_verdict == {
        "ACCEPTED": 1,
        "CANCELLED": 1,
        "COMPILE_ERROR": 1,
        "ERROR": 1,
        "WRONG_ANSWER": 1,
    }


def test_all_live_vms_are_listed(conn: Connection) -> None:
    """However many VMs were requested since, live ones are in the list; of the others, the latest are."""
    for number in range(120):
        state = VMState.IDLE if number < 60 else VMState.TERMINATED
        vm_queries.save(
            conn, dataclasses.replace(VM, id=f"vm{number:03}", state=state, created_at=float(number))
        )
    listed = [vm.id for vm, _ in report_queries.recent_vms(conn)]
    assert listed == [f"vm{number:03}" for number in reversed([*range(60), *range(70, 120)])]


def test_latencies_are_from_submit_to_verdict(conn: Connection) -> None:
    """Quantiles cover the time from submission to verdict, for all attempts, cold ones and warm ones."""
    assert report_queries.latencies(conn)["all"].p50_s is None
    for number in range(10):
        submission_id = f"s{number}"
        add_queued(conn, submission_id, created_at=100.0)
        begin_attempt(conn, submission_id, f"a{number}", cold=number == 9)
        event_queries.complete(conn, submission_id, {"status": "CHECKED"}, 101.0 + number)
    latencies = report_queries.latencies(conn)
    overall = latencies["all"]
    assert (overall.count, overall.p50_s, overall.p99_s) == (10, 6.0, 10.0)
    assert latencies["cold"].p50_s == 10.0
    assert latencies["warm"].count == 9
