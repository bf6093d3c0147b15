"""The `stub` toolchain: a GPU that does not exist, for tests and rehearsals of everything around a GPU.

It compiles with the `cpu` toolchain and runs on the CPU runtime, which counts the time of a GPU as virtual
time. The judge uses it like a GPU: the harness owns the memory, the guest opens it by IPC, and elapsed
(virtual) time counts. So times do not depend on this machine or its load.
"""

from __future__ import annotations

import functools
import os
from dataclasses import replace
from typing import TYPE_CHECKING

from warmfront import gpus
from warmfront.hip.cpu.cpu_toolchain import CpuToolchain
from warmfront.hip.device_facts import DeviceFacts
from warmfront.hip.rocm import pinning_environ
from warmfront.hip.stub.stub_device import MEMORY, STATE, StubMachine
from warmfront.hip.stub.stub_spec import StubSpec
from warmfront.hip.toolchain import GuardZones
from warmfront.problems.spec import Scale

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from warmfront.gpus import Gpu
    from warmfront.hip.cpu.host_compiler import HostCompiler
    from warmfront.sandbox.base import Template
    from warmfront.settings import Settings

#: Variables that choose devices, as for ROCm.
VISIBLE_DEVICES = ("ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES")

#: The unique id of the first stub device; stub_gpu.cpp has the same.
FIRST_UNIQUE_ID = 0x5700000000000000


class StubToolchain(CpuToolchain):
    """The toolchain that runs HIP on stub devices. See `Toolchain` for the interface.

    Example:
        >>> toolchain = StubToolchain(settings.cache_dir, StubSpec.parse("copy_gbps=2,fault=hang"))
        >>> toolchain.machine.advance(1.0)  # the host was busy for a second
    """

    name = "stub"
    guards = GuardZones(front_bytes=4096, back_bytes=4096, align=256)  # as for rocm
    shared_memory = False
    flush_bytes = 4 << 20  # caches are not modeled; a GPU's size would take the CPU 50 ms per call
    counts_cpu_time = False

    def __init__(
        self,
        cache_dir: Path,
        spec: StubSpec | None = None,
        compiler: HostCompiler | None = None,
        *,
        gpu: Gpu = gpus.MI300X,
        device: DeviceFacts | None = None,
        base: Path | None = None,
    ) -> None:
        super().__init__(cache_dir, compiler, gpu=gpu)
        self.spec = spec or StubSpec()
        self.device = device or next(iter(visible_stub_devices(self.spec, gpu)), None)
        self.scale = Scale(self.spec.scale)
        self._base = base  # of the folders of boxes

    def _make_checked_build(self) -> None:
        """Return None, because there is no bug finder, as on a GPU."""

    @functools.cached_property
    def machine(self) -> StubMachine:
        """The devices, which are created when they are first needed."""
        return StubMachine(self.spec.devices, self._base)

    @property
    def device_index(self) -> int:
        """The number of the device that boxes use."""
        return 0 if self.device is None else (self.device.unique_id or FIRST_UNIQUE_ID) - FIRST_UNIQUE_ID

    def elapsed_s(self) -> float:
        """Return the virtual time of the device."""
        return self.machine.now_s(self.device_index)

    def keep_busy(self, seconds: float) -> bool:
        """Raise the model's clocks directly, because calls would take a hundred times their virtual time."""
        self.machine.keep_busy(seconds, self.device_index)
        return True

    def run_template(self, settings: Settings) -> Template:
        """Return the box that runs the guest with access to the stub devices."""
        template = super().run_template(settings)
        env = {
            **template.env,
            **pinning_environ(self.device),
            "HIPCPU_STUB_GPU": self.spec.runtime_text(self.gpu),
            "HIPCPU_STUB_STATE": STATE,
            "HIPCPU_IPC_DIR": MEMORY,
        }
        return replace(template, env=env, mounts=(*template.mounts, *self.machine.mounts))

    def harness_template(self, settings: Settings) -> Template:
        """Return the box of the harness. Its kernels cause no faults; only those of a submission do."""
        template = super().harness_template(settings)
        lasting = self.spec.fault in {"no_device", "memory_full"}
        spec = self.spec if lasting else replace(self.spec, fault="")
        return replace(template, env={**template.env, "HIPCPU_STUB_GPU": spec.runtime_text(self.gpu)})


def stub_devices(spec: StubSpec, gpu: Gpu) -> list[DeviceFacts]:
    """Return the devices of a machine with this stub GPU for `gpu`."""
    shown = spec.shown_gpu(gpu)
    return [
        DeviceFacts(
            arch=spec.arch or gpu.arch,
            name=f"AMD Instinct {shown.name} (stub GPU)",
            compute_units=shown.compute_units,
            memory_bytes=spec.memory_bytes(gpu),
            partition="SPX/NPS1",
            pci_bus_id=f"0000:{index + 5:02x}:00.0",
            unique_id=FIRST_UNIQUE_ID + index,
        )
        for index in range(0 if spec.fault == "no_device" else spec.devices)
    ]


def visible_stub_devices(
    spec: StubSpec, gpu: Gpu, environ: Mapping[str, str] | None = None
) -> list[DeviceFacts]:
    """Return the devices that ROCm's variables make visible: see `VISIBLE_DEVICES`."""
    devices = stub_devices(spec, gpu)
    for name in VISIBLE_DEVICES:
        text = (os.environ if environ is None else environ).get(name)
        if text is not None:
            devices = _chosen(devices, text)
    return devices


def _chosen(devices: list[DeviceFacts], text: str) -> list[DeviceFacts]:
    """Return the devices in a list of numbers or ids; as with ROCm, one that does not exist ends the list."""
    by_name = {str(index): device for index, device in enumerate(devices)}
    by_name |= {f"GPU-{device.unique_id:016x}": device for device in devices}
    chosen = []
    for item in text.split(","):
        if item.strip() not in by_name:
            break
        chosen.append(by_name[item.strip()])
    return chosen
