"""The worker task on a pretend VM: it becomes ready and judges, or refuses to become ready and says why.

The task is the one that dstack gets, with the folder that is delivered. The GPU is the stub.
"""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support import gpu_tree
from tests.support.docker_proxy import docker_with_minimum
from tests.support.pretend_vm.image import load_image
from tests.support.pretend_vm.machine import PretendMachine, pretend_machine
from tests.support.pretend_vm.service import IMAGE, PretendService, pretend_service
from tests.support.solutions import EXAMPLES, read
from warmfront import problems
from warmfront.orchestrator import provisioning_state
from warmfront.providers.dstack.configuration import DOCKER_SOCKET
from warmfront.vm import VMState

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from warmfront.store.records import StoredEvent

pytestmark = [pytest.mark.slow, pytest.mark.root, pytest.mark.docker, pytest.mark.debootstrap]

RELU = (Path(__file__).parents[2] / "examples" / "leaky_relu.hip").read_text()
DEVICE = gpu_tree.DEVICE.removeprefix("sys/")
TOPOLOGY = "class/kfd/kfd/topology/nodes/1/properties"
MIB = 1 << 20
CRASHING = """
#include <hip/hip_runtime.h>
__global__ void crash(float* output) { output[1ull << 40] = 1.0f; }
extern "C" void solution(const float* input, float alpha, float* output, size_t n, size_t m) {
    crash<<<1, 1>>>(output);
    (void)hipDeviceSynchronize();
}
"""
FAR_WRITE = """
#include <hip/hip_runtime.h>
__global__ void far(float* output, size_t n) { output[n + 5000] = 1.0f; }
extern "C" void solution(const float* input, float alpha, float* output, size_t n, size_t m) {
    far<<<1, 1>>>(output, n * m);
}
"""
ENDLESS = """
#include <hip/hip_runtime.h>
__global__ void spin(volatile float* output) { while (output[0] != 1234.5f) {} }
extern "C" void solution(const float* input, float alpha, float* output, size_t n, size_t m) {
    spin<<<1, 1>>>(output);
}
"""


@pytest.fixture(scope="module", name="healthy")
def _healthy() -> Iterator[PretendMachine]:
    with pretend_machine() as machine:
        load_image(machine.docker_url, IMAGE)
        yield machine


@pytest.fixture(name="machine")
def _machine(healthy: PretendMachine, monkeypatch: pytest.MonkeyPatch) -> PretendMachine:
    """A machine as it should be; a test may break it."""
    monkeypatch.setattr(provisioning_state, "_BOOT_BACKOFF_S", 0.0)
    healthy.reset()
    return healthy


def _serve(
    machine: PretendMachine, scenario: Callable[[PretendService], Awaitable[None]], **changes: Any
) -> None:
    async def run() -> None:
        async with pretend_service(machine, **{"WARMFRONT_WORKER_TOOLCHAIN": "stub", **changes}) as service:
            await scenario(service)

    asyncio.run(run())


async def _judge_relu(service: PretendService) -> list[StoredEvent]:
    return await service.events(await service.submit(RELU, "leaky-relu"))


def test_it_becomes_ready_and_judges_every_example(machine: PretendMachine) -> None:
    """One VM judges all of them; its record has its GPU and the checks."""

    async def scenario(service: PretendService) -> None:
        for path in EXAMPLES:
            example = read(path)
            problem = problems.get(example.slug).slug
            submission = await service.submit(path.read_text(), problem, dtype=example.dtype)
            events = await service.events(submission)
            assert events[-1].status == "CHECKED", (path, events[-1].fields)
        (vm,) = await service.vms()
        assert (vm.tasks_done, vm.failed) == (len(EXAMPLES), False)
        (device,) = vm.report["devices"]
        assert (device["arch"], device["compute_units"]) == ("gfx942", 304)
        assert vm.report["gpu_health"]["ok"]
        output = service.provider.output(vm.id)
        assert "listening on" in output
        assert f"token-of-{vm.id}" not in output

    _serve(machine, scenario)


def test_a_docker_daemon_that_accepts_only_newer_clients(machine: PretendMachine) -> None:
    """Engine 29 refuses every version of the API below 1.44."""
    with docker_with_minimum(machine.docker_url, "1.44") as url:
        path = url.removeprefix("unix://")

        async def scenario(service: PretendService) -> None:
            assert (await _judge_relu(service))[-1].status == "CHECKED"

        _serve(machine, scenario, docker_socket=path)


def _vram_in_use(machine: PretendMachine) -> None:
    machine.report(f"{DEVICE}/mem_info_vram_total", "206141652992\n")
    machine.report(f"{DEVICE}/mem_info_vram_used", "200000000000\n")


