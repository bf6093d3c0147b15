"""What the simulated cloud does behind a real dstack server, seen through dstack's own client."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.dstack.harness import job, logs

if TYPE_CHECKING:
    from tests.dstack.harness import Stack


def test_cold_then_warm(stack: Stack) -> None:
    """The first task of a fleet gets a VM, and the second the same one."""
    stack.apply_fleet("warm")
    cold = stack.run("cold", "warm", "echo from the VM")
    warm = stack.run("warm", "warm", "exit 3")
    assert (cold.status.value, logs(cold)) == ("done", "from the VM\r\n")
    assert (warm.status.value, job(warm).exit_status) == ("failed", 3)
    assert job(warm).job_provisioning_data.instance_id == job(cold).job_provisioning_data.instance_id
    stack.delete_fleet("warm")
