"""The checks of a machine with a GPU, on fake trees of the kernel's files."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.gpu_sysfs import add_gpu
from tests.support.gpu_tree import DEVICE, make_gpu_tree, set_mode, write
from warmfront import gpus
from warmfront.hip.gpu_health import GpuHealth, HealthCheck
from warmfront.hip.gpu_host import GpuHost, check_host, clear_lds

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NODE = "sys/class/kfd/kfd/topology/nodes/1"


def checks_of(host: GpuHost) -> dict[str, HealthCheck]:
    """Check a machine that was leased as an MI300X."""
    return {check.name: check for check in check_host(host, expected=gpus.MI300X)}


def test_a_healthy_machine_passes_every_check(tmp_path: Path) -> None:
    """A tree of files like the driver's for an MI300X passes."""
    host = make_gpu_tree(tmp_path)
    health = GpuHealth(checks=check_host(host, expected=gpus.MI300X), stage="host")
    assert [check for check in health.checks if not check.ok] == []
    report = json.loads(json.dumps(health.to_json()))
    assert report["ok"] is True
    [gpu] = [check for check in report["checks"] if check["name"] == "GPU"]
    assert gpu["detail"] == "MI300X: gfx942, 304 CUs, 206 GB, SPX/NPS1"


def _replace_gpu(root: Path, **facts: Any) -> None:
    shutil.rmtree(root / "sys")
    add_gpu(root / "sys", 1, **facts)


BROKEN: dict[str, tuple[str, str, Callable[[Path], object]]] = {
    "no /dev/kfd": ("/dev/kfd", "no such file", lambda root: (root / "dev/kfd").unlink()),
    "kfd of root alone": ("/dev/kfd", "may not open", lambda root: set_mode(root / "dev/kfd", 0o600)),
    "no render node": (
        "/dev/dri/renderD128",
        "no such file",
        lambda root: (root / "dev/dri/renderD128").unlink(),
    ),
    "no driver": (
        "amdgpu driver",
        "not loaded",
        lambda root: (root / "sys/module/amdgpu").rename(root / "gone"),
    ),
    "driver too old": (
        "amdgpu driver",
        "too old",
        lambda root: write(root, "sys/module/amdgpu/version", "6.8.5\n"),
    ),
    "driver too new": (
        "amdgpu driver",
        "too new",
        lambda root: write(root, "opt/rocm/.info/version", "6.1.3-122\n"),
    ),
    "another architecture": (
        "GPU",
        "gfx90a, 104 CUs, 206 GB, SPX/NPS1; expected: MI300X",
        lambda root: _replace_gpu(
            root, gfx_target_version=90010, compute_units=104, name="AMD Instinct MI210"
        ),
    ),
    "an unknown architecture": (
        "GPU",
        "not in the catalog: gfx1100",
        lambda root: _replace_gpu(root, gfx_target_version=110000),
    ),
    "a partition": (
        "GPU",
        "MI300X-CPX-NPS4: gfx942, 38 CUs",
        lambda root: _replace_gpu(root, partition="CPX/NPS4", compute_units=38, memory_bytes=24 << 30),
    ),
    "no GPU in the topology": (
        "GPU",
        "none in the driver's topology",
        lambda root: write(root, f"{NODE}/properties", "gfx_target_version 0\n"),
    ),
    "full VRAM": (
        "VRAM",
        "180.0 of 206.1 GB",
        lambda root: write(root, f"{DEVICE}/mem_info_vram_used", f"{180 * 10**9}\n"),
    ),
    "ECC errors": (
        "ECC",
        "2 uncorrectable and 7 corrected",
        lambda root: write(root, f"{DEVICE}/ras/umc_err_count", "ue: 2\nce: 7\n"),
    ),
}


