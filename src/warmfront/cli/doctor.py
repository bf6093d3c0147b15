"""`warmfront doctor`: check this machine, and print the command that installs what is missing."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
from dataclasses import asdict
from typing import TYPE_CHECKING

from warmfront import sandbox, settings
from warmfront.cli.error_report import report_error
from warmfront.errors import WarmfrontError
from warmfront.hip.cpu.host_compiler import find_compiler
from warmfront.hip.rocjitsu import find_emulator
from warmfront.hip.rocm_installation import find_hipcc, has_gpu
from warmfront.hip.xray.device_compiler import find_libraries
from warmfront.hip.zig_wheel import require_wheel
from warmfront.sandbox.base import machine_memory_bytes
from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class DoctorCheck:
    """The result of one check."""

    name: str
    works: bool
    detail: str
    fix: str = ""  #: the command to run if the check failed
    for_vms: bool = False  #: whether VMs need it, not the judge on this machine


def run_checks() -> list[DoctorCheck]:
    """Check the compilers, sandboxes and devices of this machine."""
    configured = settings.load()
    boxes = [
        DoctorCheck(name=f"sandbox {box.name}", works=box.works, detail=box.detail, fix=box.fix or "")
        for box in sandbox.available(image=configured.docker_image)
    ]
    compilers = [*_compilers(), _cpu_compiler(configured.cache_dir)]
    cloud = _cloud(configured) if configured.provider == "dstack" else []
    devices = [_gpu(), _emulator(configured)]
    return [_machine(), *compilers, *boxes, *devices, _target_compiler(), _bitcode(), *cloud]


def report(*, as_json: bool) -> int:
    """Print the checks; return 0 if this machine can judge a kernel, otherwise 3."""
    try:
        checks = run_checks()
    except WarmfrontError as error:
        return report_error(error)
    able = can_judge(checks)
    if as_json:
        print(json.dumps({"can_judge": able, "findings": [asdict(check) for check in checks]}, indent=2))
        return 0 if able else 3
    for check in checks:
        print(f"{'yes' if check.works else 'no ':3}  {check.name:22} {check.detail}")
        if check.fix and not check.works:
            print(f"{'':27} → {check.fix}")
    for_vms = [check for check in checks if check.for_vms]
    if for_vms:
        print(_vm_summary(for_vms))
    print(
        "This machine can judge kernels."
        if able
        else "This machine cannot judge kernels yet; run the commands above."
    )
    return 0 if able else 3


def _vm_summary(checks: list[DoctorCheck]) -> str:
    failed = [check.name for check in checks if not check.works]
    if not failed:
        return "VMs can be provisioned, as far as this can be checked without one."
    return f"VMs cannot be provisioned yet: see {', '.join(failed)}. Submissions to the service wait or fail."


def can_judge(checks: list[DoctorCheck]) -> bool:
    """Return whether a compiler and a sandbox work."""
    working = {check.name for check in checks if check.works}
    compiler = working & {"compiler in use", "compiler hipcc"}
    return bool(compiler) and any(name.startswith("sandbox") for name in working)


def _machine() -> DoctorCheck:
    memory_gib = machine_memory_bytes() / settings.GIB
    detail = f"{len(os.sched_getaffinity(0))} CPUs, {memory_gib:.0f} GiB of memory"
    return DoctorCheck(name="machine", works=True, detail=detail)


def _compilers() -> list[DoctorCheck]:
    checks = []
    for name, missing, fix in (
        ("g++", "not installed; the bug finder needs g++ or clang++", "sudo apt-get install g++"),
        ("clang++", "not installed; g++ is enough", ""),
        ("hipcc", "not installed; needed only for a GPU", ""),
    ):
        path = find_hipcc() if name == "hipcc" else shutil.which(name)
        detail = _version(path) if path else missing
        checks.append(DoctorCheck(name=f"compiler {name}", works=path is not None, detail=detail, fix=fix))
    return checks


def _cpu_compiler(cache_dir: Path) -> DoctorCheck:
    """Check which compiler the CPU runtime uses, and why."""
    try:
        compiler = find_compiler(cache_dir)
    except WarmfrontError as error:
        return DoctorCheck(name="compiler in use", works=False, detail=error.message, fix=error.hint or "")
    detail = f"{compiler.name}: {compiler.reason}"
    if not compiler.is_ready:
        detail += "; the first run builds its C++ library, which takes a minute or two"
    return DoctorCheck(name="compiler in use", works=True, detail=detail)


def _gpu() -> DoctorCheck:
    if has_gpu():
        return DoctorCheck(name="AMD GPU", works=True, detail="/dev/kfd exists")
    return DoctorCheck(name="AMD GPU", works=False, detail="none; kernels run on the CPU runtime")


def _emulator(configured: settings.Settings) -> DoctorCheck:
    """Check whether AMD's emulator is installed. It is optional, so there is a fix only if it is selected."""
    name, is_chosen = "emulator rocjitsu", configured.rocm_device == "rocjitsu"
    try:
        emulator = find_emulator(configured)
    except WarmfrontError as error:
        detail = error.message if is_chosen else "not installed; optional"
        return DoctorCheck(name=name, works=False, detail=detail, fix=(error.hint or "") if is_chosen else "")
    use = "in use" if is_chosen else "set WARMFRONT_DEVICE=rocjitsu to use it"
    return DoctorCheck(name=name, works=True, detail=f"{emulator.library}, {emulator.config.name}; {use}")


def _target_compiler() -> DoctorCheck:
    try:
        wheel = require_wheel("the X-ray")
    except WarmfrontError as error:
        return DoctorCheck(name="X-ray compiler", works=False, detail=error.message, fix=error.hint or "")
    return DoctorCheck(name="X-ray compiler", works=True, detail=f"ziglang, in {wheel}")


def _bitcode() -> DoctorCheck:
    libraries = find_libraries()
    return DoctorCheck(
        name="ROCm device libraries",
        works=libraries is not None,
        detail=str(libraries) if libraries else "not installed; the X-ray is less exact",
        fix="sudo apt-get install rocm-device-libs",
    )


def _cloud(configured: settings.Settings) -> list[DoctorCheck]:
    """Check everything that the first VM of the dstack fleet will need."""
    from warmfront.providers.dstack.preflight import run_preflight

    return [
        DoctorCheck(name=check.name, works=check.works, detail=check.detail, fix=check.hint, for_vms=True)
        for check in asyncio.run(run_preflight(configured))
    ]


def _version(path: str) -> str:
    result = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
    return (result.stdout.splitlines() or [path])[0]
