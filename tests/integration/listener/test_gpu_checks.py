"""The quick health checks of a GPU in boxes, with the programs for GPUs on the CPU runtime."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest

from tests.support.device_toolchain import DeviceToolchain, broken, folder, trusted_sandbox
from tests.support.gpu_tree import make_gpu_tree
from warmfront import gpus, settings
from warmfront.hip.cpu.cpu_toolchain import CpuToolchain
from warmfront.hip.stub.stub_spec import StubSpec
from warmfront.hip.stub.stub_toolchain import StubToolchain
from warmfront.judge.verdict_health import BROKEN
from warmfront.listener import gpu_doctor
from warmfront.listener.gpu_checks import check_gpu

if TYPE_CHECKING:
    from pathlib import Path

    from warmfront.sandbox.base import Sandbox

__all__ = ["broken", "folder", "trusted_sandbox"]  # fixtures: pytest finds them by name

#: A harness on a device that keeps old data: it forwards commands, and forges one answer.
LEAKING_PROGRAM = """
import os, struct, subprocess, sys
harness, box = sys.argv[1:]
inner = box + "/inner"
os.mkdir(inner)
for name in ("commands", "answers"):
    os.mkfifo(f"{inner}/{name}")
open(f"{inner}/data", "wb").close()
subprocess.Popen([harness, inner])
with (open(f"{inner}/commands", "wb", 0) as to, open(f"{inner}/answers", "rb", 0) as back,
      open(f"{box}/commands", "rb") as commands, open(f"{box}/answers", "wb", 0) as answers):
    while header := commands.read(16):
        op, size, _ = struct.unpack("<IIQ", header)
        to.write(header + commands.read(size))
        kind, size, nonce = struct.unpack("<IIQ", back.read(16))
        body = back.read(size) if size else b""
        if op == 20:
            body = struct.pack("<QQQ", 1 << 26, 8, 3)
        answers.write(struct.pack("<IIQ", kind, len(body), nonce) + body)
"""


@pytest.fixture(name="toolchain")
def _toolchain(folder: Path) -> DeviceToolchain:
    toolchain = DeviceToolchain(settings.load().cache_dir)
    toolchain.folder, toolchain.guests, toolchain.harnesses = folder, [None], [None]
    return toolchain


def test_a_device_that_works_passes(
    trusted_sandbox: Sandbox, toolchain: DeviceToolchain, tmp_path: Path
) -> None:
    """The machine, the device in a box, memory between tenants and a kernel are checked."""
    host = make_gpu_tree(tmp_path)
    health = check_gpu(toolchain, trusted_sandbox, settings.load(), expected=gpus.MI300X, host=host)
    assert health.ok, health.summary()
    names = [check.name for check in health.checks]
    assert names[-2:] == ["VRAM between tenants", "kernel in a box"]
    assert "/dev/kfd" in names


def test_a_device_that_does_not_work_fails(
    trusted_sandbox: Sandbox, toolchain: DeviceToolchain, broken: tuple[str, ...]
) -> None:
    """The HIP call that failed is named, and nothing else is tried."""
    toolchain.harnesses = [broken]
    health = check_gpu(toolchain, trusted_sandbox, settings.load())
    assert not health.ok
    assert "hipGetDeviceCount: hipErrorNoDevice" in health.summary()
    assert len(health.checks) == 1


def test_another_device_than_the_leased_one_fails(
    trusted_sandbox: Sandbox, toolchain: DeviceToolchain
) -> None:
    """The GPU that the runtime reports in the box counts, not the name of the machine."""
    health = check_gpu(toolchain, trusted_sandbox, settings.load(), expected=gpus.get("MI355X"))
    assert "MI300X, not MI355X" in health.summary()


def test_memory_that_is_not_cleared_between_tenants_fails(
    trusted_sandbox: Sandbox, toolchain: DeviceToolchain, folder: Path
) -> None:
    """A program that finds the pages of an earlier one makes the machine unusable for tenants."""
    program = folder / "leaking.py"
    program.write_text(LEAKING_PROGRAM)
    harness = toolchain.harness_template(settings.load()).argv[0]
    toolchain.harnesses = [(sys.executable, str(program), harness)]
    health = check_gpu(toolchain, trusted_sandbox, settings.load(), after_failure=True)
    assert health.summary() == (
        "VRAM between tenants: 3 of 8 sampled pages in 64 MiB still hold data of the previous program"
    )


def test_the_cpu_runtime_has_nothing_to_check(trusted_sandbox: Sandbox) -> None:
    """Its report is empty, and it may judge."""
    configured = settings.load()
    health = check_gpu(CpuToolchain(configured.cache_dir), trusted_sandbox, configured)
    assert health.ok
    assert health.checks == ()


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("no_device", "hipErrorNoDevice"),
        ("memory_full", "hipErrorOutOfMemory"),
        ("off_the_bus", "a correct kernel got ERROR"),
        ("memory_fault", "a correct kernel got RUNTIME_ERROR"),
        ("ecc", "a correct kernel got"),
        pytest.param("hang", "a correct kernel got", marks=pytest.mark.slow),
    ],
)
def test_every_fault_of_the_stub_gpu_is_found(trusted_sandbox: Sandbox, fault: str, words: str) -> None:
    """The stub GPU simulates the faults of a real one; a machine with any of them does not become ready."""
    configured = settings.load()
    toolchain = StubToolchain(configured.cache_dir, StubSpec.parse(f"fault={fault}"))
    health = check_gpu(toolchain, trusted_sandbox, configured)
    assert not health.ok
    assert words in health.summary()


def test_the_stub_gpu_is_healthy(trusted_sandbox: Sandbox) -> None:
    """Without a fault it passes every check and advice, except for the filter that this sandbox lacks."""
    configured = settings.load()
    health = check_gpu(StubToolchain(configured.cache_dir), trusted_sandbox, configured)
    assert [check for check in health.checks if not check.ok] == []
    assert health.checks[-1].name == "kernel in a box"


@pytest.mark.slow
def test_the_full_report_on_the_stub_gpu(capsys: pytest.CaptureFixture[str]) -> None:
    """It runs to its end: broken kernels get their verdicts; copies, bandwidth and spread are measured."""
    assert gpu_doctor.report(as_json=True, full=True, toolchain="stub") == 0
    checks = {check["name"]: check for check in json.loads(capsys.readouterr().out)["checks"]}
    assert {"copies", "empty solution", "bandwidth", "repeatability"} <= checks.keys()
    assert all(checks[f"kernel: {kernel.name}"]["ok"] for kernel in BROKEN)
