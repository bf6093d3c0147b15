"""Compare a listener's report about its VM with the lease.

A VM that differs from its lease would give wrong results and cost money, so it never becomes ready.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from warmfront import gpus
from warmfront.gpus import CPU_NODE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from warmfront.gpus import Gpu
    from warmfront.listener.protocol import ListenerHealth

#: The toolchain that uses no GPU, so that its listeners report no devices.
_WITHOUT_DEVICES = "cpu"
#: The toolchain that uses a real GPU.
_ON_GPU = "rocm"
#: The driver reserves a part of the memory.
_MIN_MEMORY_SHARE = 0.9


def difference_from_lease(
    health: ListenerHealth, *, gpu: str, toolchain: str | None, gpu_count: int = 1
) -> str | None:
    """Return how a VM differs from its lease, as sentences; None if it does not.

    Args:
        health: the report of its listener.
        gpu: the GPU type that was leased, or `CPU_NODE`.
        toolchain: the toolchain that its listener was started with; None if the provider does not report it.
        gpu_count: how many GPUs were leased.
    """
    if gpu == CPU_NODE:
        toolchain = _WITHOUT_DEVICES
    differences = list(_differences(health, gpu, toolchain))
    slots = health.slots + len(health.failed_slots)
    if not health.failure and slots < gpu_count:
        differences.append(
            f"The VM offers {slots} slot{'s' if slots > 1 else ''}, but was leased with {gpu_count} GPUs."
        )
    return " ".join(differences) if differences else None


def other_gpu_of_time(verdict: Mapping[str, Any], *, gpu: str) -> str | None:
    """Return a sentence if a time was measured on a different GPU type than requested, otherwise None.

    A leaderboard ranks the times of one GPU type, so a time from another type must not be stored.

    Args:
        verdict: the fields of a verdict; an accepted one has the GPU type that its device reported.
        gpu: the GPU type that was requested.
    """
    receipt = verdict.get("receipt")
    machine = receipt.get("machine") if isinstance(receipt, dict) else None
    measured = machine.get("gpu") if isinstance(machine, dict) else None
    if not measured or measured == gpu:
        return None
    return f"The VM has GPU type {measured}; requested: {gpu}."


def _differences(health: ListenerHealth, gpu: str, toolchain: str | None) -> Iterator[str]:
    if health.failure:
        yield f"The VM cannot judge: {health.failure.rstrip('.')}."
        return
    if toolchain is not None and health.toolchain != toolchain:
        yield f"The VM has the toolchain {health.toolchain!r}; requested: {toolchain!r}."
    if toolchain == _ON_GPU and health.simulated:
        yield "The VM simulates its GPU."
    if gpu == CPU_NODE and not health.simulated:
        yield "The CPU node does not mark its results as simulated."
    if gpu not in {health.gpu, CPU_NODE}:
        yield f"The VM has GPU type {health.gpu}; requested: {gpu}."
    if toolchain is not None and toolchain != _WITHOUT_DEVICES and not health.devices:
        yield f"The VM reports no GPU; requested: 1 {gpu}."
    leased = gpus.by_name(gpu)
    if leased is not None and health.devices:
        yield from _device_differences(health.devices, leased)


def _device_differences(devices: tuple[dict[str, Any], ...], leased: Gpu) -> Iterator[str]:
    """Yield how the devices differ from a GPU of this type; the partitions of a GPU count as one."""
    others = sorted({str(device.get("arch")) for device in devices} - {leased.arch})
    if others:
        yield f"The VM's GPU is {', '.join(others)}; an {leased.name} is {leased.arch}."
    memory_bytes = sum(int(device.get("memory_bytes") or 0) for device in devices)
    if 0 < memory_bytes < _MIN_MEMORY_SHARE * leased.memory_bytes:
        yield (
            f"The VM's GPU has {memory_bytes / 1e9:.0f} GB of memory; "
            f"an {leased.name} has {leased.memory_bytes / 1e9:.0f} GB."
        )
