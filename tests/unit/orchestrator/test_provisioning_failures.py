"""VMs that cannot be provisioned: shortages, and failures that open a circuit breaker."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.orchestrator_harness import OrchestratorHarness, orchestrated
from warmfront.errors import ProviderError
from warmfront.money.billing import Billing
from warmfront.provisioning import FailureKind
from warmfront.testing.fake_provider import FakeProvider
from warmfront.vm import VMState

if TYPE_CHECKING:
    from collections.abc import Callable

    from warmfront.store.records import StoredEvent
    from warmfront.submission import Submission

NO_MI300X = "No MI300X is available on amddevcloud."


async def _follow_all(harness: OrchestratorHarness, submissions: list[Submission]) -> list[list[StoredEvent]]:
    return [await harness.follow(submission) for submission in submissions]


def _waits(events: list[StoredEvent]) -> list[dict[str, Any]]:
    return [event.fields for event in events if event.status == "WAITING"]


def _no_capacity(_: str) -> ProviderError:
    return ProviderError(NO_MI300X, hint="Wait.", kind=FailureKind.NO_CAPACITY)


def _until(harness: OrchestratorHarness, seconds: float) -> Callable[[str], ProviderError | None]:
    """Refuse VMs for some seconds from now on."""
    until = harness.clock.now() + seconds
    return lambda gpu: _no_capacity(gpu) if harness.clock.now() < until else None


@orchestrated()
async def test_capacity_that_appears_after_twenty_minutes(harness: OrchestratorHarness) -> None:
    """Every submission gets its verdict, none gets ERROR, and each client received the reason."""
    harness.provider.refuses = _until(harness, 1200.0)
    submissions = [await harness.submit(owner=f"user{number % 3}") for number in range(20)]
    await asyncio.sleep(600)
    submissions += [await harness.submit() for _ in range(5)]
    for events in await _follow_all(harness, submissions):
        assert events[-1].status == "CHECKED"
        waits = _waits(events)
        assert waits
        assert all(NO_MI300X in wait["reason"] and wait["kind"] == "NO_CAPACITY" for wait in waits)
        assert all(wait["eta_s"] > wait["retry_in_s"] for wait in waits)
        assert not [event for event in events if event.status == "VM_FAILED"]
    first = _waits(await harness.follow(submissions[0]))
    assert [wait["retry_in_s"] for wait in first[:6]] == [5, 10, 20, 40, 60, 60]
    ahead = [_waits(await harness.follow(submission))[0]["ahead"] for submission in submissions[:20]]
    assert sorted(ahead) == list(range(20))
    assert harness.orchestrator.provisioning_problems() == []
    assert {vm.state for vm in await harness.vms() if vm.started_at is None} == {VMState.TERMINATED}


@orchestrated(provision_timeout_s=600.0)
async def test_a_shortage_that_does_not_end(harness: OrchestratorHarness) -> None:
    """Each submission waits for the provisioning timeout; then it fails with the reason, free of charge."""
    harness.provider.refuses = _no_capacity
    began_at = harness.clock.now()
    first = await harness.submit()
    await asyncio.sleep(300)
    second = await harness.submit()
    (problem,) = harness.orchestrator.provisioning_problems()
    assert (problem.kind, problem.is_open, problem.reason) == (FailureKind.NO_CAPACITY, False, NO_MI300X)
    for submission, created_s in ((first, 0.0), (second, 300.0)):
        last = (await harness.follow(submission))[-1]
        assert (last.status, last.fields["code"], last.fields["cost_usd"]) == ("ERROR", "NO_VM", 0)
        assert "within 10 minutes" in last.fields["message"]
        assert NO_MI300X in last.fields["message"]
        assert 600 <= last.time - began_at - created_s < 700


@orchestrated()
async def test_the_limit_of_the_fleet_is_respected(harness: OrchestratorHarness) -> None:
    """With three VMs allowed and one in the fleet, twenty submissions share that one after a cold start."""
    harness.provider.max_vms = 1
    submissions = [await harness.submit(work_s=60) for _ in range(20)]
    assert {events[-1].status for events in await _follow_all(harness, submissions)} == {"CHECKED"}
    assert len(await harness.vms()) == 1


@orchestrated(max_vms=3)
async def test_a_full_fleet_with_a_vm_that_boots(harness: OrchestratorHarness) -> None:
    """Requests for more VMs fail while the first one boots; all submissions wait for that one."""
    harness.provider.refuses = lambda _: (
        ProviderError("The fleet is full.", kind=FailureKind.FLEET_FULL) if harness.provider.alive() else None
    )
    submissions = [await harness.submit(work_s=60) for _ in range(20)]
    for events in await _follow_all(harness, submissions):
        assert events[-1].status == "CHECKED"
    assert len([vm for vm in await harness.vms() if vm.started_at is not None]) == 1


@pytest.mark.parametrize("kind", [FailureKind.BAD_IMAGE, FailureKind.NO_SSH, FailureKind.WORKER_FAILED])
def test_a_failure_that_repeats_is_paid_once(kind: FailureKind) -> None:
    """After one VM, the queue and later submissions get ERROR until the operator resets the breaker."""

    @orchestrated(max_vms=1)
    async def scenario(harness: OrchestratorHarness) -> None:
        requests = []

        def refuse(gpu: str) -> ProviderError:
            requests.append(gpu)
            return ProviderError("The image cannot be pulled.", hint="Check it.", kind=kind)

        harness.provider.refuses = refuse
        submissions = [await harness.submit() for _ in range(5)]
        for events in await _follow_all(harness, submissions):
            assert events[-1].status == "ERROR"
            assert "A VM failed to provision" in events[-1].fields["message"]
            assert "The image cannot be pulled." in events[-1].fields["message"]
        assert (await harness.follow(await harness.submit()))[-1].status == "ERROR"
        assert len(requests) == 1
        (problem,) = harness.orchestrator.provisioning_problems()
        assert (problem.gpu, problem.is_open, problem.kind) == ("MI300X", True, kind)
        assert problem.hint == "Check it."
        harness.provider.refuses = lambda _: None
        assert harness.orchestrator.reset_provisioning("MI300X")
        assert (await harness.follow(await harness.submit()))[-1].status == "CHECKED"
        assert harness.orchestrator.provisioning_problems() == []
        assert not harness.orchestrator.reset_provisioning("MI300X")

    scenario()


async def _restart(harness: OrchestratorHarness) -> None:
    await harness.orchestrator.stop()
    harness.orchestrator = harness.new_orchestrator()
    await harness.orchestrator.start()


@orchestrated(max_vms=1)
async def test_a_breaker_survives_a_restart(harness: OrchestratorHarness) -> None:
    """It stays open with its reason and its time, and so does the operator's reset."""
    requests = []

    def refuse(gpu: str) -> ProviderError:
        requests.append(gpu)
        return ProviderError("The image cannot be pulled.", hint="Check it.", kind=FailureKind.BAD_IMAGE)

    harness.provider.refuses = refuse
    await harness.follow(await harness.submit())
    before = harness.orchestrator.provisioning_problems()
    for _ in range(2):
        await _restart(harness)
        assert harness.orchestrator.provisioning_problems() == before
        events = await harness.follow(await harness.submit())
        assert events[-1].status == "ERROR"
        assert "The image cannot be pulled." in events[-1].fields["message"]
    assert len(requests) == 1
    await asyncio.sleep(660)  # after its cool-down one VM is tried, and the next cool-down is twice as long
    await harness.follow(await harness.submit())
    await _restart(harness)
    (problem,) = harness.orchestrator.provisioning_problems()
    assert len(requests) == 2
    assert problem.retry_at - harness.clock.now() > 1100
    assert harness.orchestrator.reset_provisioning("MI300X")
    await asyncio.sleep(0)
    await _restart(harness)
    assert harness.orchestrator.provisioning_problems() == []
    harness.provider.refuses = lambda _: None
    assert (await harness.follow(await harness.submit()))[-1].status == "CHECKED"


