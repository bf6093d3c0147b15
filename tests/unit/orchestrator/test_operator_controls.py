"""Operators' controls at run time: release, drain and pin VMs, pause the intake, change limits, cancel."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from tests.support.orchestrator_harness import OrchestratorHarness, orchestrated
from warmfront.audit_chain import Actor
from warmfront.errors import BadSetting, BudgetExceeded, Conflict, IntakePaused, VMNotFound
from warmfront.simulate.virtual_time import run_virtual
from warmfront.store.records import IntakeMode
from warmfront.vm import VMInstance, VMState

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from warmfront.audit_chain import AuditEntry
    from warmfront.submission import Submission

EVE = Actor(name="eve", via="key1")


async def _latest(harness: OrchestratorHarness) -> AuditEntry:
    return (await harness.store.audit_page(limit=1))[0]


async def _idle_vm(harness: OrchestratorHarness) -> VMInstance:
    """Judge one submission, and return the VM that is idle afterwards."""
    await harness.follow(await harness.submit())
    (vm,) = harness.orchestrator.pool()
    assert vm.state is VMState.IDLE
    return vm


async def _busy_vm(harness: OrchestratorHarness, work_s: float = 50.0) -> tuple[VMInstance, Submission]:
    """Return a VM that runs a submission for `work_s`."""
    await _idle_vm(harness)
    submission = await harness.submit(work_s=work_s)
    await asyncio.sleep(1)
    (vm,) = harness.orchestrator.pool()
    assert vm.state is VMState.BUSY
    return vm, submission


async def _until_ended(harness: OrchestratorHarness, vm_id: str) -> VMInstance:
    pooled = harness.orchestrator._pool.get(vm_id)
    if pooled is not None:
        await pooled.ended.wait()
    vm = await harness.store.get_vm(vm_id)
    assert vm is not None
    assert vm.state.has_ended
    return vm


@orchestrated()
async def test_a_drained_vm_finishes_its_attempt_and_ends(harness: OrchestratorHarness) -> None:
    """The running attempt gets its verdict, a queued submission gets another VM, and the VM ends."""
    vm, running = await _busy_vm(harness)
    drained = await harness.orchestrator.vm_controls.drain(vm.id, EVE)
    assert (drained.state, drained.draining) == (VMState.BUSY, True)
    queued = await harness.submit()
    assert (await harness.follow(running))[-1].status == "CHECKED"
    ended = await _until_ended(harness, vm.id)
    assert ended.state is VMState.TERMINATED
    assert "drained" in ended.reason
    assert (await harness.follow(queued))[-1].status == "CHECKED"
    assert [attempt.vm_id for attempt in harness.attempts(running)] == [vm.id]
    assert [attempt.vm_id for attempt in harness.attempts(queued)] != [vm.id]
    entry = await _latest(harness)
    assert (entry.actor, entry.action, entry.subject, entry.outcome) == ("eve", "vm.drain", vm.id, "DONE")
    assert (entry.before["draining"], entry.after["draining"]) == (False, True)


@orchestrated()
async def test_draining_an_idle_vm_ends_it_at_once(harness: OrchestratorHarness) -> None:
    """A VM that runs nothing has nothing to finish."""
    vm = await _idle_vm(harness)
    await harness.orchestrator.vm_controls.drain(vm.id, EVE)
    ended = await _until_ended(harness, vm.id)
    assert ended.release_requested_at == pytest.approx(harness.clock.now(), abs=30)


@orchestrated()
async def test_a_drain_survives_a_restart(harness: OrchestratorHarness) -> None:
    """The next service finishes the attempt and ends the VM."""
    vm, running = await _busy_vm(harness, work_s=100.0)
    await harness.orchestrator.vm_controls.drain(vm.id, EVE)
    await harness.orchestrator._tasks.cancel_all()  # as a crash does, without an orderly stop
    harness.orchestrator = harness.new_orchestrator()
    await harness.orchestrator.start()
    assert harness.orchestrator.pool()[0].draining
    assert (await harness.follow(running))[-1].status == "CHECKED"
    assert (await _until_ended(harness, vm.id)).state is VMState.TERMINATED


@orchestrated()
async def test_attempts_of_a_released_vm_start_again(harness: OrchestratorHarness) -> None:
    """The submission runs on another VM, and its interrupted attempt does not count as lost."""
    vm, running = await _busy_vm(harness)
    released = await harness.orchestrator.vm_controls.release(vm.id, EVE)
    assert released.state is VMState.SHUTTING_DOWN
    assert (await _latest(harness)).action == "vm.release"
    assert (await harness.follow(running))[-1].status == "CHECKED"
    first, second = harness.attempts(running)
    assert (first.outcome, first.vm_id) == ("INTERRUPTED", vm.id)
    assert second.vm_id != vm.id


@orchestrated()
async def test_an_action_on_a_vm_that_is_gone_is_refused(harness: OrchestratorHarness) -> None:
    """The error has the time of its end; the refusal is in the audit log."""
    vm = await _idle_vm(harness)
    controls = harness.orchestrator.vm_controls
    await controls.release(vm.id, EVE)
    with pytest.raises(Conflict, match=r"is shutting down since 2023-.*released by eve"):
        await controls.drain(vm.id, EVE)
    await _until_ended(harness, vm.id)
    with pytest.raises(Conflict, match=r"ended at 2023-\d\d-\d\dT.*Z: released by eve"):
        await controls.pin(vm.id, harness.clock.now() + 60, EVE)
    entry = await _latest(harness)
    assert (entry.action, entry.outcome) == ("vm.pin", "REFUSED")
    assert "ended at" in entry.detail
    with pytest.raises(VMNotFound):
        await controls.release("vm_unknown", EVE)
    assert (await harness.store.check_audit()).broken_at is None


@orchestrated(idle_timeout_s=60.0)
async def test_a_pinned_vm_outlives_the_policy(harness: OrchestratorHarness) -> None:
    """It is kept until the given time, even after another task, and then released."""
    vm = await _idle_vm(harness)
    until = harness.clock.now() + 7200
    pinned = await harness.orchestrator.vm_controls.pin(vm.id, until, EVE)
    assert (pinned.pinned_until, pinned.deadline_at) == (until, until)
    assert "pinned" in pinned.reason
    await asyncio.sleep(600)
    await harness.follow(await harness.submit())
    (kept,) = harness.orchestrator.pool()
    assert (kept.id, kept.deadline_at) == (vm.id, until)
    status = harness.orchestrator.budget_status()
    assert status.spent_usd + status.reserved_usd <= status.credits_usd
    await asyncio.sleep(until - harness.clock.now() + 60)
    assert (await _until_ended(harness, vm.id)).ended_at == pytest.approx(until, abs=60)


@orchestrated(idle_timeout_s=60.0)
async def test_an_unpinned_vm_gets_the_policys_deadline(harness: OrchestratorHarness) -> None:
    """What the pin had reserved is free again."""
    vm = await _idle_vm(harness)
    controls = harness.orchestrator.vm_controls
    before_usd = harness.orchestrator.budget_status().reserved_usd
    await controls.pin(vm.id, harness.clock.now() + 86400, EVE)
    assert harness.orchestrator.budget_status().reserved_usd > before_usd + 40
    unpinned = await controls.unpin(vm.id, EVE)
    assert unpinned.pinned_until is None
    assert unpinned.deadline_at == pytest.approx(harness.clock.now() + 60)
    assert harness.orchestrator.budget_status().reserved_usd < before_usd + 1
    with pytest.raises(Conflict, match="is not pinned"):
        await controls.unpin(vm.id, EVE)


@orchestrated(credits_usd=Decimal(5))
async def test_a_pin_that_the_credits_do_not_cover_is_refused(harness: OrchestratorHarness) -> None:
    """The VM is unchanged."""
    vm = await _idle_vm(harness)
    with pytest.raises(BudgetExceeded):
        await harness.orchestrator.vm_controls.pin(vm.id, harness.clock.now() + 86400, EVE)
    (same,) = harness.orchestrator.pool()
    assert (same.pinned_until, same.deadline_at) == (None, vm.deadline_at)
    assert (await _latest(harness)).outcome == "REFUSED"


@orchestrated()
async def test_effects_name_what_is_saved_and_caused(harness: OrchestratorHarness) -> None:
    """The amounts are those of the VM's billing model."""
    vm = await _idle_vm(harness)
    controls = harness.orchestrator.vm_controls
    release, drain, pin = await controls.effects(vm.id, pin_until=harness.clock.now() + 3600 + 600)
    rate = harness.provider.billing("MI300X", 1).rate_usd_per_h
    assert release.saves_usd == drain.saves_usd == pytest.approx(rate / 6, abs=Decimal("0.001"))
    assert f"Saves up to ${release.saves_usd:.4f}" in release.text
    assert "runs nothing" in drain.text
    assert pin.costs_usd == pytest.approx(rate, abs=Decimal("0.001"))
    await harness.submit(work_s=50.0)
    await asyncio.sleep(1)
    release, drain = await controls.effects(vm.id)
    assert "1 running attempt stops and starts again" in release.text
    assert release.costs_usd > 0
    assert "finishes its attempt" in drain.text
    assert release.saves_usd > drain.saves_usd > 0