def _another_arch(machine: PretendMachine) -> None:
    gpu = "simd_count 416\nsimd_per_cu 4\ngfx_target_version 90010\ndrm_render_minor 128\n"
    machine.report(TOPOLOGY, gpu)


#: What is broken, how, and the expected reason.
BROKEN: dict[str, tuple[Callable[[PretendMachine], Any], str]] = {
    "no /dev/kfd": (lambda machine: machine.remove("kfd"), "/dev/kfd: no such file"),
    "no permission": (lambda machine: machine.protect("kfd"), "/dev/kfd: uid 0, gid 0, mode 0600"),
    "another arch": (_another_arch, "gfx90a"),
    "driver too old": (
        lambda machine: machine.report("module/amdgpu/version", "6.7.0\n"),
        "the driver is too old",
    ),
    "driver too new": (
        lambda machine: machine.replace_rocm("6.1.3-122\n"),
        "the driver is too new",
    ),
    "full VRAM": (_vram_in_use, "VRAM: 200.0 of 206.1 GB in use"),
    "ECC errors": (
        lambda machine: machine.report(f"{DEVICE}/ras/umc_err_count", "ue: 3\nce: 9\n"),
        "ECC: 3 uncorrectable",
    ),
    "small tmpfs": (lambda machine: machine.resize_shared_memory(16 * MIB), "the data of cases needs 64 MiB"),
}


async def _is_refused(
    service: PretendService, words: str, caplog: pytest.LogCaptureFixture, *, vms: int = 3
) -> None:
    """Check that no VM becomes ready, that log, record and events say why, and that nothing is charged.

    A broken GPU may be a fault of one VM, so three are tried. A VM that differs from its lease is paid for
    once.
    """
    events = await _judge_relu(service)
    verdict = events[-1].fields
    assert (verdict["status"], verdict["code"]) == ("ERROR", "NO_VM")
    assert words in verdict["message"]
    assert verdict["cost_usd"] == 0
    reasons = [event.fields["reason"] for event in events if event.status == "VM_FAILED"]
    assert len(reasons) == vms
    assert all(words in reason for reason in reasons)
    assert "VM_READY" not in {event.status for event in events}
    await service.orchestrator.release_all("the test looks at records")
    for vm in await service.vms():
        assert (vm.state, vm.ready_at) == (VMState.FAILED, None)
        assert words in vm.reason
    assert any(words in record.getMessage() and record.levelname == "WARNING" for record in caplog.records)


@pytest.mark.parametrize("broken", BROKEN)
def test_a_broken_vm_never_becomes_ready(
    broken: str, machine: PretendMachine, caplog: pytest.LogCaptureFixture
) -> None:
    """The reason is in the service's log, the VM's record and the submission's events."""
    break_machine, words = BROKEN[broken]
    break_machine(machine)
    _serve(machine, lambda service: _is_refused(service, words, caplog))


def test_an_image_without_hipcc(machine: PretendMachine, caplog: pytest.LogCaptureFixture) -> None:
    """The toolchain of a VM is configured: it does not fall back to the CPU runtime."""
    _serve(machine, lambda service: _is_refused(service, "hipcc", caplog), WARMFRONT_WORKER_TOOLCHAIN="rocm")


