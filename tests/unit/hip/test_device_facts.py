"""The description of a device, from the kernel driver's files and from the harness."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.support.gpu_sysfs import GIB, add_cpu, add_gpu
from warmfront.errors import ToolchainFailed
from warmfront.hip.device_facts import DeviceFacts, confirm_device, installed_devices, parse_device_facts

if TYPE_CHECKING:
    from pathlib import Path


def test_a_gpu_is_described_by_the_driver(tmp_path: Path) -> None:
    """Node 0 is the CPU; the GPU's facts are in its node and in the folder of its PCI device."""
    add_cpu(tmp_path, 0)
    add_gpu(tmp_path, 1)
    [device] = installed_devices(tmp_path)
    assert device == DeviceFacts(
        arch="gfx942",
        name="AMD Instinct MI300X OAM",
        compute_units=304,
        memory_bytes=192 * GIB,
        partition="SPX/NPS1",
        driver_version="6.12.12",
        pci_bus_id="0000:05:00.0",
        render_minor=128,
        unique_id=1001,
    )
    assert device.render_node == "/dev/dri/renderD128"
    assert DeviceFacts.from_json(json.loads(json.dumps(device.to_json()))) == device


def test_partitions_of_a_gpu_are_separate_devices(tmp_path: Path) -> None:
    """Eight partitions share one PCI address; each has its own render node, compute units and memory."""
    add_cpu(tmp_path, 0)
    for number in range(8):
        add_gpu(
            tmp_path,
            number + 1,
            xcc_number=number,
            compute_units=38,
            memory_bytes=48 * GIB,
            partition="CPX/NPS4",
        )
    devices = installed_devices(tmp_path)
    assert [device.render_minor for device in devices] == list(range(128, 136))
    assert {device.pci_bus_id for device in devices} == {"0000:05:00.0"}
    assert {device.partition for device in devices} == {"CPX/NPS4"}
    assert {device.compute_units for device in devices} == {38}


def test_gpus_are_counted_in_the_order_of_their_nodes(tmp_path: Path) -> None:
    """Node 10 follows node 9, as HIP counts them."""
    for number in range(12):
        add_gpu(tmp_path, number, bus=number + 1, render_minor=128 + number)
    assert [device.render_minor for device in installed_devices(tmp_path)] == list(range(128, 140))


def test_files_that_are_missing_or_damaged_are_no_facts(tmp_path: Path) -> None:
    """Missing facts and files with invalid content do not make the description fail."""
    assert installed_devices(tmp_path / "missing") == ()
    add_gpu(tmp_path, 1)
    node = tmp_path / "class/kfd/kfd/topology/nodes/1"
    (node / "properties").write_bytes(
        b"gfx_target_version 90402\nsimd_count \xff\xff\nlocation_id 99999999999999999999999\n"
    )
    (node / "mem_banks/0/properties").unlink()
    [device] = installed_devices(tmp_path)
    assert (device.arch, device.compute_units, device.memory_bytes) == ("gfx942", 0, 0)
    assert (device.pci_bus_id, device.partition, device.render_node) == ("", "", None)
    (
        node / "properties"
    ).unlink()  # the driver hides the nodes of devices that were not passed to a container
    assert installed_devices(tmp_path) == ()


def test_runtime_and_driver_complete_each_other() -> None:
    """The runtime knows its version, and the driver the partition."""
    by_runtime = parse_device_facts(
        b'{"arch":"gfx942:sramecc+:xnack-","name":"AMD Instinct MI300X","compute_units":304,'
        b'"memory_bytes":206141652992,"pci_bus_id":"0000:05:00.0","hip_runtime_version":"6.4.43484"}'
    )
    by_driver = DeviceFacts(
        arch="gfx942", name="OAM", compute_units=304, partition="SPX/NPS1", render_minor=128
    )
    device = by_runtime.completed_by(by_driver)
    assert (device.name, device.hip_runtime_version) == ("AMD Instinct MI300X", "6.4.43484")
    assert (device.partition, device.render_minor) == ("SPX/NPS1", 128)


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"[]",
        b"{}",
        b'{"arch":"gfx942\\u001b[2J"}',
        b'{"arch":5}',
        b"[" * 4000,
        b'{"arch":"gfx942","name":"' + b"x" * 20_000 + b'"}',
    ],
)
def test_an_answer_that_is_no_description_is_refused(answer: bytes) -> None:
    """The parser has bounds, although the harness is our own program."""
    with pytest.raises(ToolchainFailed):
        parse_device_facts(answer)


def test_implausible_fields_are_left_empty() -> None:
    """Numbers have a type and a range, and text has no control characters and a limited length."""
    device = DeviceFacts.from_json(
        {
            "arch": "gfx950",
            "name": "A\x1b[31m" + "B" * 500,
            "compute_units": -1,
            "memory_bytes": True,
            "partition": "../../etc",
            "pci_bus_id": "0000:05:00.0; rm",
            "render_minor": "128",
        }
    )
    assert len(device.name) <= 96
    assert device.name.isprintable()
    assert (device.compute_units, device.memory_bytes, device.partition) == (0, 0, "")
    assert (device.pci_bus_id, device.render_minor) == ("", None)


def test_a_box_with_another_gpu_than_its_own_is_noticed() -> None:
    """A kernel must not be timed on a neighbor's device, or on one of another kind."""
    by_driver = DeviceFacts(arch="gfx942", compute_units=304, pci_bus_id="0000:05:00.1", partition="SPX/NPS1")
    same = DeviceFacts(
        arch="gfx942", compute_units=304, pci_bus_id="0000:05:00.0", hip_runtime_version="7.0.1"
    )
    assert confirm_device(same, by_driver).partition == "SPX/NPS1"
    assert confirm_device(same, None) is same
    with pytest.raises(ToolchainFailed, match="pci_bus_id 0000:26:00, not 0000:05:00"):
        confirm_device(DeviceFacts(arch="gfx942", pci_bus_id="0000:26:00.0"), by_driver)
    with pytest.raises(ToolchainFailed, match="compute_units 38, not 304"):
        confirm_device(DeviceFacts(arch="gfx942", compute_units=38), by_driver)