@orchestrated()
async def test_a_queue_pause_holds_submissions(harness: OrchestratorHarness) -> None:
    """Submissions are accepted, say why they wait, and run after the intake is resumed."""
    vm = await _idle_vm(harness)
    intake = harness.orchestrator.intake
    await intake.pause(IntakeMode.QUEUE, "The image is being replaced.", EVE)
    submission = await harness.submit()
    await asyncio.sleep(3600)
    events = await harness.store.read_events(submission.id, 0, 100)
    assert events is not None
    last = events[0][-1]
    assert (last.status, last.fields["kind"]) == ("WAITING", "INTAKE_PAUSED")
    assert "The image is being replaced." in last.fields["reason"]
    assert harness.orchestrator.queue_length() == 1
    assert (await _until_ended(harness, vm.id)).reason.startswith("idle")
    assert harness.orchestrator.pool() == []
    await intake.resume(EVE)
    assert (await harness.follow(submission))[-1].status == "CHECKED"
    with pytest.raises(Conflict, match="not paused"):
        await intake.resume(EVE)


@orchestrated()
async def test_a_refusing_pause_survives_a_restart(harness: OrchestratorHarness) -> None:
    """New submissions are refused with the reason; accepted ones get their verdict."""
    accepted = await harness.submit()
    await harness.orchestrator.intake.pause(IntakeMode.REFUSE, "Maintenance until noon.", EVE)
    with pytest.raises(IntakePaused, match=r"Maintenance until noon\."):
        await harness.submit()
    assert (await harness.follow(accepted))[-1].status == "CHECKED"
    await harness.orchestrator.stop()
    harness.orchestrator = harness.new_orchestrator()
    await harness.orchestrator.start()
    assert harness.orchestrator.intake.state.by == "eve"
    with pytest.raises(IntakePaused):
        await harness.submit()
    await harness.orchestrator.intake.resume(EVE)
    await harness.follow(await harness.submit())