def test_a_docker_daemon_that_is_gone(
    machine: PretendMachine, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The socket exists, but no process listens on it."""
    (tmp_path / "docker.sock").touch()
    _serve(
        machine,
        lambda service: _is_refused(service, "Docker", caplog),
        docker_socket=str(tmp_path / "docker.sock"),
    )


def test_a_stub_gpu_of_another_arch(machine: PretendMachine, caplog: pytest.LogCaptureFixture) -> None:
    """The device itself reports its architecture."""
    _serve(
        machine,
        lambda service: _is_refused(service, "gfx90a", caplog, vms=1),
        WARMFRONT_STUB_GPU="arch=gfx90a",
        WARMFRONT_CHECK_GPU="false",
    )


def test_a_listener_of_another_toolchain(machine: PretendMachine, caplog: pytest.LogCaptureFixture) -> None:
    """The CPU runtime is not accepted in place of the leased GPU."""
    words = "The VM has the toolchain 'stub'; requested: 'rocm'. The VM simulates its GPU"
    _serve(machine, lambda service: _is_refused(service, words, caplog, vms=1), leased_toolchain="rocm")


async def _judge_elsewhere(
    service: PretendService, source: str, words: str, repair: Callable[[], object]
) -> StoredEvent:
    """Submit a kernel to a VM that breaks, and repair it for the next VM; return the verdict.

    The reason must be in the events and in the first VM's record; the second VM must stay.
    """
    submission = await service.submit(source, "leaky-relu")
    reasons = []
    async for event in service.log.follow(submission.id):
        if event.status == "VM_FAILED":
            reasons.append(event.fields["reason"])
            repair()
        last = event
    assert len(reasons) == 1, (reasons, last.fields)
    assert words in reasons[0]
    first, second = await service.vms()
    assert (first.failed, second.failed) == (True, False)
    assert words in first.reason
    assert (await _judge_relu(service))[-1].status == "CHECKED"
    return last


def test_a_vm_that_breaks_later(machine: PretendMachine) -> None:
    """A crash on a GPU that turns out to be broken is not attributed to the kernel; the next VM judges it."""

    async def scenario(service: PretendService) -> None:
        assert (await _judge_relu(service))[-1].status == "CHECKED"
        machine.report(f"{DEVICE}/ras/umc_err_count", "ue: 3\nce: 0\n")
        verdict = await _judge_elsewhere(service, CRASHING, "ECC: 3 uncorrectable", machine.reset)
        assert verdict.status == "RUNTIME_ERROR"

    _serve(machine, scenario)


def test_a_tmpfs_that_is_full_later(machine: PretendMachine) -> None:
    """The data of a case no longer fits: the machine's failure, and the next VM judges the kernel."""

    async def scenario(service: PretendService) -> None:
        assert (await _judge_relu(service))[-1].status == "CHECKED"
        machine.fill_shared_memory()
        verdict = await _judge_elsewhere(
            service, RELU, "0 MiB free; the data of cases needs 64 MiB", machine.reset
        )
        assert verdict.status == "CHECKED"

    _serve(machine, scenario)


def test_a_docker_daemon_that_is_gone_later(machine: PretendMachine) -> None:
    """No box can be created: the machine's failure, and the next VM judges the kernel."""
    with contextlib.ExitStack() as daemon:
        url = daemon.enter_context(docker_with_minimum(machine.docker_url, "1.44"))

        async def scenario(service: PretendService) -> None:
            def repair() -> None:
                service.provider.docker_socket = DOCKER_SOCKET

            assert (await _judge_relu(service))[-1].status == "CHECKED"
            daemon.close()
            verdict = await _judge_elsewhere(service, RELU, "Docker could not start", repair)
            assert verdict.status == "CHECKED"

        _serve(machine, scenario, docker_socket=url.removeprefix("unix://"))


#: Faults of the GPU in the middle of a case, and what the reason says.
FAULTS = {
    "off_the_bus": "hipErrorNoDevice",
    "reset": "hipErrorUnknown",
    "ecc": "hipErrorECCNotCorrectable",
    "stuck": "The GPU did not respond",
}
#: A launch that the first submission makes; the check before the VM is ready makes fewer.
LATER_LAUNCH = 15


@pytest.mark.parametrize("fault", FAULTS)
def test_a_gpu_that_fails_in_a_case(fault: str, machine: PretendMachine) -> None:
    """The kernel is not blamed: its VM is released, and the next one judges it."""

    async def scenario(service: PretendService) -> None:
        def repair() -> None:
            service.provider.settings = replace(service.provider.settings, stub_gpu="")

        verdict = await _judge_elsewhere(service, RELU, FAULTS[fault], repair)
        assert verdict.status == "CHECKED"

    _serve(
        machine,
        scenario,
        WARMFRONT_STUB_GPU=f"fault={fault},fault_launch={LATER_LAUNCH}",
        WARMFRONT_CASE_TIMEOUT="3",
    )


#: Kernels that fail by themselves, and their verdicts: status, code, and words of the message.
FAILING = {
    "far write": (FAR_WRITE, "RUNTIME_ERROR", "MEMORY_FAULT", ("`output[", "address 0x")),
    "endless": (ENDLESS, "TIME_LIMIT_EXCEEDED", "TIME_LIMIT", ("3 s of computing or waiting",)),
}


def test_a_kernel_that_fails_is_its_authors_failure(machine: PretendMachine) -> None:
    """The GPU works afterwards: the VM stays, and the next submission is unharmed."""

    async def scenario(service: PretendService) -> None:
        for source, status, code, words in FAILING.values():
            verdict = (await service.events(await service.submit(source, "leaky-relu")))[-1].fields
            assert (verdict["status"], verdict["code"]) == (status, code), verdict
            assert all(word in verdict["message"] for word in words), verdict
            assert verdict["cost_usd"] > 0
            assert (await _judge_relu(service))[-1].status == "CHECKED"
        (vm,) = await service.vms()
        assert not vm.failed

    _serve(machine, scenario, WARMFRONT_CASE_TIMEOUT="3")
