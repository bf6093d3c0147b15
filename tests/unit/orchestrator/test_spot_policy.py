"""Spot VMs: the formula, the learned rate of interruptions, and the decisions of the orchestrator."""

from __future__ import annotations

import asyncio
import math
import random
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from tests.support.orchestrator_harness import OrchestratorHarness, orchestrated
from warmfront.orchestrator.spot_policy import InterruptionRate, SpotPolicy, SpotTerms
from warmfront.providers.base import Phase
from warmfront.settings import Settings
from warmfront.testing.fake_provider import ProviderFaults

if TYPE_CHECKING:
    from collections.abc import Callable

    from warmfront.providers.base import Lease
    from warmfront.submission import Submission
    from warmfront.vm import VMInstance

_RATIO = Decimal("0.4")


def _terms(interruptions_per_h: float, *, wait_usd_per_h: float = 0.0) -> SpotTerms:
    return SpotTerms(
        rate_usd_per_h=2.0,
        spot_rate_usd_per_h=0.8,
        interruptions_per_h=interruptions_per_h,
        wait_usd_per_h=wait_usd_per_h,
    )


def test_formula_is_the_mean_of_simulated_interruptions() -> None:
    """The expected cost is the average cost of a hundred thousand simulated runs."""
    terms, busy_s = _terms(2.0, wait_usd_per_h=20.0), 900.0
    rng = random.Random(1)  # noqa: S311 - must be reproducible
    total_usd = 0.0
    runs = 100_000
    for _ in range(runs):
        interrupted_h = rng.expovariate(terms.interruptions_per_h)
        if interrupted_h >= busy_s / 3600:
            total_usd += 0.8 * busy_s / 3600
        else:
            total_usd += 0.8 * interrupted_h + 2.0 * busy_s / 3600 + 20.0 * interrupted_h
    assert terms.spot_usd(busy_s) == pytest.approx(total_usd / runs, rel=0.01)


@pytest.mark.parametrize(
    ("interruptions_per_h", "busy_s", "expected"),
    [
        (0.0, 36_000, True),  # never preempted: always cheaper
        (0.1, 330, True),  # a short check after a boot of five minutes
        (2.0, 330, True),
        (2.0, 3_600, False),  # a long benchmark: it would be lost six times out of seven
        (60.0, 330, False),
    ],
)
def test_long_work_is_done_on_demand(interruptions_per_h: float, busy_s: float, *, expected: bool) -> None:
    """The longer the work and the more interruptions, the more of it is lost."""
    assert _terms(interruptions_per_h).favor_spot(busy_s) is expected


def test_waiting_counts() -> None:
    """The cheaper VM in dollars is not chosen if the time that an interruption loses is worth more."""
    assert _terms(2.0).favor_spot(900)
    assert not _terms(2.0, wait_usd_per_h=100.0).favor_spot(900)


def test_without_interruptions_the_formula_is_the_spot_price() -> None:
    """Both forms of the formula agree where the rate approaches zero."""
    assert _terms(0.0).spot_usd(1800) == pytest.approx(0.4)
    assert math.isclose(_terms(1e-9).spot_usd(1800), 0.4, rel_tol=1e-5)


def test_the_rate_is_learned() -> None:
    """The configured rate is worth a day of observations, and less and less as VMs are observed."""
    rate = InterruptionRate(configured_per_h=0.1)
    assert rate.per_h == pytest.approx(0.1)
    for _ in range(24):
        rate.observe(3600, interrupted=True)
    assert rate.per_h == pytest.approx((2.4 + 24) / 48)
    rate.observe(1000 * 3600, interrupted=False)
    assert rate.per_h < 0.03


@pytest.mark.parametrize(("policy", "expected"), [("spot", True), ("on-demand", False)])
def test_fixed_policies(policy: str, *, expected: bool) -> None:
    """With `spot` and `on-demand`, costs are not compared."""
    fixed = SpotPolicy.of(Settings(spot_policy=policy))
    fixed.record_boot_failure("MI300X", 0.0)
    assert _chooses(fixed, busy_s=360_000, now=1.0) is expected


