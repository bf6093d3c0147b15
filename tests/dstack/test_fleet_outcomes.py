"""Every way that a run ends, on a real dstack server, and the outcome that our table has for it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from tests.dstack.harness import until
from tests.support.dstack_server import PROJECT
from warmfront import settings
from warmfront.providers.dstack.client import DstackClient
from warmfront.providers.dstack.configuration import fleet_configuration, submission_task
from warmfront.providers.dstack.run_outcome import RunOutcome, outcome_of, why_no_capacity

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tests.dstack.conftest import MakeFleet
    from tests.dstack.harness import Stack
    from tests.support.fake_cloud import Switches
    from warmfront.providers.dstack.resources import DstackRun

#: A real server takes its time.
pytestmark = pytest.mark.slow
#: For a run to end: a lost VM is given up by dstack after two minutes, whatever the scale.
PATIENCE_S = 240
LOOK_S = 0.1
#: A shell of dstack's ignores a polite end; what replaces it does not.
LONG = "exec sleep 300"


class Desk:
    """Where a test asks for runs on its fleet, through our client."""

    def __init__(self, client: DstackClient, fleet: str, stack: Stack) -> None:
        self.client = client
        self.fleet = fleet
        self.stack = stack

    async def submit(self, name: str, command: str, **changes: Any) -> None:
        """Ask for a run with this command."""
        ours = settings.load({"AMD_FLEET_NAME": self.fleet}, env_file=None)
        task = submission_task(ours, name=name, commands=[command])
        await self.client.apply_task({**task, "volumes": [], **changes})

    async def reached(self, name: str, *wanted: RunOutcome) -> DstackRun:
        """The run when it has come to one of these, or has ended."""
        async with asyncio.timeout(PATIENCE_S):
            while True:
                run = await self.client.run(name)
                assert run is not None
                if outcome_of(run) in wanted or outcome_of(run).is_final:
                    return run
                await asyncio.sleep(LOOK_S)

    async def stopped(self, name: str, *, abort: bool = False) -> DstackRun:
        """The run when it was stopped. dstack may forget a stop that comes while it is at work on the run."""
        while True:
            await self.client.stop(name, abort=abort)
            run = await self.reached(name, RunOutcome.STOPPING)
            while outcome_of(run) is RunOutcome.STOPPING:
                await asyncio.sleep(LOOK_S)
                run = await self.reached(name, RunOutcome.STOPPING, RunOutcome.RUNNING)
            if outcome_of(run).is_final:
                return run

    async def end(self, name: str, command: str, **changes: Any) -> DstackRun:
        """The run of this command when it has ended."""
        await self.submit(name, command, **changes)
        return await self.reached(name)


def at_desk(stack: Stack, fleet: str, work: Callable[[Desk], Awaitable[None]]) -> None:
    """Do it with a client that is closed afterwards."""

    async def opened() -> None:
        environ = {
            "DSTACK_SERVER_URL": stack.server.url,
            "DSTACK_TOKEN": stack.server.token,
            "DSTACK_PROJECT": PROJECT,
        }
        client = await asyncio.to_thread(DstackClient.open, settings.load(environ, env_file=None))
        try:
            await work(Desk(client, fleet, stack))
        finally:
            await client.close()

    asyncio.run(opened())


def test_the_ends_that_a_command_has(stack: Stack, fleet: MakeFleet) -> None:
    """Exit code 0 and 3, `max_duration`, stop and abort: each is told apart, on one warm VM."""

    async def work(desk: Desk) -> None:
        done = await desk.end("done", "echo it is done")
        assert outcome_of(done) is RunOutcome.DONE
        assert b"it is done" in await desk.client.logs("done")
        exited = await desk.end("exited", "exit 3")
        assert (outcome_of(exited), exited.exit_status) == (RunOutcome.EXITED, 3)
        assert exited.instance_id == done.instance_id
        late = await desk.end("late", LONG, max_duration="1s")
        assert outcome_of(late) is RunOutcome.TIMED_OUT
        for name, abort in (("stopped", False), ("aborted", True)):
            await desk.submit(name, LONG)
            assert outcome_of(await desk.reached(name, RunOutcome.RUNNING)) is RunOutcome.RUNNING
            assert outcome_of(await desk.stopped(name, abort=abort)) is RunOutcome.STOPPED
        found = [one for one in await desk.client.instances() if one.fleet == desk.fleet]
        assert [(one.hostname, str(one.price_usd_per_h)) for one in found] == [(exited.hostname, "1.99")]

    at_desk(stack, fleet(), work)


def test_no_vm_has_four_causes(stack: Stack, fleet: MakeFleet, switches: Switches) -> None:
    """No such fleet, a full one, no offer at the price, a full cloud: one reason of dstack's, four here."""
    free, dear = fleet(), fleet(max_price=1.0)

    async def cause(desk: Desk, name: str, on: str) -> RunOutcome:
        run = await desk.end(name, "true", fleets=[on])
        assert outcome_of(run) is RunOutcome.NO_CAPACITY
        found = await desk.client.fleet(on)
        plan = await desk.client.plan_fleet(_with_price(on, 1.0 if on == dear else 1.99)) if found else None
        return why_no_capacity(found, plan)

    async def work(desk: Desk) -> None:
        assert await cause(desk, "nowhere", "no-such-fleet") is RunOutcome.NO_FLEET
        assert await cause(desk, "too-dear", dear) is RunOutcome.NO_OFFERS
        switches.capacity = 0
        assert await cause(desk, "cloud-full", free) is RunOutcome.NO_CAPACITY
        switches.capacity = None
        await desk.submit("holds", LONG)
        await desk.reached("holds", RunOutcome.RUNNING)
        assert await cause(desk, "fleet-full", free) is RunOutcome.FLEET_FULL
        await desk.stopped("holds")

    at_desk(stack, free, work)


def test_an_image_that_cannot_be_pulled(stack: Stack, fleet: MakeFleet, switches: Switches) -> None:
    """It is the image's fault, and said to be."""
    switches.unpullable.add("registry.example/nothing:1")

    async def work(desk: Desk) -> None:
        run = await desk.end("no-image", "true", image="registry.example/nothing:1")
        assert outcome_of(run) is RunOutcome.BAD_IMAGE

    at_desk(stack, fleet(), work)


def test_a_lost_vm(stack: Stack, fleet: MakeFleet) -> None:
    """The run is lost, and its dead VM fills the fleet until it is deleted from it."""
    name = fleet()

    async def work(desk: Desk) -> None:
        await desk.submit("loses", LONG)
        run = await desk.reached("loses", RunOutcome.RUNNING)
        stack.cloud.vanish(run.instance_id or "")
        assert outcome_of(await desk.reached("loses")) is RunOutcome.LOST
        found = await desk.client.fleet(name)
        assert found is not None
        assert found.is_full
        await desk.client.delete_instances(name, [instance.num for instance in found.instances])

    at_desk(stack, name, work)
    until(lambda: not stack.instances(name))


def _with_price(fleet: str, max_price: float) -> dict[str, Any]:
    ours = settings.load({"AMD_FLEET_NAME": fleet}, env_file=None)
    return {**fleet_configuration(ours), "max_price": max_price}
