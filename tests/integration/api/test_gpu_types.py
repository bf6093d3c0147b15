"""A VM whose listener reports another GPU type than requested is not used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.api_harness import ApiHarness, served

if TYPE_CHECKING:
    from warmfront.testing.fake_provider import FakeVM


@served()
async def test_vm_with_the_wrong_gpu_fails_to_provision(harness: ApiHarness) -> None:
    """The submission fails with an error that names both GPU types, and every such VM is released."""

    def swap_gpu(vm: FakeVM) -> None:
        vm.gpu = "MI325X"

    harness.provider.on_create = swap_gpu
    verdict = (await harness.client.submit(accept="text/event-stream")).events()[-1]
    assert verdict["status"] == "ERROR"
    assert "The VM has GPU type MI325X; requested: MI300X." in verdict["message"]
    assert not harness.listeners.runs
