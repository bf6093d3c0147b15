"""The slots of a VM: one per GPU or partition, each with its share of the machine.

A slot judges one attempt at a time, on its own device and its own CPUs. Compilers of all slots share the
other CPUs, so that no compiler disturbs a kernel that is being timed.
"""

from __future__ import annotations

import json
import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING

from warmfront import gpus
from warmfront.hip.device_facts import installed_devices
from warmfront.sandbox import DOCKER
from warmfront.sandbox.base import machine_memory_bytes
from warmfront.value_class import dataclass
from warmfront.values import cpu_set

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from warmfront.hip.device_facts import DeviceFacts
    from warmfront.settings import Settings

#: The share of the cores that compilers get, on a machine with enough cores.
COMPILE_SHARE = 4
#: With fewer cores than this, or fewer than one per slot plus one, all slots and compilers share the cores.
MIN_CORES = 4

log = logging.getLogger(__name__)

_TOPOLOGY = Path("/sys/devices/system/cpu")


@dataclass(frozen=True, kw_only=True)
class Slot:
    """One slot: its device, and its share of CPUs and memory."""

    number: int  #: from 0
    device: DeviceFacts | None  #: None for a device that is identified only by its number
    run_cpus: tuple[int, ...]  #: empty: all CPUs
    compile_cpus: tuple[int, ...]
    memory_bytes: int  #: for the sandbox that runs submitted code
    compile_memory_bytes: int

    def __str__(self) -> str:
        """Describe the slot for a log."""
        device = self.device.pci_bus_id if self.device else f"device {self.number}"
        cpus = format_cpus(self.run_cpus) or "all"
        return f"{device} with CPUs {cpus} and {self.memory_bytes >> 20:,} MiB"

    def environ(self) -> dict[str, str]:
        """Return the settings of this slot's process, as environment variables."""
        variables = {
            "HIP_VISIBLE_DEVICES": "" if self.device else str(self.number),
            "WARMFRONT_SLOTS": "1",
            "WARMFRONT_RUN_CPUS": format_cpus(self.run_cpus),
            "WARMFRONT_COMPILE_CPUS": format_cpus(self.compile_cpus),
            "AMD_CONTAINER_MEMORY_LIMIT": f"{self.memory_bytes}B",
            "WARMFRONT_COMPILE_MEMORY_LIMIT": f"{self.compile_memory_bytes}B",
        }
        return {name: value for name, value in variables.items() if value}

    def arguments(self) -> list[str]:
        """Return the command line options of this slot's process."""
        return ["--device", json.dumps(self.device.to_json())] if self.device else []


def find_devices(toolchain: str, settings: Settings) -> tuple[DeviceFacts | None, ...]:
    """Return the devices that a listener with this toolchain can use; None for a device without known facts.

    Only Docker can give a box access to a single GPU, so with other sandboxes there is one slot. The CPU
    runtime has as many devices as the operator configures.
    """
    if toolchain == "stub":
        from warmfront.hip.stub.stub_spec import StubSpec  # noqa: PLC0415 - only listeners without a GPU
        from warmfront.hip.stub.stub_toolchain import visible_stub_devices  # noqa: PLC0415

        spec, gpu = StubSpec.parse(settings.stub_gpu), gpus.get(settings.judge_gpu)
        return tuple(visible_stub_devices(spec, gpu)) or (None,)
    if toolchain != "rocm" or settings.rocm_device != "gpu":
        return (None,) * (settings.slots or 1)
    devices = installed_devices()
    if len(devices) > 1 and settings.sandbox != DOCKER:
        log.warning(
            "this VM has %d GPUs and offers one slot: set WARMFRONT_SANDBOX=docker for one per GPU",
            len(devices),
        )
        return (None,)
    return devices or (None,)


def plan_slots(
    devices: Sequence[DeviceFacts | None],
    settings: Settings,
    *,
    cores: Sequence[Sequence[int]] | None = None,
    machine_bytes: int | None = None,
) -> tuple[Slot, ...]:
    """Divide the machine between its devices.

    Args:
        devices: one entry per device.
        settings: the limits of sandboxes, and how many slots there may be.
        cores: the CPUs of each core; by default the cores that this process may use.
        machine_bytes: the size of memory; by default this machine's.
    """
    count = min(len(devices), settings.slots or len(devices))
    run_cpus, compile_cpus = divide_cpus(find_cores() if cores is None else cores, count)
    share_bytes = (machine_memory_bytes() if machine_bytes is None else machine_bytes) * 3 // 4 // count
    return tuple(
        Slot(
            number=number,
            device=device,
            run_cpus=settings.run_cpu_set or run_cpus[number],
            compile_cpus=settings.compile_cpu_set or compile_cpus,
            memory_bytes=min(settings.memory_bytes, share_bytes),
            compile_memory_bytes=min(settings.compile_memory_bytes, share_bytes),
        )
        for number, device in enumerate(devices[:count])
    )


def divide_cpus(
    cores: Sequence[Sequence[int]], slots: int
) -> tuple[tuple[tuple[int, ...], ...], tuple[int, ...]]:
    """Return the CPUs of each slot and of the compilers; empty sets if there are too few cores.

    Hardware threads of one core stay together, because they share its execution units.
    """
    if len(cores) < max(MIN_CORES, slots + 1):
        return ((),) * slots, ()
    per_slot = max(1, (len(cores) - len(cores) // COMPILE_SHARE) // slots)
    chunks = tuple(_flatten(cores[number * per_slot : (number + 1) * per_slot]) for number in range(slots))
    return chunks, _flatten(cores[slots * per_slot :])


def find_cores(topology: Path = _TOPOLOGY, cpus: Iterable[int] | None = None) -> list[tuple[int, ...]]:
    """Return the CPUs that this process may use, grouped by core."""
    allowed = sorted(os.sched_getaffinity(0) if cpus is None else cpus)
    groups: dict[tuple[int, ...], list[int]] = {}
    for cpu in allowed:
        groups.setdefault(_siblings(topology, cpu), []).append(cpu)
    return [tuple(group) for group in groups.values()]


def format_cpus(cpus: Sequence[int]) -> str:
    """Format a set of CPUs as in the setting."""
    return ",".join(map(str, cpus))


def slot_environ(slot: Slot, environ: Mapping[str, str], settings: Settings) -> dict[str, str]:
    """Return the environment of a slot's process."""
    return {**environ, **settings.judge_environ(), **slot.environ()}


def _siblings(topology: Path, cpu: int) -> tuple[int, ...]:
    try:
        text = (topology / f"cpu{cpu}" / "topology" / "thread_siblings_list").read_text(encoding="ascii")
        return cpu_set(text.strip())
    except (OSError, ValueError):
        return (cpu,)


def _flatten(cores: Sequence[Sequence[int]]) -> tuple[int, ...]:
    return tuple(sorted(cpu for core in cores for cpu in core))