@orchestrated(max_vms=1)
async def test_failures_that_did_not_open_a_breaker_survive_a_restart(harness: OrchestratorHarness) -> None:
    """Three VMs in a row are paid for, not three after each crash."""
    harness.provider.refuses = lambda _: ProviderError("It broke.", kind=FailureKind.UNHEALTHY)
    submission = await harness.submit()
    while not harness.orchestrator._autoscaler._state("MI300X").failures:  # noqa: ASYNC110 - in virtual time, and there is no event for it
        await asyncio.sleep(0.5)
    await _restart(harness)
    assert harness.orchestrator._autoscaler._state("MI300X").failures == 1
    message = (await harness.follow(submission))[-1].fields["message"]
    assert "3 VMs in a row failed to provision" in message


@orchestrated(max_vms=1)
async def test_a_corrected_setting_closes_the_breaker(harness: OrchestratorHarness) -> None:
    """A restart with another image tries it; a VM that works removes the record."""
    harness.provider.refuses = lambda _: ProviderError("No such image.", kind=FailureKind.BAD_IMAGE)
    await harness.follow(await harness.submit())
    harness.provider.refuses = lambda _: None
    first = harness.settings
    harness.settings = replace(first, worker_image="registry.example/corrected:1")
    await _restart(harness)
    assert harness.orchestrator.provisioning_problems() == []
    assert (await harness.follow(await harness.submit()))[-1].status == "CHECKED"


@orchestrated(max_vms=2)
async def test_a_breaker_leaves_ready_vms_alone(harness: OrchestratorHarness) -> None:
    """Submissions keep running on a VM that works, and that VM does not close the breaker."""
    await harness.follow(await harness.submit())
    harness.listeners.reports = lambda vm: (
        {} if vm.id == next(iter(harness.provider.vms)) else {"gpu": "MI325X"}
    )
    submissions = [await harness.submit(work_s=60) for _ in range(6)]
    assert {events[-1].status for events in await _follow_all(harness, submissions)} == {"CHECKED"}
    assert len(harness.provider.vms) == 2
    (problem,) = harness.orchestrator.provisioning_problems()
    assert (problem.is_open, problem.kind) == (True, FailureKind.WRONG_VM)