def test_a_spot_vm_that_is_not_available_is_not_requested_again_at_once() -> None:
    """After a failure `auto` requests VMs on demand for ten minutes."""
    policy = SpotPolicy.of(Settings())
    assert _chooses(policy, busy_s=330, now=0.0)
    policy.record_boot_failure("MI300X", 0.0)
    assert not _chooses(policy, busy_s=330, now=599.0)
    assert _chooses(policy, busy_s=330, now=600.0)


def _chooses(policy: SpotPolicy, *, busy_s: float, now: float) -> bool:
    return policy.chooses_spot("MI300X", rate_usd_per_h=2.0, spot_rate_usd_per_h=0.8, busy_s=busy_s, now=now)


# With an orchestrator.


async def _until(condition: Callable[[], bool]) -> None:
    while not condition():  # noqa: ASYNC110 - in virtual time, and there is no event for it
        await asyncio.sleep(0.5)


async def _until_running(harness: OrchestratorHarness, submission: Submission) -> VMInstance:
    await _until(lambda: any(not attempt.outcome for attempt in harness.attempts(submission)))
    vm = await harness.store.get_vm(harness.attempts(submission)[-1].vm_id)
    assert vm is not None
    return vm


@orchestrated(max_vms=1, wait_value_usd_per_h=0.0)
async def test_interruption_in_mid_benchmark(harness: OrchestratorHarness) -> None:
    """The submission gets its verdict from an on-demand VM; the ledger of the spot VM ends with it."""
    harness.provider.spot_price_ratio = _RATIO
    submission = await harness.submit(work_s=60, endpoint="benchmark")
    spot = await _until_running(harness, submission)
    assert spot.spot
    await asyncio.sleep(20)
    harness.provider.end(harness.provider.vms[spot.id], "the spot VM was preempted")
    assert (await harness.follow(submission))[-1].status == "BENCHMARKED"
    assert [attempt.outcome for attempt in harness.attempts(submission)] == ["PREEMPTED", "BENCHMARKED"]
    ended, second = await harness.vms()
    assert (ended.id, ended.spot, ended.preempted, ended.failed) == (spot.id, True, True, True)
    assert ended.ended_at == harness.provider.vms[spot.id].ended_at
    assert (second.spot, second.preempted) == (False, False)
    assert await harness.store.vm_cost_usd(spot.id) == harness.provider.bill_usd(spot.id)
    assert harness.provider.bill_usd(spot.id) > 0
    assert harness.orchestrator._pool.spot.rate.interruptions == 1


@orchestrated(max_vms=1, wait_value_usd_per_h=0.0, heartbeat_s=4.0, lost_after_s=120.0)
async def test_the_end_of_a_spot_vm_that_only_heartbeats_tell(harness: OrchestratorHarness) -> None:
    """A provider that cannot confirm the end records its own release; the last heartbeat is closer to it."""
    harness.provider.spot_price_ratio = _RATIO
    describe, release = harness.provider.describe, harness.provider.release
    released: list[Lease] = []

    async def unknowing_describe(vm_id: str) -> Lease | None:
        lease = await describe(vm_id)
        return replace(lease, phase=Phase.READY) if lease and lease.phase is Phase.ENDED else lease

    async def late_release(vm_id: str) -> Lease:
        lease = replace(await release(vm_id), ended_at=harness.clock.now(), end_confirmed=False)
        released.append(lease)
        return lease

    submission = await harness.submit(work_s=60, endpoint="benchmark")
    spot = await _until_running(harness, submission)
    await asyncio.sleep(20)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(harness.provider, "describe", unknowing_describe)
        patch.setattr(harness.provider, "release", late_release)
        harness.provider.end(harness.provider.vms[spot.id], "the spot VM was preempted")
        assert (await harness.follow(submission))[-1].status == "BENCHMARKED"
    ended = (await harness.vms())[0]
    true_end = harness.provider.vms[spot.id].ended_at
    assert ended.ended_at is not None
    assert true_end is not None
    assert true_end <= ended.ended_at <= true_end + 4.0
    assert released[0].ended_at is not None
    assert released[0].ended_at >= true_end + 110.0
    assert ended.end_confirmed is False


