"""The parts of the simulation: virtual time, the provider, the listeners and crashes."""

from __future__ import annotations

import asyncio
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest

from tests.support.world.faults import ControlPlaneProcess
from warmfront.errors import ProviderError, UnknownAttempt, VMUnreachable
from warmfront.listener.protocol import ExecuteRequest
from warmfront.providers.base import Phase
from warmfront.simulate.virtual_time import Deadlock, VirtualClock, run_virtual
from warmfront.testing.fake_listeners import FakeKernel, FakeListeners
from warmfront.testing.fake_provider import NO_FAULTS, FakeProvider, ProviderFaults
from warmfront.verdicts import Verdict
from warmfront.vm import VMInstance, VMState

if TYPE_CHECKING:
    from warmfront.listener.protocol import AttemptEvent


class TestVirtualTime:
    """The virtual event loop."""

    def test_an_hour_passes_in_order_and_at_once(self) -> None:
        """Timers fire in the order of their times, and the clock shows the time of the last."""
        fired: list[float] = []

        async def main() -> float:
            await asyncio.gather(*(_note_after(seconds, fired) for seconds in (3600.0, 1.0, 60.0)))
            return asyncio.get_running_loop().time()

        assert run_virtual(main()) == pytest.approx(3600.0)
        assert fired == [1.0, 60.0, 3600.0]

    def test_a_wait_that_nothing_can_end_is_a_deadlock(self) -> None:
        """Waiting for a future that cannot be set raises Deadlock instead of hanging."""

        async def main() -> None:
            await asyncio.get_running_loop().create_future()

        with pytest.raises(Deadlock):
            run_virtual(main())

    def test_threads_are_rejected(self) -> None:
        """Starting a thread raises, because threads run in real time."""
        with pytest.raises(RuntimeError, match="no threads"):
            run_virtual(asyncio.to_thread(print))

    def test_a_crashed_process_takes_no_step(self) -> None:
        """After a crash no task of that process runs again, not even its `finally`."""
        steps: list[str] = []

        async def work() -> None:
            try:
                for number in range(10):
                    steps.append(str(number))
                    await asyncio.sleep(1)
            finally:
                steps.append("finally")

        async def main() -> list[str]:
            process = ControlPlaneProcess(0)
            process.spawn(work())
            await asyncio.sleep(2.5)
            process.crash()
            await asyncio.sleep(100)
            return list(steps)

        assert run_virtual(main()) == ["0", "1", "2"]

    def test_a_call_to_a_crashed_process_fails(self) -> None:
        """A call to a control plane that crashes meanwhile raises ConnectionError."""

        async def main() -> None:
            process = ControlPlaneProcess(0)
            asyncio.get_running_loop().call_later(5, process.crash)
            await process.call(asyncio.sleep(10))

        with pytest.raises(ConnectionError):
            run_virtual(main())


class TestCloud:
    """The simulated provider."""

    def test_a_vm_is_billed_from_its_start_to_its_end(self) -> None:
        """The bill covers boot, use and the time of the release, and nothing after it."""

        async def main() -> None:
            cloud = _cloud()
            phases = [lease.phase async for lease in cloud.provision("vm1", "MI300X", "")]
            assert phases[0] is Phase.QUEUED
            assert phases[-1] is Phase.READY
            await asyncio.sleep(100)
            lease = await cloud.release("vm1")
            assert lease.started_at is not None
            assert lease.ended_at is not None
            expected = cloud.billing("MI300X").cost_usd(lease.ended_at - lease.started_at)
            await asyncio.sleep(1000)
            assert cloud.bill_usd("vm1") == expected > Decimal(0)

        run_virtual(main())

    def test_every_call_is_idempotent(self) -> None:
        """Provisioning twice creates one VM, and releasing it twice confirms the same end."""

        async def main() -> None:
            cloud = _cloud()
            for _ in range(2):
                assert [lease async for lease in cloud.provision("vm1", "MI300X", "")][
                    -1
                ].phase is Phase.READY
            assert len(cloud.vms) == 1
            assert await cloud.release("vm1") == await cloud.release("vm1")

        run_virtual(main())

    def test_provisioning_fails_if_the_vm_vanishes(self) -> None:
        """`provision` raises ProviderError if the VM vanishes."""

        async def main() -> None:
            cloud = _cloud(ProviderFaults(stuck=1.0, vanish=1.0))
            async for lease in cloud.provision("vm1", "MI300X", ""):
                assert lease.phase is not Phase.READY

        with pytest.raises(ProviderError, match="reclaimed"):
            run_virtual(main())