@orchestrated(max_vms=1)
async def test_a_refusal_is_tried_again_before_it_is_an_error(harness: OrchestratorHarness) -> None:
    """A revoked key costs nothing: three tries, then ERROR with that reason, and a short cool-down."""
    harness.provider.refuses = lambda _: ProviderError("The cloud refuses the key.", kind=FailureKind.DENIED)
    events = await harness.follow(await harness.submit())
    assert "3 VMs in a row failed to provision. Last error: The cloud refuses" in events[-1].fields["message"]
    (problem,) = harness.orchestrator.provisioning_problems()
    assert problem.retry_at - harness.clock.now() <= 60


@orchestrated(max_vms=1)
async def test_a_key_that_is_refused_hides_the_offers(harness: OrchestratorHarness) -> None:
    """A lack of offers after a denial is not a shortage, until the operator resets the breaker."""
    denied = ProviderError("The cloud rejects the key.", hint="Check it.", kind=FailureKind.DENIED)
    no_offers = ProviderError("There is no offer.", kind=FailureKind.NO_OFFERS)
    refusals = iter([denied, denied])
    harness.provider.refuses = lambda _: next(refusals, no_offers)
    last = (await harness.follow(await harness.submit()))[-1]
    assert last.status == "ERROR"
    assert "The cloud rejects the key." in last.fields["message"]
    (problem,) = harness.orchestrator.provisioning_problems()
    assert (problem.kind, problem.is_open, problem.hint) == (FailureKind.DENIED, True, "Check it.")
    assert harness.orchestrator.reset_provisioning("MI300X")
    waiting = await harness.submit()
    await asyncio.sleep(60)
    (problem,) = harness.orchestrator.provisioning_problems()
    assert (problem.kind, problem.is_open) == (FailureKind.NO_OFFERS, False)
    harness.provider.refuses = lambda _: None
    assert (await harness.follow(waiting))[-1].status == "CHECKED"


@orchestrated(max_vms=3)
async def test_a_boot_that_no_one_waits_for_is_stopped(harness: OrchestratorHarness) -> None:
    """After its submission is cancelled, the VM is ended before it is ready."""
    submission = await harness.submit()
    await asyncio.sleep(5)
    await harness.orchestrator.cancel(submission.id)
    await asyncio.sleep(60)
    (vm,) = await harness.vms()
    assert (vm.state, vm.ready_at) == (VMState.TERMINATED, None)
    assert "no submission waits" in vm.reason
    assert vm.ended_at is not None
    assert vm.ended_at - vm.created_at < 30
    assert harness.provider.alive() == []
    assert (await harness.follow(await harness.submit()))[-1].status == "CHECKED"


@orchestrated(max_vms=3)
async def test_superfluous_boots_are_stopped(harness: OrchestratorHarness) -> None:
    """Of three VMs that boot for twelve submissions, one is kept for the only one that is left."""
    submissions = [await harness.submit(work_s=60) for _ in range(12)]
    await asyncio.sleep(3)
    assert len(harness.provider.alive()) == 3
    for submission in submissions[1:]:
        await harness.orchestrator.cancel(submission.id)
    assert (await harness.follow(submissions[0]))[-1].status == "CHECKED"
    assert len([vm for vm in await harness.vms() if vm.ready_at is not None]) == 1


@orchestrated(max_vms=1)
async def test_an_author_who_submits_again_gets_the_vm_that_boots(harness: OrchestratorHarness) -> None:
    """A cancellation and a new submission within seconds use one boot."""
    submission = await harness.submit()
    await asyncio.sleep(3)
    await harness.orchestrator.cancel(submission.id)
    await asyncio.sleep(5)
    assert (await harness.follow(await harness.submit()))[-1].status == "CHECKED"
    assert len(await harness.vms()) == 1


@orchestrated(start=False, max_vms=1)
async def test_a_boot_that_is_paid_for_anyway_is_not_stopped(harness: OrchestratorHarness) -> None:
    """With a minimum of an hour, ending the boot saves nothing."""
    billing = Billing(rate_usd_per_h=harness.provider.billing("MI300X").rate_usd_per_h, minimum_s=3600.0)
    harness.provider = FakeProvider(clock=harness.clock, billing=billing)
    harness.listeners = type(harness.listeners)(harness.provider, clock=harness.clock)
    harness.orchestrator = harness.new_orchestrator()
    await harness.orchestrator.start()
    submission = await harness.submit()
    await asyncio.sleep(5)
    await harness.orchestrator.cancel(submission.id)
    await asyncio.sleep(120)
    (vm,) = await harness.vms()
    assert vm.ready_at is not None