@orchestrated(max_vms=1, wait_value_usd_per_h=0.0)
async def test_a_preempted_submission_gets_an_on_demand_vm(harness: OrchestratorHarness) -> None:
    """With room for one VM, a free spot VM makes room for the VM on demand that a submission needs."""
    harness.provider.spot_price_ratio = _RATIO
    first = await harness.submit(work_s=300)
    spot = await _until_running(harness, first)
    second = await harness.submit(work_s=5)
    harness.provider.end(harness.provider.vms[spot.id], "the spot VM was preempted")
    assert (await harness.follow(first))[-1].status == "CHECKED"
    assert (await harness.follow(second))[-1].status == "CHECKED"
    stored = await harness.store.get_submission(first.id)
    assert stored is not None
    served = await harness.store.get_vm(str(stored.vm_id))
    assert served is not None
    assert not served.spot


@orchestrated(max_vms=2, wait_value_usd_per_h=0.0)
async def test_the_memory_of_interruptions_survives_a_restart(harness: OrchestratorHarness) -> None:
    """A new orchestrator loads the interruptions, and which submissions must not use a spot VM."""
    harness.provider.spot_price_ratio = _RATIO
    submission = await harness.submit(work_s=60)
    spot = await _until_running(harness, submission)
    harness.provider.end(harness.provider.vms[spot.id], "the spot VM was preempted")
    await _until(lambda: bool(harness.attempts(submission)[0].outcome))
    await harness.orchestrator.stop()
    harness.orchestrator = harness.new_orchestrator()
    await harness.orchestrator.start()
    assert harness.orchestrator._pool.spot.rate.interruptions == 1
    assert (await harness.follow(submission))[-1].status == "CHECKED"
    assert [vm.spot for vm in await harness.vms()] == [True, False]


@orchestrated(max_vms=1, wait_value_usd_per_h=0.0)
async def test_a_short_check_on_spot_and_a_long_benchmark_on_demand(harness: OrchestratorHarness) -> None:
    """The choice depends on how long attempts with the same endpoint took."""
    harness.provider.spot_price_ratio = _RATIO
    estimates = harness.orchestrator._pool.estimates("MI300X")
    estimates.observe_task("checker", 5.0)
    estimates.observe_task("benchmark", 3600.0)
    harness.orchestrator._pool.spot.rate.configured_per_h = 2.0
    check = await harness.submit(work_s=5, endpoint="checker")
    assert (await _until_running(harness, check)).spot
    await harness.follow(check)
    await harness.orchestrator.release_all("test")
    benchmark = await harness.submit(work_s=5, endpoint="benchmark")
    assert not (await _until_running(harness, benchmark)).spot
    await harness.follow(benchmark)


@orchestrated(max_vms=1, wait_value_usd_per_h=0.0)
async def test_no_spot_vm_available(harness: OrchestratorHarness) -> None:
    """If a spot VM is preempted while it boots, the next one is on demand, and the submission is judged."""
    harness.provider.spot_price_ratio = _RATIO
    harness.provider.faults = ProviderFaults(spot_interruptions_per_h=3600.0 * 10)
    submission = await harness.submit(work_s=5)
    assert (await harness.follow(submission))[-1].status == "CHECKED"
    assert [vm.spot for vm in await harness.vms()] == [True, False]


@orchestrated(max_vms=3, wait_value_usd_per_h=0.0)
async def test_several_spot_vms_preempted_while_they_boot(harness: OrchestratorHarness) -> None:
    """They do not open the circuit breaker: on-demand VMs judge all submissions."""
    harness.provider.spot_price_ratio = _RATIO
    submissions = await asyncio.gather(*(harness.submit(work_s=5) for _ in range(40)))
    await _until(lambda: len(harness.provider.alive()) == 3)
    assert not any(vm.phase is Phase.READY for vm in harness.provider.alive())
    for vm in harness.provider.alive():
        harness.provider.end(vm, "the spot VM was preempted")
    for submission in submissions:
        assert (await harness.follow(submission))[-1].status == "CHECKED"
    assert [vm.spot for vm in await harness.vms()][:3] == [True] * 3
    assert not harness.orchestrator.provisioning_problems()


@orchestrated(max_vms=1)
async def test_without_spot_vms_nothing_changes(harness: OrchestratorHarness) -> None:
    """A provider without spot VMs never gets a request for one."""
    submission = await harness.submit(work_s=5)
    assert (await harness.follow(submission))[-1].status == "CHECKED"
    assert [vm.spot for vm in await harness.vms()] == [False]
