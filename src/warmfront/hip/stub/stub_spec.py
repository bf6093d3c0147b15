"""The parameters of a stub GPU: `arch=gfx942,copy_gbps=10,launch_us=6,fault=hang`."""

from __future__ import annotations

import math
import re
from dataclasses import field, fields
from typing import TYPE_CHECKING, Any, Self

from warmfront import gpus
from warmfront.errors import BadSetting
from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping

    from warmfront.gpus import Gpu

#: The setting with the parameters.
VARIABLE = "WARMFRONT_STUB_GPU"

#: The faults of a device; docs/stub-gpu.md describes each of them.
FAULTS = ("no_device", "memory_fault", "hang", "stuck", "reset", "off_the_bus", "memory_full", "ecc")

MAX_DEVICES = 64
_KERNEL = "kernel."
_ARCH = re.compile(r"gfx[0-9a-f]{3,5}")
_KERNEL_NAME = re.compile(r"[A-Za-z_]\w{0,127}")
_POSITIVE = frozenset({"copy_gbps", "pinned_gbps", "hbm_gbps", "memory_gb", "devices", "fault_launch"})


@dataclass(frozen=True, kw_only=True)
class StubSpec:
    """The parameters of a stub GPU. Times are in virtual microseconds, and rates in 10^9 bytes per second."""

    arch: str = ""  #: of the devices; by default that of the submission's GPU
    devices: int = 1
    memory_gb: float = 0.0  #: of a device, in 10^9 bytes; by default that of the GPU
    scale: str = "cpu"  #: the size of the cases, `cpu` or `gpu`

    copy_gbps: float = 10.0  #: between the device and pageable host memory
    pinned_gbps: float = 0.0  #: between the device and pinned host memory; by default `copy_gbps`
    hbm_gbps: float = 4000.0  #: memory of the device
    first_touch_gbps: float = 0.0  #: the first access to an allocation, by a process; 0 if it is not slower

    copy_us: float = 10.0  #: latency of a copy between host and device
    launch_us: float = 6.0  #: from a launch to the start of the kernel, if the device is idle
    sync_us: float = 8.0  #: from the end of the work to the return of a synchronization
    event_us: float = 2.0  #: recording an event, on the device
    call_us: float = 1.0  #: every HIP call, on the host
    malloc_us: float = 50.0  #: an allocation, on the host
    host_allowance_us: float = 1000.0  #: CPU time of host code between two HIP calls that does not count

    idle_clock: float = 0.5  #: clocks of an idle device, relative to full clocks
    idle_us: float = 5000.0  #: how long a device is idle until its clocks are low
    ramp_us: float = 20_000.0  #: how long it is busy until they are full

    kernel_us: float = 4.0  #: the duration of a kernel without its own setting, besides memory traffic
    bytes_per_thread: int = 16  #: the assumed memory traffic per thread
    kernels_us: Mapping[str, float] = field(default_factory=dict)  #: durations of kernels: `kernel.NAME=12.5`

    fault: str = ""  #: one of `FAULTS`
    fault_box: int = 0  #: the fault occurs in this box or a later one, counted from the first start
    fault_launch: int = 1  #: and at this launch, counted over those boxes
    fault_address: int = 0x7F1234567000  #: of `memory_fault`
    reset_boxes: int = 0  #: of `reset`: how many boxes started later still find a device that is being reset

    @classmethod
    def parse(cls, text: str) -> Self:
        """Parse the parameters in a text; the others have their defaults.

        Raises:
            BadSetting: a name is unknown, or a value is not allowed.
        """
        given: dict[str, Any] = {}
        kernels: dict[str, float] = {}
        for pair in filter(None, (part.strip() for part in text.split(","))):
            name, equals, value = (part.strip() for part in pair.partition("="))
            if not equals:
                raise _bad(pair, value, "name=value")
            if name.startswith(_KERNEL):
                kernels[_kernel_name(name)] = _number(name, value, is_whole=False)
            else:
                given[name] = _parse(name, value)
        return cls(**given, kernels_us=kernels)

    def shown_gpu(self, gpu: Gpu) -> Gpu:
        """Return the GPU type of the devices: `gpu`, or another one if the parameters set another arch."""
        return gpu if self.arch in {"", gpu.arch} else gpus.by_arch(self.arch) or gpu

    def memory_bytes(self, gpu: Gpu) -> int:
        """Return the memory of a device."""
        return int(self.memory_gb * 1e9) or self.shown_gpu(gpu).memory_bytes

    def runtime_text(self, gpu: Gpu) -> str:
        """Return the parameters in the format of the CPU runtime, for code that was compiled for `gpu`."""
        device = self.shown_gpu(gpu)
        facts: dict[str, object] = {
            "arch": self.arch or gpu.arch,
            "code_arch": gpu.arch,
            "name": f"AMD Instinct {device.name} (stub GPU)",
            "memory_bytes": self.memory_bytes(gpu),
            "compute_units": device.compute_units,
            "pinned_gbps": self.pinned_gbps or self.copy_gbps,
        }
        others = {
            name: getattr(self, name)
            for name in _NAMES
            if name not in facts and name not in {"memory_gb", "scale"}
        }
        kernels = {f"{_KERNEL}{name}": us for name, us in self.kernels_us.items()}
        return ",".join(f"{name}={value}" for name, value in {**facts, **others, **kernels}.items())


_DEFAULTS = StubSpec()
_NAMES = tuple(item.name for item in fields(StubSpec) if item.name != "kernels_us")


def _parse(name: str, value: str) -> str | int | float:
    if name not in _NAMES:
        raise _bad(name, value, f"one of {', '.join(_NAMES)}, {_KERNEL}NAME", is_name=True)
    if name == "arch" and not _ARCH.fullmatch(value):
        raise _bad(name, value, "an architecture such as gfx942")
    if name == "scale" and value not in {"cpu", "gpu"}:
        raise _bad(name, value, "cpu or gpu")
    if name == "fault" and value not in FAULTS:
        raise _bad(name, value, f"one of {', '.join(FAULTS)}")
    if isinstance(getattr(_DEFAULTS, name), str):
        return value
    return _number(name, value, is_whole=isinstance(getattr(_DEFAULTS, name), int))


def _number(name: str, value: str, *, is_whole: bool) -> int | float:
    least = "above 0" if name in _POSITIVE else "from 0"
    allowed = f"a {'whole ' if is_whole else ''}number {least}"
    if name == "devices":
        allowed += f" to {MAX_DEVICES}"
    try:
        number = int(value, 0) if is_whole else float(value)
    except ValueError:
        raise _bad(name, value, allowed) from None
    too_small = number < 0 or (number == 0 and name in _POSITIVE)
    if not math.isfinite(number) or too_small or (name == "devices" and number > MAX_DEVICES):
        raise _bad(name, value, allowed)
    if name == "idle_clock" and not 0 < number <= 1:
        raise _bad(name, value, "a number above 0 and at most 1")
    return number


def _kernel_name(name: str) -> str:
    kernel = name.removeprefix(_KERNEL)
    if not _KERNEL_NAME.fullmatch(kernel):
        raise _bad(name, kernel, f"{_KERNEL} and the name of a kernel", is_name=True)
    return kernel


def _bad(name: str, value: str, allowed: str, *, is_name: bool = False) -> BadSetting:
    fact = f"{VARIABLE} has {name!r}" if is_name else f"{VARIABLE} has {name}={value!r}"
    return BadSetting(f"{fact}; allowed: {allowed}.", hint=f"Correct {VARIABLE}, or unset it.")
