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


@served(gpu_type="MI300X,MI325X", max_vms=2)
async def test_submissions_run_on_the_gpu_that_they_request(harness: ApiHarness) -> None:
    """Each GPU type has its own VM, which VM_READY, the list of VMs and quotes name."""
    for gpu in ("MI300X", "MI325X"):
        events = (await harness.client.submit(accept="text/event-stream", gpu_type=gpu)).events()
        (ready,) = [event for event in events if event["status"] == "VM_READY"]
        assert (ready["gpu"], ready["vm_state"]) == (gpu, "COLD_START")
    vms = (await harness.client.get("/api/amd/vms")).json()["items"]
    assert {vm["gpu_type"] for vm in vms} == {"MI300X", "MI325X"}
    items = (await harness.client.get("/api/amd/gpus")).json()["items"]
    assert [item["name"] for item in items if item["enabled"]] == ["MI300X", "MI325X"]
    quote = (await harness.client.get("/api/amd/quote?problem=relu&gpu_type=MI325X")).json()
    assert (quote["gpu_type"], quote["vm_state"]) == ("MI325X", "WARM_REUSE")


@served(start=False)
async def test_a_gpu_that_is_not_enabled_is_rejected(harness: ApiHarness) -> None:
    """422 names the field, the value and the enabled GPU types."""
    answer = await harness.client.submit(gpu_type="MI325X")
    assert (answer.status, answer.json()["field"]) == (422, "gpu_type")
    assert answer.json()["detail"] == "gpu_type is 'MI325X'; allowed: MI300X."