@orchestrated(idle_timeout_s=600.0)
async def test_a_shorter_idle_timeout_applies_to_idle_vms(harness: OrchestratorHarness) -> None:
    """The deadline counts from when the VM became idle; the change and its author are in the log."""
    vm = await _idle_vm(harness)
    assert vm.deadline_at is not None
    idle_since = vm.deadline_at - 600
    await asyncio.sleep(30)
    await harness.orchestrator.limits.change({"idle_timeout_s": "100"}, "too expensive", EVE)
    (renewed,) = harness.orchestrator.pool()
    assert renewed.deadline_at == pytest.approx(idle_since + 100)
    entry = await _latest(harness)
    assert (entry.before, entry.after) == ({"idle_timeout_s": "600"}, {"idle_timeout_s": "100"})
    assert (entry.detail, entry.actor) == ("too expensive", "eve")


@orchestrated(idle_timeout_s=600.0, max_vms=2)
async def test_limits_survive_a_restart_and_can_be_reset(harness: OrchestratorHarness) -> None:
    """A changed limit overrides the configured one until it is reset."""
    limits = harness.orchestrator.limits
    await limits.change({"max_vms": "1", "daily_budget_usd": "2.50", "keep_warm": "adaptive"}, "", EVE)
    await asyncio.sleep(1)
    await harness.orchestrator.stop()
    harness.orchestrator = harness.new_orchestrator()
    await harness.orchestrator.start()
    limits = harness.orchestrator.limits
    assert (limits.current.max_vms, limits.current.daily_budget_usd) == (1, Decimal("2.50"))
    assert limits.current.keep_warm == "adaptive"
    submissions = [await harness.submit(work_s=200.0) for _ in range(3)]
    await asyncio.sleep(100)
    assert len(harness.orchestrator.pool()) == 1
    await limits.change({"max_vms": None, "daily_budget_usd": "none"}, "", EVE)
    assert (limits.current.max_vms, limits.current.daily_budget_usd) == (2, None)
    assert limits.changed == {"keep_warm", "daily_budget_usd"}
    for submission in submissions:
        assert (await harness.follow(submission))[-1].status == "CHECKED"
    assert len(await harness.vms()) == 2


