"""The outcomes of runs on a real dstack server, for every way in which a run can end."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from tests.dstack.harness import until
from tests.support.dstack_server import PROJECT
from warmfront import settings
from warmfront.providers.dstack.client import DstackClient
from warmfront.providers.dstack.configuration import attempt_task, fleet_configuration
from warmfront.providers.dstack.run_outcome import RunOutcome, outcome_of, why_no_capacity

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tests.dstack.conftest import MakeFleet
    from tests.dstack.harness import Stack
    from tests.support.fake_cloud import Switches
    from warmfront.providers.dstack.resources import DstackRun

#: The real dstack server is slow.
pytestmark = pytest.mark.slow
#: Limit for a run to end; dstack gives up on a lost VM after two minutes, whatever the scale.
TIMEOUT_S = 900
POLL_S = 0.1
#: dstack's shell ignores the signal that stops a run, so the command replaces the shell.
LONG = "exec sleep 300"


class RunHarness:
    """Submits runs on one fleet through our client."""

    def __init__(self, client: DstackClient, fleet: str, stack: Stack) -> None:
        self.client = client
        self.fleet = fleet
        self.stack = stack

    async def submit(self, name: str, command: str, **changes: Any) -> None:
        """Submit a run with this command."""
        ours = settings.load({"AMD_FLEET_NAME": self.fleet}, env_file=None)
        task = attempt_task(ours, name=name, gpu="MI300X", commands=[command])
        await self.client.apply_task({**task, "volumes": [], **changes})

    async def reached(self, name: str, *wanted: RunOutcome) -> DstackRun:
        """Wait until the run has one of these outcomes or has ended, and return it."""
        async with asyncio.timeout(TIMEOUT_S):
            while True:
                run = await self.client.run(name)
                assert run is not None
                if outcome_of(run) in wanted or outcome_of(run).is_final:
                    return run
                await asyncio.sleep(POLL_S)

    async def stopped(self, name: str, *, abort: bool = False) -> DstackRun:
        """Stop the run and return it when it has ended. A stop that dstack loses is repeated."""
        async with asyncio.timeout(TIMEOUT_S):
            while True:
                run = await self.client.run(name)
                assert run is not None
                if outcome_of(run).is_final:
                    return run
                if outcome_of(run) is not RunOutcome.STOPPING:
                    await self.client.stop(name, abort=abort)
                await asyncio.sleep(POLL_S)

    async def end(self, name: str, command: str, **changes: Any) -> DstackRun:
        """Submit a run and return it when it has ended."""
        await self.submit(name, command, **changes)
        return await self.reached(name)


def with_harness(stack: Stack, fleet: str, work: Callable[[RunHarness], Awaitable[None]]) -> None:
    """Call `work` with a harness, and close its client afterwards."""

    async def run() -> None:
        environ = {
            "DSTACK_SERVER_URL": stack.server.url,
            "DSTACK_TOKEN": stack.server.token,
            "DSTACK_PROJECT": PROJECT,
        }
        client = await asyncio.to_thread(DstackClient.open, settings.load(environ, env_file=None))
        try:
            await work(RunHarness(client, fleet, stack))
        finally:
            await client.close()

    asyncio.run(run())


def test_outcomes_of_a_command(stack: Stack, fleet: MakeFleet) -> None:
    """Exit status 0 and 3, `max_duration`, stop and abort have different outcomes, on one warm VM."""

    async def work(harness: RunHarness) -> None:
        done = await harness.end("done", "echo it is done")
        assert outcome_of(done) is RunOutcome.DONE
        assert b"it is done" in await harness.client.logs("done")
        exited = await harness.end("exited", "exit 3")
        assert (outcome_of(exited), exited.exit_status) == (RunOutcome.EXITED, 3)
        assert exited.instance_id == done.instance_id
        late = await harness.end("late", LONG, max_duration="1s")
        assert outcome_of(late) is RunOutcome.TIMED_OUT
        for name, abort in (("stopped", False), ("aborted", True)):
            await harness.submit(name, LONG)
            assert outcome_of(await harness.reached(name, RunOutcome.RUNNING)) is RunOutcome.RUNNING
            assert outcome_of(await harness.stopped(name, abort=abort)) is RunOutcome.STOPPED
        instances = await harness.client.instances()
        ours = [(vm.hostname, str(vm.price_usd_per_h)) for vm in instances if vm.fleet == harness.fleet]
        assert ours == [(exited.hostname, "1.99")]

    with_harness(stack, fleet(), work)


def test_causes_of_no_capacity(stack: Stack, fleet: MakeFleet, switches: Switches) -> None:
    """A missing fleet, a full fleet, no offer at the price and a full cloud are distinguished."""
    free, cheap = fleet(), fleet(max_price=1.0)

    async def cause(harness: RunHarness, name: str, on: str) -> RunOutcome:
        run = await harness.end(name, "true", fleets=[on])
        assert outcome_of(run) is RunOutcome.NO_CAPACITY
        current = await harness.client.fleet(on)
        price = 1.0 if on == cheap else 1.99
        plan = await harness.client.plan_fleet(_with_price(on, price)) if current else None
        return why_no_capacity(current, plan)

    async def work(harness: RunHarness) -> None:
        assert await cause(harness, "nowhere", "no-such-fleet") is RunOutcome.NO_FLEET
        assert await cause(harness, "too-expensive", cheap) is RunOutcome.NO_OFFERS
        switches.capacity = 0
        assert await cause(harness, "cloud-full", free) is RunOutcome.NO_CAPACITY
        switches.capacity = None
        await harness.submit("holds", LONG)
        await harness.reached("holds", RunOutcome.RUNNING)
        assert await cause(harness, "fleet-full", free) is RunOutcome.FLEET_FULL
        await harness.stopped("holds")

    with_harness(stack, free, work)


def test_image_that_cannot_be_pulled(stack: Stack, fleet: MakeFleet, switches: Switches) -> None:
    """The outcome is BAD_IMAGE."""
    switches.unpullable.add("registry.example/nothing:1")

    async def work(harness: RunHarness) -> None:
        run = await harness.end("no-image", "true", image="registry.example/nothing:1")
        assert outcome_of(run) is RunOutcome.BAD_IMAGE

    with_harness(stack, fleet(), work)


def test_lost_vm(stack: Stack, fleet: MakeFleet) -> None:
    """The run is LOST, and the lost VM counts against the fleet's maximum until it is deleted."""
    name = fleet()

    async def work(harness: RunHarness) -> None:
        await harness.submit("loses", LONG)
        run = await harness.reached("loses", RunOutcome.RUNNING)
        stack.cloud.vanish(run.instance_id or "")
        assert outcome_of(await harness.reached("loses")) is RunOutcome.LOST
        current = await harness.client.fleet(name)
        assert current is not None
        assert current.is_full
        await harness.client.delete_instances(name, [instance.num for instance in current.instances])

    with_harness(stack, name, work)
    until(lambda: not stack.instances(name))


def _with_price(fleet: str, max_price: float) -> dict[str, Any]:
    ours = settings.load({"AMD_FLEET_NAME": fleet}, env_file=None)
    return {**fleet_configuration(ours), "max_price": max_price}
