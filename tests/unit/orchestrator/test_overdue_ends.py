"""VMs that the cloud does not end: the operator is alerted, and the ledger runs until they have ended."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from tests.support.orchestrator_harness import OrchestratorHarness, orchestrated
from warmfront.errors import VMUnreachable
from warmfront.money.billing import CENT
from warmfront.vm import VMInstance, VMState

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from warmfront.providers.base import Lease

STOP_LAG_S = 300.0
COMMAND = "curl -X DELETE …"


class StubbornCloud:
    """A cloud that ends no VM until the test allows it, and the alerts that were sent meanwhile."""

    def __init__(self, harness: OrchestratorHarness) -> None:
        self.alerts: list[dict[str, Any]] = []
        self.gives_in = asyncio.Event()
        self._release: Callable[[str], Awaitable[Lease]] = harness.provider.release
        provider: Any = harness.provider
        provider.release = self._wait_and_release
        provider.end_command = lambda _: COMMAND
        harness.orchestrator._pool._overdue_ends._send_alert = self._alert

    async def _wait_and_release(self, vm_id: str) -> Lease:
        await self.gives_in.wait()
        return await self._release(vm_id)

    async def _alert(self, facts: dict[str, Any]) -> None:
        self.alerts.append(facts)


async def release_idle_vm(harness: OrchestratorHarness) -> VMInstance:
    """Boot a VM, and return it when its end has been requested."""
    await harness.follow(await harness.submit())
    while (vm := harness.orchestrator.pool()[0]).state is not VMState.SHUTTING_DOWN:  # noqa: ASYNC110 - virtual time
        await asyncio.sleep(1.0)
    return vm


@orchestrated(idle_timeout_s=60.0, stop_lag_s=STOP_LAG_S)
async def test_the_operator_is_shown_how_to_end_it(harness: OrchestratorHarness) -> None:
    """The alert is sent once, after the stop lag and not later, with the cost and the command."""
    cloud = StubbornCloud(harness)
    released = await release_idle_vm(harness)
    await asyncio.sleep(STOP_LAG_S - 5)
    assert cloud.alerts == []
    await asyncio.sleep(5)
    (alert,) = cloud.alerts
    await asyncio.sleep(3 * STOP_LAG_S)
    assert cloud.alerts == [alert]
    assert (alert["event"], alert["vm_id"], alert["command"]) == ("VM_NOT_ENDED", released.id, COMMAND)
    assert alert["rate_usd_per_h"] == 1.99
    (vm,) = harness.orchestrator.pool()
    assert vm.state is VMState.SHUTTING_DOWN
    assert vm.reason.startswith(released.reason)
    assert vm.reason.endswith(f"still billed at $1.99 per hour: {COMMAND}")


@orchestrated(idle_timeout_s=60.0, stop_lag_s=STOP_LAG_S, max_vms=1)
async def test_the_ledger_runs_until_it_has_ended(harness: OrchestratorHarness) -> None:
    """Its cost counts and stays reserved, and the ledger has its true end; the limit ignores it."""
    cloud = StubbornCloud(harness)
    released = await release_idle_vm(harness)
    before_usd = harness.orchestrator.budget_status().spent_usd
    await asyncio.sleep(3600)
    status = harness.orchestrator.budget_status()
    assert abs(status.spent_usd - before_usd - Decimal("1.99")) < CENT
    assert status.reserved_usd > 0
    assert (await harness.follow(await harness.submit()))[-1].status == "CHECKED"
    assert len(harness.orchestrator.pool()) == 2
    cloud.gives_in.set()
    await asyncio.sleep(60)
    ended = await harness.store.get_vm(released.id)
    assert ended is not None
    assert (ended.state, ended.end_confirmed) == (VMState.TERMINATED, True)
    billed = harness.provider.vms[released.id]
    assert ended.ended_at == billed.ended_at
    assert await harness.store.vm_cost_usd(released.id) == harness.provider.billing("MI300X").cost_usd(
        (billed.ended_at or 0.0) - (billed.started_at or 0.0)
    )


@orchestrated(idle_timeout_s=60.0, stop_lag_s=STOP_LAG_S, lost_after_s=30.0)
async def test_submissions_on_it_are_judged_elsewhere(harness: OrchestratorHarness) -> None:
    """A submission does not wait for the end of its lost VM longer than the stop lag."""
    cloud = StubbornCloud(harness)
    submission = await harness.submit(work_s=200.0)
    while not (pool := harness.orchestrator.pool()) or pool[0].state is not VMState.BUSY:  # noqa: ASYNC110 - virtual time
        await asyncio.sleep(1.0)
    listeners: Any = harness.listeners
    connect = listeners._connect

    async def connect_to_others(vm: VMInstance) -> object:
        if vm.id == pool[0].id:
            raise VMUnreachable(f"{vm.id} does not respond")
        return await connect(vm)

    listeners._connect = connect_to_others
    events = await harness.follow(submission)
    assert events[-1].status == "CHECKED"
    assert [attempt.outcome for attempt in harness.attempts(submission)] == ["LOST", "CHECKED"]
    cloud.gives_in.set()


@orchestrated(idle_timeout_s=60.0)
async def test_an_end_that_lies_in_an_interval(harness: OrchestratorHarness) -> None:
    """The middle of the interval since the last heartbeat is the end; an unconfirmed end is marked."""
    provider: Any = harness.provider
    release = provider.release
    leases: list[Lease] = []

    async def vague(vm_id: str) -> Lease:
        lease = await release(vm_id)
        leases.append(replace(lease, ended_after=lease.ended_at - 4.0, end_confirmed=False))
        return leases[-1]

    provider.release = vague
    released = await release_idle_vm(harness)
    await asyncio.sleep(120)
    ended = await harness.store.get_vm(released.id)
    assert ended is not None
    assert leases[0].ended_at is not None
    assert ended.end_confirmed is False
    assert leases[0].ended_at - 2.0 <= (ended.ended_at or 0.0) <= leases[0].ended_at