@orchestrated(credits_usd=Decimal(20))
async def test_credits_cannot_be_less_than_what_is_committed(harness: OrchestratorHarness) -> None:
    """The escrow's invariant holds for every change: spent + reserved <= credits."""
    await _busy_vm(harness)
    limits = harness.orchestrator.limits
    with pytest.raises(Conflict, match=r"do not cover the \$"):
        await limits.change({"credits_usd": "0.10"}, "", EVE)
    with pytest.raises(Conflict):
        await limits.change({"idle_timeout_s": "999999"}, "", EVE)
    assert harness.orchestrator.budget_status().credits_usd == 20
    assert limits.current.idle_timeout_s == 600
    assert (await _latest(harness)).outcome == "REFUSED"
    before = harness.orchestrator.budget_status().reserved_usd
    await limits.change({"idle_timeout_s": "7200", "credits_usd": "30"}, "", EVE)
    after = harness.orchestrator.budget_status()
    assert after.credits_usd == 30
    assert after.reserved_usd > before + 2
    with pytest.raises(BadSetting, match="AMD_VM_MAX_CONCURRENT is '0'"):
        await limits.change({"max_vms": "0"}, "", EVE)


@orchestrated()
async def test_previews_change_nothing(harness: OrchestratorHarness) -> None:
    """Each effect says what changes and what it saves or costs."""
    await asyncio.sleep(1)
    limits = harness.orchestrator.limits
    idle, vms, credit = limits.preview({"idle_timeout_s": "1200", "max_vms": "5", "credits_usd": "1000"})
    assert idle.costs_usd == pytest.approx(Decimal("0.331667"), abs=Decimal("0.00001"))
    assert "from 600 to 1200" in idle.text
    assert vms.costs_usd == 2 * harness.provider.billing("MI300X", 1).rate_usd_per_h
    assert credit.saves_usd == 400
    longest, budget = limits.preview({"idle_timeout_max_s": "10800", "daily_budget_usd": "5"})
    assert longest.saves_usd == harness.provider.billing("MI300X", 1).rate_usd_per_h
    assert budget.text.endswith("Each user may spend at most $5.00 per day (UTC); previously any amount.")
    assert limits.current == limits.configured


@orchestrated()
async def test_an_operator_cancels_another_users_submission(harness: OrchestratorHarness) -> None:
    """The submission is cancelled, and the log has the operator."""
    _, running = await _busy_vm(harness)
    cancelled = await harness.orchestrator.cancel(running.id, by=EVE)
    assert cancelled.verdict == "CANCELLED"
    entry = await _latest(harness)
    assert (entry.actor, entry.action, entry.subject) == ("eve", "submission.cancel", running.id)
    with pytest.raises(Conflict):
        await harness.orchestrator.cancel(running.id, by=EVE)
    again = await _latest(harness)
    assert (again.seq, again.outcome) == (entry.seq + 1, "REFUSED")
    assert again.detail == f"Submission {running.id} is already completed: CANCELLED."


