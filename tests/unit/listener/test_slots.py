"""How a machine is divided between the slots of its devices."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from warmfront import settings
from warmfront.hip.device_facts import DeviceFacts
from warmfront.listener import slots as slots_module
from warmfront.listener.slots import divide_cpus, find_cores, find_devices, plan_slots

if TYPE_CHECKING:
    from pathlib import Path

GIB = 1 << 30
DEVICES = tuple(
    DeviceFacts(arch="gfx942", pci_bus_id=f"0000:{number:02x}:00.0", render_minor=128 + number)
    for number in range(8)
)
#: A node with 8 GPUs: 80 cores with two hardware threads each.
CORES = [(core, core + 80) for core in range(80)]


def test_eight_gpus_are_eight_slots() -> None:
    """Each slot has its device, its CPUs and its share of the memory; compilers have their own CPUs."""
    configured = settings.load({"AMD_CONTAINER_MEMORY_LIMIT": "512GB"}, env_file=None)
    slots = plan_slots(DEVICES, configured, cores=CORES, machine_bytes=1600 * GIB)
    assert [slot.device for slot in slots] == list(DEVICES)
    run_cpus = [cpu for slot in slots for cpu in slot.run_cpus]
    compile_cpus = slots[0].compile_cpus
    assert len(run_cpus) == len(set(run_cpus)), "no two slots share a CPU"
    assert not set(run_cpus) & set(compile_cpus), "no compiler runs on the CPUs of a slot"
    assert sorted({*run_cpus, *compile_cpus}) == list(range(160)), "no CPU is left over"
    assert {len(slot.run_cpus) for slot in slots} == {14}
    assert all((cpu + 80) % 160 in slot.run_cpus for slot in slots for cpu in slot.run_cpus), "whole cores"
    assert {slot.memory_bytes for slot in slots} == {150 * GIB}


@pytest.mark.parametrize(("cores", "slots"), [(2, 1), (3, 1), (2, 8), (8, 8)])
def test_a_machine_with_few_cores_is_not_divided(cores: int, slots: int) -> None:
    """Every box may use every CPU."""
    assert divide_cpus([(core,) for core in range(cores)], slots) == (((),) * slots, ())


def test_one_gpu_shares_nothing_with_compilers() -> None:
    """A VM with one GPU: the next attempt is compiled on other CPUs than the kernel that is timed."""
    assert divide_cpus([(0,), (1,), (2,), (3,)], 1) == (((0, 1, 2),), (3,))
    assert divide_cpus([(core,) for core in range(9)], 8)[1] == (8,)


def test_cores_are_read_from_the_topology(tmp_path: Path) -> None:
    """Hardware threads of one core are one entry; a CPU without a description is a core."""
    for cpu, siblings in {0: "0,2", 1: "1,3", 2: "0,2", 3: "1,3"}.items():
        folder = tmp_path / f"cpu{cpu}" / "topology"
        folder.mkdir(parents=True)
        (folder / "thread_siblings_list").write_text(f"{siblings}\n")
    assert find_cores(tmp_path, range(5)) == [(0, 2), (1, 3), (4,)]


def test_the_process_of_a_slot_gets_its_share_as_settings() -> None:
    """From the variables of a slot, `load` restores its CPUs and its memory."""
    slot = plan_slots(DEVICES, settings.load({}, env_file=None), cores=CORES, machine_bytes=64 * GIB)[2]
    loaded = settings.load(slot.environ(), env_file=None)
    assert loaded.run_cpu_set == slot.run_cpus
    assert loaded.compile_limits().cpu_set == slot.compile_cpus
    assert loaded.memory_bytes == slot.memory_bytes == 6 * GIB
    assert loaded.slots == 1
    assert '"render_minor": 130' in slot.arguments()[1]


def test_an_operator_can_limit_slots_and_choose_cpus() -> None:
    """WARMFRONT_SLOTS, WARMFRONT_RUN_CPUS and WARMFRONT_COMPILE_CPUS override the listener's own choice."""
    variables = {"WARMFRONT_SLOTS": "2", "WARMFRONT_RUN_CPUS": "0-3,8", "WARMFRONT_COMPILE_CPUS": "9"}
    first, second = plan_slots(DEVICES, settings.load(variables, env_file=None), cores=CORES)
    assert first.run_cpus == second.run_cpus == (0, 1, 2, 3, 8)
    assert first.compile_cpus == (9,)


def test_a_gpu_per_slot_needs_docker(monkeypatch: pytest.MonkeyPatch) -> None:
    """Elsewhere a box could reach the GPUs of its neighbors, so there is one slot."""
    monkeypatch.setattr(slots_module, "installed_devices", lambda: DEVICES)
    assert find_devices("rocm", settings.load({"WARMFRONT_SANDBOX": "docker"}, env_file=None)) == DEVICES
    assert find_devices("rocm", settings.load({}, env_file=None)) == (None,)
    assert find_devices("cpu", settings.load({}, env_file=None)) == (None,)