@pytest.mark.parametrize("variant", BROKEN)
def test_a_broken_machine_is_not_healthy(variant: str, tmp_path: Path) -> None:
    """Each fault makes its check fail; the check says what was found and what to do."""
    name, detail, break_it = BROKEN[variant]
    host = make_gpu_tree(tmp_path)
    break_it(tmp_path)
    failed = checks_of(host)[name]
    assert not failed.ok
    assert failed.required
    assert detail in failed.detail
    assert failed.remedy


def test_a_small_tmpfs_is_reported(tmp_path: Path) -> None:
    """The data of cases must fit into /dev/shm."""
    host = replace(make_gpu_tree(tmp_path), min_shared_memory_bytes=1 << 60)
    check = checks_of(host)["/dev/shm"]  # noqa: S108 - the name of the check
    assert not check.ok
    assert "; the data of cases needs " in check.detail


@pytest.mark.parametrize(
    ("name", "break_it"),
    [
        ("clocks", lambda root: write(root, f"{DEVICE}/power_dpm_force_performance_level", "low\n")),
        ("power cap", lambda root: write(root, f"{DEVICE}/hwmon/hwmon4/power1_cap", "300000000\n")),
        ("GPU processes", lambda root: write(root, "sys/class/kfd/kfd/proc/77/pasid", "32769\n")),
        ("LDS between tenants", lambda root: write(root, f"{DEVICE}/enforce_isolation", "0\n")),
        ("LDS between tenants", lambda root: (root / f"{DEVICE}/enforce_isolation").unlink()),
        ("pinned memory", lambda root: write(root, f"{DEVICE}/mem_info_gtt_total", f"{230 << 30}\n")),
    ],
)
def test_advice_does_not_make_a_machine_unhealthy(
    name: str, break_it: Callable[[Path], object], tmp_path: Path
) -> None:
    """A slow clock is reported, but the machine may judge."""
    host = make_gpu_tree(tmp_path)
    break_it(tmp_path)
    checks = check_host(host, expected=gpus.MI300X)
    assert [check.name for check in checks if not check.ok] == [name]
    assert GpuHealth(checks=checks, stage="host").ok


def test_a_machine_without_any_file_is_described(tmp_path: Path) -> None:
    """An empty tree, as on a laptop, fails without an exception."""
    health = GpuHealth(checks=check_host(GpuHost(root=tmp_path)), stage="host")
    assert not health.ok
    assert "/dev/kfd: no such file" in health.summary()


def test_the_second_gpu_of_a_node_is_checked_by_itself(tmp_path: Path) -> None:
    """With 8 GPUs, errors of one do not fail the others."""
    host = make_gpu_tree(tmp_path)
    add_gpu(tmp_path / "sys", 2, bus=9, render_minor=136)
    write(tmp_path, "sys/class/drm/renderD136/device/ras/umc_err_count", "ue: 1\nce: 0\n")
    assert checks_of(host)["ECC"].ok
    second = checks_of(replace(host, render_minor=136))
    assert "/dev/dri/renderD136" in second
    assert not second["ECC"].ok


def test_the_cleaner_of_the_driver_is_used_where_it_is_offered(tmp_path: Path) -> None:
    """If isolation is off but the cleaner can be started, the listener starts it after each run."""
    host = make_gpu_tree(tmp_path)
    write(tmp_path, f"{DEVICE}/enforce_isolation", "0\n")
    write(tmp_path, f"{DEVICE}/run_cleaner_shader", "")
    assert checks_of(host)["LDS between tenants"].detail == "cleared after each run"
    assert clear_lds(host)
    assert (tmp_path / DEVICE / "run_cleaner_shader").read_text() == "0"


def test_a_driver_without_a_cleaner_is_left_alone(tmp_path: Path) -> None:
    """No file is made where the driver offers none."""
    assert not clear_lds(make_gpu_tree(tmp_path))
    assert not (tmp_path / DEVICE / "run_cleaner_shader").exists()
    assert not clear_lds(GpuHost(root=tmp_path / "empty"))