class TestMachines:
    """The simulated listeners."""

    def test_an_attempt_continues_without_a_client(self) -> None:
        """A stream can be resumed later, and nothing is executed twice."""

        async def main() -> None:
            cloud, listeners, vm = await _ready()
            async for line in listeners.execute(vm, _attempt("a1")):
                if line.seq == 2:
                    break
            await asyncio.sleep(60)
            rest = [line async for line in listeners.events(vm, "a1", 2)]
            assert [line.seq for line in rest] == [3, 4, 5]
            assert rest[-1].fields["status"] == Verdict.ACCEPTED
            assert len(listeners.runs) == 1
            assert cloud.alive()

        run_virtual(main())

    def test_a_cancelled_attempt_has_ended_when_cancel_returns(self) -> None:
        """`cancel` returns when the attempt has ended, and the stream ends with CANCELLED."""

        async def main() -> None:
            _, listeners, vm = await _ready()
            lines: list[AttemptEvent] = []
            reading = asyncio.create_task(_collect(listeners, vm, lines))
            await asyncio.sleep(1)
            await listeners.cancel(vm, "a1")
            assert not list(listeners.running())
            await reading
            assert lines[-1].fields["status"] == Verdict.CANCELLED

        run_virtual(main())

    def test_a_vm_without_heartbeats_ends_itself(self) -> None:
        """The watchdog ends the VM and its attempts; later calls fail."""

        async def main() -> None:
            cloud, listeners, vm = await _ready()
            await asyncio.sleep(100)
            await listeners.heartbeat(vm)
            await asyncio.sleep(179)
            assert cloud.alive()
            await asyncio.sleep(2)
            assert not cloud.alive()
            with pytest.raises(VMUnreachable):
                await listeners.health(vm)

        run_virtual(main())

    def test_an_unknown_attempt(self) -> None:
        """Re-attaching to an attempt that was never started raises `UnknownAttempt`."""

        async def main() -> None:
            _, listeners, vm = await _ready()
            async for _ in listeners.events(vm, "a1", 0):
                pass

        with pytest.raises(UnknownAttempt):
            run_virtual(main())

    def test_concurrent_attempts_of_one_submission_are_recorded(self) -> None:
        """Two attempts of one kernel at the same time are recorded as an overlap."""

        async def main() -> list[str]:
            _, listeners, vm = await _ready()
            await anext(listeners.execute(vm, _attempt("a1")))
            await anext(listeners.execute(vm, _attempt("a2")))
            return listeners.overlaps

        assert any("runs twice at once" in overlap for overlap in run_virtual(main()))


async def _note_after(seconds: float, fired: list[float]) -> None:
    await asyncio.sleep(seconds)
    fired.append(seconds)


def _cloud(faults: ProviderFaults = NO_FAULTS) -> FakeProvider:
    return FakeProvider(clock=VirtualClock(asyncio.get_running_loop()), faults=faults)


async def _ready() -> tuple[FakeProvider, FakeListeners, VMInstance]:
    """Return a cloud with one VM that is ready."""
    cloud = _cloud()
    listeners = FakeListeners(cloud, clock=VirtualClock(asyncio.get_running_loop()))
    async for _ in cloud.provision("vm1", "MI300X", ""):
        pass
    vm = VMInstance(id="vm1", provider=cloud.name, gpu="MI300X", state=VMState.WARM, created_at=0.0)
    return cloud, listeners, vm


def _attempt(attempt_id: str) -> ExecuteRequest:
    return ExecuteRequest(
        id=attempt_id,
        source=FakeKernel(key="k", work_s=8.0).source(),
        file_name="k.hip",
        problem="leaky-relu",
        dtype="float32",
        endpoint="submit",
    )


async def _collect(listeners: FakeListeners, vm: VMInstance, lines: list[AttemptEvent]) -> None:
    async for line in listeners.execute(vm, _attempt("a1")):
        lines.append(line)  # noqa: PERF401 - keeps the events before an error, too
