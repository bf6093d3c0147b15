"""Charges of submissions: their own time on a VM and the boot that was quoted; and the daily caps."""

from __future__ import annotations

import asyncio
import re
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from tests.support.orchestrator_harness import OrchestratorHarness, orchestrated
from warmfront.errors import BudgetExceeded
from warmfront.roles import Role
from warmfront.store import account_queries, ledger_queries, team_queries
from warmfront.store.records import Meter
from warmfront.submission import Submission
from warmfront.usage_limits import DailyCaps

if TYPE_CHECKING:
    from warmfront.store.records import LedgerEntry

RATE_USD_PER_S = Decimal("1.99") / 3600


async def _run(harness: OrchestratorHarness, *, work_s: float = 20.0) -> Submission:
    """Run one submission to its verdict and return it."""
    submission = await harness.submit(work_s=work_s)
    await harness.follow(submission)
    return await _stored(harness, submission)


async def _stored(harness: OrchestratorHarness, submission: Submission) -> Submission:
    stored = await harness.store.get_submission(submission.id)
    assert stored is not None
    return stored


def _entries(harness: OrchestratorHarness) -> list[LedgerEntry]:
    return harness.database.run(ledger_queries.within, 0.0, harness.clock.now() + 1)


@orchestrated(idle_timeout_s=600.0)
async def test_a_warm_run_is_charged_what_it_is_quoted(harness: OrchestratorHarness) -> None:
    """The VM pool, not the submission, is charged for the idle minutes before it."""
    await _run(harness)
    await asyncio.sleep(500)
    quote = harness.orchestrator.quote("MI300X", "ada")
    warm = await _run(harness)
    assert warm.cost_usd is not None
    assert float(warm.cost_usd) == pytest.approx(float(quote.cost_usd), rel=0.05)
    idle = [entry for entry in _entries(harness) if entry.meter is Meter.IDLE]
    assert sum(entry.ended_at - entry.started_at for entry in idle) >= 500
    assert {(entry.submission_id, entry.owner) for entry in idle} == {(None, None)}


@orchestrated(idle_timeout_s=60.0)
async def test_a_cold_run_is_charged_for_the_boot_that_it_is_quoted(harness: OrchestratorHarness) -> None:
    """The first run sets the estimates; the VM has ended when the second is quoted."""
    await _run(harness)
    await asyncio.sleep(600)
    quote = harness.orchestrator.quote("MI300X", "ada")
    cold = await _run(harness)
    assert quote.pays_boot
    assert cold.cost_usd is not None
    assert float(cold.cost_usd) == pytest.approx(float(quote.cost_usd), rel=0.2)
    assert not (await _stored(harness, cold)).pays_boot


@orchestrated(max_vms=1)
async def test_only_the_submission_that_needs_a_vm_pays_for_its_boot(harness: OrchestratorHarness) -> None:
    """The next ones wait for the same VM; they are quoted and charged for their own work."""
    first = await harness.submit(work_s=20)
    await asyncio.sleep(5)  # its VM is being provisioned
    quote = harness.orchestrator.quote("MI300X", "bob")
    second = await harness.submit(owner="bob", work_s=20)
    await harness.follow(first)
    await harness.follow(second)
    assert not quote.pays_boot
    paid = {entry.submission_id for entry in _entries(harness) if entry.meter is Meter.PROVISIONING}
    assert paid == {first.id}
    bob = await _stored(harness, second)
    assert bob.cost_usd is not None
    assert bob.cost_usd <= 25 * RATE_USD_PER_S


@orchestrated(idle_timeout_s=600.0)
async def test_a_vm_without_a_waiting_submission_is_charged_to_the_pool(harness: OrchestratorHarness) -> None:
    """Its submission was cancelled shortly before it was ready; the next one found it warm."""
    cancelled = await harness.submit()
    await asyncio.sleep(35)
    await harness.orchestrator.cancel(cancelled.id)
    await asyncio.sleep(300)
    quote = harness.orchestrator.quote("MI300X", "bob")
    warm = await _run(harness)
    assert not quote.pays_boot
    assert warm.cost_usd is not None
    assert warm.cost_usd <= 25 * RATE_USD_PER_S
    boots = [entry for entry in _entries(harness) if entry.meter is Meter.PROVISIONING]
    assert [entry.submission_id for entry in boots] == [None]


@orchestrated(slots=2)
async def test_submissions_that_share_a_vm_pay_for_no_more_than_their_own_time(
    harness: OrchestratorHarness,
) -> None:
    """Each pays for one of two slots; one that begins late is not charged for the time before it began."""
    await _run(harness)
    long = await harness.submit(work_s=100)
    await asyncio.sleep(50)
    short = await harness.submit(owner="bob", work_s=10)
    await asyncio.sleep(10)
    await harness.orchestrator.cancel(short.id)
    await harness.follow(long)
    charged_usd = {one.id: (await _stored(harness, one)).cost_usd or Decimal(0) for one in (long, short)}
    (long_attempt,), (short_attempt,) = harness.attempts(long), harness.attempts(short)
    assert short_attempt.ended_at is not None
    assert short_attempt.started_at >= long_attempt.started_at + 49
    occupancy_s = short_attempt.ended_at - short_attempt.started_at
    assert charged_usd[short.id] <= Decimal(occupancy_s + 0.01) * RATE_USD_PER_S / 2
    assert long_attempt.ended_at is not None
    both_s = long_attempt.ended_at - long_attempt.started_at + occupancy_s
    assert float(sum(charged_usd.values())) == pytest.approx(
        float(Decimal(both_s) * RATE_USD_PER_S / 2), rel=0.01
    )


