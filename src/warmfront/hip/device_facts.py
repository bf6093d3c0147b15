"""Facts about a GPU, from the kernel driver's files and from the HIP runtime in our own program.

`installed_devices` reads sysfs and does not need ROCm. `parse_device_facts` reads the answer that the harness
gives before submitted code is loaded. Both check bounds: a missing or implausible field is left empty or 0,
because a driver may lack any file.
"""

from __future__ import annotations

import json
import os
import re
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from warmfront.errors import ToolchainFailed
from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

#: Where the kernel presents devices.
SYSFS = Path("/sys")

#: The largest file of sysfs, and the largest answer of the harness, that is read.
MAX_BYTES = 16 * 1024
#: The most topology nodes that are read: more than the CPUs, GPUs and partitions of any machine.
MAX_NODES = 512

_MAX_TEXT = 96
_ARCH = re.compile(r"gfx[0-9a-f]{3,5}")
_PCI_BUS_ID = re.compile(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")
_PARTITION = re.compile(r"[A-Z]{3}/NPS[1-9]")
#: Upper bounds of numbers: larger values are implausible for a GPU.
_MAX_UNITS = 1 << 16
_MAX_MEMORY_BYTES = 1 << 50
_MAX_MINOR = 1 << 20
_MAX_UNIQUE_ID = 1 << 64


@dataclass(frozen=True, kw_only=True)
class DeviceFacts:
    """One device as HIP counts them: a GPU, a die of an MI250X, or a partition of a GPU."""

    arch: str  #: LLVM target name without features, such as `gfx942`
    name: str = ""  #: the product's name, such as `AMD Instinct MI300X`
    compute_units: int = 0
    memory_bytes: int = 0
    partition: str = ""  #: compute and memory partition, such as `SPX/NPS1`; empty if not reported
    driver_version: str = ""  #: of the amdgpu module; the kernel's release if it is part of the kernel
    hip_runtime_version: str = ""  #: such as `6.4.43484`; empty if the facts are from the driver only
    pci_bus_id: str = ""  #: such as `0000:05:00.0`; partitions of one GPU have the same
    render_minor: int | None = None  #: 128 for /dev/dri/renderD128
    unique_id: int | None = None  #: serial number; ROCR_VISIBLE_DEVICES accepts it

    @property
    def render_node(self) -> str | None:
        """The device file that a process needs in addition to /dev/kfd; None if unknown."""
        return None if self.render_minor is None else f"/dev/dri/renderD{self.render_minor}"

    def to_json(self) -> dict[str, Any]:
        """Return the facts as JSON types."""
        return asdict(self)

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Self:
        """Parse the facts from JSON types. Unknown fields are ignored, implausible ones are left empty.

        Raises:
            ToolchainFailed: the architecture is missing or invalid.
        """
        arch = _text(fields.get("arch")).partition(":")[0]  # without features such as :sramecc+
        if not _ARCH.fullmatch(arch):
            raise ToolchainFailed(f"The device reports an unknown architecture: {arch or 'none'!r}.")
        return cls(
            arch=arch,
            name=_text(fields.get("name")),
            compute_units=_number(fields.get("compute_units"), _MAX_UNITS) or 0,
            memory_bytes=_number(fields.get("memory_bytes"), _MAX_MEMORY_BYTES) or 0,
            partition=_matching(_PARTITION, fields.get("partition")),
            driver_version=_text(fields.get("driver_version")),
            hip_runtime_version=_text(fields.get("hip_runtime_version")),
            pci_bus_id=_matching(_PCI_BUS_ID, fields.get("pci_bus_id")),
            render_minor=_number(fields.get("render_minor"), _MAX_MINOR),
            unique_id=_number(fields.get("unique_id"), _MAX_UNIQUE_ID),
        )

    def completed_by(self, other: DeviceFacts) -> DeviceFacts:
        """Return these facts, with empty fields filled from `other`, such as the driver's facts."""
        missing = {
            name: value for name, value in asdict(other).items() if getattr(self, name) in {"", 0, None}
        }
        return replace(self, **missing)


def confirm_device(by_runtime: DeviceFacts, by_driver: DeviceFacts | None) -> DeviceFacts:
    """Check that two sets of facts describe the same device, and combine them.

    Raises:
        ToolchainFailed: the box got a different device than the one chosen for it.
    """
    if by_driver is None:
        return by_runtime
    for name in ("arch", "compute_units", "pci_bus_id"):
        # HIP does not report the function of a PCI address, the digit after the dot.
        got, wanted = (str(getattr(facts, name)).partition(".")[0] for facts in (by_runtime, by_driver))
        if got not in {wanted, "", "0"} and wanted not in {"", "0"}:
            raise ToolchainFailed(
                f"The box has a different GPU than the driver reports: {name} {got}, not {wanted}."
            )
    return by_runtime.completed_by(by_driver)


def parse_device_facts(answer: bytes) -> DeviceFacts:
    """Parse the harness's answer to DESCRIBE: one JSON object.

    Raises:
        ToolchainFailed: the answer is too long, is not a JSON object, or has no architecture.
    """
    try:
        fields = json.loads(answer) if len(answer) <= MAX_BYTES else None
    except (ValueError, RecursionError):
        fields = None
    if not isinstance(fields, dict):
        raise ToolchainFailed("The harness did not report its device.")
    return DeviceFacts.from_json(fields)


def installed_devices(sysfs: Path = SYSFS) -> tuple[DeviceFacts, ...]:
    """Return the GPUs that the kernel driver presents, in the order in which HIP counts them.

    A container sees only the devices that were passed to it: the driver hides the properties of others.
    """
    nodes = sysfs / "class" / "kfd" / "kfd" / "topology" / "nodes"
    numbers = sorted(int(node.name) for node in _entries(nodes) if node.name.isdecimal())[:MAX_NODES]
    driver_version = _line(sysfs / "module" / "amdgpu" / "version") or os.uname().release
    devices = (_device(nodes / str(number), sysfs, driver_version) for number in numbers)
    return tuple(device for device in devices if device is not None)


def arch_of(gfx_target_version: int) -> str:
    """Return the architecture for the driver's number: 90402 is gfx942, 90010 is gfx90a."""
    major, minor, stepping = (
        gfx_target_version // 10_000,
        gfx_target_version // 100 % 100,
        gfx_target_version % 100,
    )
    return f"gfx{major}{minor:x}{stepping:x}"


def _device(node: Path, sysfs: Path, driver_version: str) -> DeviceFacts | None:
    """Return the facts of a topology node; None if it is a CPU, or hidden from this process."""
    properties = _properties(node)
    version = properties.get("gfx_target_version", 0)
    if version == 0 or not _ARCH.fullmatch(arch_of(version)):
        return None
    pci_bus_id = _pci_bus_id(properties)
    card = _card(sysfs, pci_bus_id)
    return DeviceFacts.from_json(
        {
            "arch": arch_of(version),
            "name": _line(card / "product_name") if card else "",
            "compute_units": properties.get("simd_count", 0) // (properties.get("simd_per_cu") or 4),
            "memory_bytes": sum(
                _properties(bank).get("size_in_bytes", 0) for bank in _entries(node / "mem_banks")
            ),
            "partition": _partition(card),
            "driver_version": driver_version,
            "pci_bus_id": pci_bus_id,
            "render_minor": properties.get("drm_render_minor") or None,
            "unique_id": properties.get("unique_id") or None,
        }
    )


def _pci_bus_id(properties: Mapping[str, int]) -> str:
    """Return the PCI address of a node. Bits 28 and up of `location_id` number the partition."""
    location = properties.get("location_id", 0) & 0x0FFF_FFFF
    if location == 0:
        return ""
    domain = properties.get("domain", 0)
    return f"{domain:04x}:{location >> 8 & 0xFF:02x}:{location >> 3 & 0x1F:02x}.{location & 7}"


def _card(sysfs: Path, pci_bus_id: str) -> Path | None:
    """Return the folder of the PCI device with this address. The partitions of a GPU share its folder."""
    if not pci_bus_id:
        return None
    for card in sorted(_entries(sysfs / "class" / "drm")):
        device = card / "device"
        if re.fullmatch(r"(card|renderD)\d+", card.name) and device.resolve().name == pci_bus_id:
            return device
    direct = sysfs / "bus" / "pci" / "devices" / pci_bus_id
    return direct if direct.is_dir() else None


def _partition(card: Path | None) -> str:
    if card is None:
        return ""
    compute, memory = _line(card / "current_compute_partition"), _line(card / "current_memory_partition")
    return f"{compute}/{memory or 'NPS1'}" if compute else ""


def _properties(folder: Path) -> dict[str, int]:
    """Return a node's properties from its `name number` lines; empty if this process may not read them."""
    pairs = (line.partition(" ") for line in _read(folder / "properties").splitlines())
    return {
        name: int(value)
        for name, _, value in pairs
        if value.isascii() and value.isdecimal() and len(value) <= 20
    }


def _entries(folder: Path) -> Iterable[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return ()


def _line(path: Path) -> str:
    """Return the first line of a file; empty if the file is empty or cannot be read."""
    return _text(_read(path).partition("\n")[0])


def _read(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(MAX_BYTES).decode(errors="replace")
    except OSError:
        return ""


def _text(value: object) -> str:
    text = value[:_MAX_TEXT] if isinstance(value, str) else ""
    return "".join(character for character in text if character.isprintable()).strip()


def _matching(pattern: re.Pattern[str], value: object) -> str:
    text = _text(value)
    return text if pattern.fullmatch(text) else ""


def _number(value: object, limit: int) -> int | None:
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return value if is_number and isinstance(value, int) and 0 <= value < limit else None