@orchestrated()
async def test_a_cancellation_says_what_it_saves(harness: OrchestratorHarness) -> None:
    """A queued submission costs nothing; of a running one, the rest is saved, as far as it is known."""
    effects = harness.orchestrator.action_effects
    vm, running = await _busy_vm(harness)
    rate_usd_per_s = harness.provider.billing("MI300X", 1).rate_usd_per_h / 3600
    expected_s = Decimal(harness.orchestrator._pool.estimates("MI300X").task.seconds)
    effect = effects.cancel(running.id)
    assert f"It has run for 1 s on VM {vm.id}, which its author is charged for." in effect.text
    assert effect.saves_usd == pytest.approx((expected_s - 1) * rate_usd_per_s, abs=Decimal("0.0001"))
    await asyncio.sleep(40)
    late = effects.cancel(running.id)
    assert late.saves_usd == 0
    assert "It takes longer than expected" in late.text
    await harness.orchestrator.intake.pause(IntakeMode.QUEUE, "Later.", EVE)
    queued = await harness.submit()
    await asyncio.sleep(1)
    waiting = effects.cancel(queued.id)
    assert "It has not begun, and nothing is charged." in waiting.text
    assert waiting.saves_usd == pytest.approx(expected_s * rate_usd_per_s, abs=Decimal("0.0001"))
    await harness.orchestrator.cancel(queued.id, by=EVE)
    with pytest.raises(Conflict, match="already completed"):
        effects.cancel(queued.id)


@orchestrated()
async def test_the_intake_says_what_a_pause_saves_and_what_resuming_costs(
    harness: OrchestratorHarness,
) -> None:
    """The amounts are those of the queued submissions, and of a VM if none is live."""
    effects, intake = harness.orchestrator.action_effects, harness.orchestrator.intake
    vm = await _idle_vm(harness)
    rate_usd_per_h = harness.provider.billing("MI300X", 1).rate_usd_per_h
    empty = effects.pause(IntakeMode.QUEUE)
    assert empty.saves_usd == 0
    assert f"The live VM costs ${rate_usd_per_h:.2f} per hour" in empty.text
    assert "costs nothing now" in effects.resume().text
    await intake.pause(IntakeMode.QUEUE, "Later.", EVE)
    waiting = [await harness.submit() for _ in range(2)]
    await asyncio.sleep(1)
    paused, warm = effects.pause(IntakeMode.QUEUE), effects.resume()
    assert paused.text.startswith("2 queued submissions and all new ones wait. Saves about $")
    assert paused.saves_usd == warm.costs_usd > 0
    assert (
        f"2 queued submissions still run, for about ${paused.saves_usd:.4f}."
        in effects.pause(IntakeMode.REFUSE).text
    )
    await _until_ended(harness, vm.id)
    cold = effects.resume()
    assert cold.costs_usd > warm.costs_usd
    assert "of it for the boot of a VM" in cold.text
    await intake.resume(EVE)
    for submission in waiting:
        assert (await harness.follow(submission))[-1].status == "CHECKED"


def test_actions_at_any_moment_keep_every_promise() -> None:
    """Whenever a VM is drained, released or pinned, every submission gets one verdict and the bill agrees."""

    async def scenario(at_s: float, action: str) -> None:
        harness = OrchestratorHarness(max_vms=2)
        await harness.orchestrator.start()
        submissions = [await harness.submit(work_s=20.0) for _ in range(4)]
        await asyncio.sleep(at_s)
        actions: dict[str, Callable[[str], Awaitable[object]]] = {
            "drain": lambda vm_id: harness.orchestrator.vm_controls.drain(vm_id, EVE),
            "release": lambda vm_id: harness.orchestrator.vm_controls.release(vm_id, EVE),
            "pin": lambda vm_id: harness.orchestrator.vm_controls.pin(vm_id, harness.clock.now() + 900, EVE),
        }
        for vm in harness.orchestrator.pool():
            await actions[action](vm.id)
        for submission in submissions:
            events = await harness.follow(submission)
            assert [event.status for event in events].count("CHECKED") == 1, (at_s, action)
        await harness.orchestrator.release_all("the end of the test")
        for vm in await harness.vms():
            assert await harness.store.vm_cost_usd(vm.id) == harness.provider.bill_usd(vm.id), (at_s, action)
        await harness.orchestrator.stop()
        harness.database.dispose()

    for action in ("drain", "release", "pin"):
        for at_s in (0.0, 1.0, 20.0, 37.0, 39.0, 50.0, 61.0, 90.0):
            run_virtual(scenario(at_s, action))