@orchestrated(daily_budget_usd=Decimal("0.40"), max_vms=1)
async def test_what_is_queued_counts_against_the_daily_cap(harness: OrchestratorHarness) -> None:
    """Many submissions that arrive before the first is charged are not all accepted."""
    caps = DailyCaps.for_user(harness.settings, "ada", None)
    outcomes = await asyncio.gather(
        *(harness.submit(work_s=10, caps=caps) for _ in range(100)), return_exceptions=True
    )
    accepted = [outcome for outcome in outcomes if isinstance(outcome, Submission)]
    refused = [outcome for outcome in outcomes if isinstance(outcome, BudgetExceeded)]
    assert len(accepted) + len(refused) == 100
    assert accepted
    assert re.search(r"expected to cost \$0\.\d+, and this one \$0\.\d+", refused[-1].message)
    for submission in accepted:
        await harness.follow(submission)
    spent = await harness.store.spent_today("ada", None, harness.clock.now())
    assert spent.user_usd <= Decimal("0.44")
    assert spent.user_expected_usd == 0


@orchestrated(daily_budget_usd=Decimal("0.40"), max_vms=1)
async def test_the_daily_cap_is_checked_again_at_the_assignment(harness: OrchestratorHarness) -> None:
    """Submissions that no longer fit, because earlier ones took long, get BUDGET_EXCEEDED and no attempt."""
    caps = DailyCaps.for_user(harness.settings, "ada", None)
    submissions = [await harness.submit(work_s=300, caps=caps) for _ in range(8)]
    other = await harness.submit(
        owner="bob", work_s=5, caps=DailyCaps.for_user(harness.settings, "bob", None)
    )
    verdicts = [(await harness.follow(submission))[-1] for submission in submissions]
    statuses = [verdict.status for verdict in verdicts]
    begun = statuses.count("CHECKED")
    assert statuses == ["CHECKED"] * begun + ["BUDGET_EXCEEDED"] * (8 - begun)
    assert 0 < begun < 8
    assert verdicts[-1].fields["code"] == "BUDGET_EXCEEDED"
    assert "Daily cap reached: ada has spent" in verdicts[-1].fields["message"]
    assert verdicts[-1].fields["cost_usd"] == 0
    assert harness.attempts(submissions[-1]) == []
    spent = await harness.store.spent_today("ada", None, harness.clock.now())
    one_run_usd = 310 * RATE_USD_PER_S
    assert spent.user_usd <= Decimal("0.40") + one_run_usd
    assert (await harness.follow(other))[-1].status == "CHECKED"


async def _join(harness: OrchestratorHarness, user: str) -> DailyCaps | None:
    """Make a user a member of the team, and return their caps."""
    harness.database.run(account_queries.create_key, user, Role.AUTHOR, harness.clock.now(), team="kernels")
    return DailyCaps.for_user(harness.settings, user, "kernels")


@orchestrated(max_vms=1)
async def test_the_budget_of_a_team_limits_its_members_together(harness: OrchestratorHarness) -> None:
    """One member's spending reduces the budget of the other; a change applies to waiting submissions."""
    ada, bob = await _join(harness, "ada"), await _join(harness, "bob")
    harness.database.run(team_queries.set_budget, "kernels", Decimal("0.60"))
    submissions = [
        await harness.submit(owner=owner, work_s=300, caps=caps)
        for owner, caps in (("ada", ada), ("bob", bob)) * 3
    ]
    first = (await harness.follow(submissions[0]))[-1]
    assert first.status == "CHECKED"
    harness.database.run(team_queries.set_budget, "kernels", Decimal("0.30"))
    statuses = [(await harness.follow(submission))[-1].status for submission in submissions]
    begun = statuses.count("CHECKED")
    assert sorted(statuses) == ["BUDGET_EXCEEDED"] * (6 - begun) + ["CHECKED"] * begun
    assert 0 < begun < 6
    spent = await harness.store.spent_today("", "kernels", harness.clock.now())
    charged = [await _stored(harness, submission) for submission in submissions]
    assert spent.team_usd == sum((each.cost_usd or Decimal(0) for each in charged), Decimal(0))
    assert spent.team_usd <= Decimal("0.60") + 310 * RATE_USD_PER_S
    with pytest.raises(BudgetExceeded, match=r"Team kernels has spent \$0\.\d{4} of \$0\.30 per day"):
        await harness.submit(owner="bob", caps=bob)
    harness.database.run(team_queries.set_budget, "kernels", Decimal(5))
    last = await harness.submit(owner="bob", caps=bob)
    assert (await harness.follow(last))[-1].status == "CHECKED"
