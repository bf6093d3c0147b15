"""`warmfront doctor`: what this machine can do, and the line to run for what is missing."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from warmfront import sandbox, settings
from warmfront.cli.error_report import report_error
from warmfront.errors import WarmfrontError
from warmfront.hip.cpu.host_compiler import find_compiler
from warmfront.hip.rocm import find_hipcc, has_gpu
from warmfront.hip.xray.device_compiler import find_libraries
from warmfront.hip.zig_wheel import require_wheel

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One thing that this machine has or lacks."""

    name: str
    works: bool
    detail: str
    fix: str = ""  #: the line to run, where something is missing


def examine() -> list[Finding]:
    """Look at this machine."""
    configured = settings.load()
    boxes = [
        Finding(name=f"sandbox {found.name}", works=found.works, detail=found.detail, fix=found.fix or "")
        for found in sandbox.available(image=configured.docker_image)
    ]
    compilers = [*_compilers(), _cpu_compiler(configured.cache_dir)]
    return [_machine(), *compilers, *boxes, _gpu(), _target_compiler(), _bitcode()]


def report(*, as_json: bool) -> int:
    """Print the findings; 0 when a kernel can be judged here, 3 when not."""
    try:
        findings = examine()
    except WarmfrontError as error:
        return report_error(error)
    able = can_judge(findings)
    if as_json:
        print(
            json.dumps({"can_judge": able, "findings": [asdict(finding) for finding in findings]}, indent=2)
        )
        return 0 if able else 3
    for finding in findings:
        print(f"{'yes' if finding.works else 'no ':3}  {finding.name:22} {finding.detail}")
        if finding.fix and not finding.works:
            print(f"{'':27} → {finding.fix}")
    print(
        "A kernel can be judged here." if able else "No kernel can be judged here yet: run the lines above."
    )
    return 0 if able else 3


def can_judge(findings: list[Finding]) -> bool:
    """Whether there is a compiler and a sandbox."""
    working = {finding.name for finding in findings if finding.works}
    compiler = working & {"compiler in use", "compiler hipcc"}
    return bool(compiler) and any(name.startswith("sandbox") for name in working)


def _machine() -> Finding:
    memory_gib = settings.physical_memory_bytes() / settings.GIB
    detail = f"{len(os.sched_getaffinity(0))} CPUs, {memory_gib:.0f} GiB of memory"
    return Finding(name="machine", works=True, detail=detail)


def _compilers() -> list[Finding]:
    found = []
    for name, lacking, fix in (
        ("g++", "not installed: the bug finder needs it, or clang++", "sudo apt-get install g++"),
        ("clang++", "not installed: g++ is enough", ""),
        ("hipcc", "not installed: needed for a real GPU only", ""),
    ):
        path = find_hipcc() if name == "hipcc" else shutil.which(name)
        detail = _version(path) if path else lacking
        found.append(Finding(name=f"compiler {name}", works=path is not None, detail=detail, fix=fix))
    return found


def _cpu_compiler(cache_dir: Path) -> Finding:
    """What compiles for the CPU simulator, and why that one."""
    try:
        compiler = find_compiler(cache_dir)
    except WarmfrontError as error:
        return Finding(name="compiler in use", works=False, detail=error.message, fix=error.hint or "")
    detail = f"{compiler.name}: {compiler.reason}"
    if not compiler.is_ready:
        detail += "; its C++ library will be built at the first run, in a minute or two"
    return Finding(name="compiler in use", works=True, detail=detail)


def _gpu() -> Finding:
    if has_gpu():
        return Finding(name="AMD GPU", works=True, detail="/dev/kfd is there")
    return Finding(name="AMD GPU", works=False, detail="none: kernels run on the CPU simulator")


def _target_compiler() -> Finding:
    try:
        wheel = require_wheel("The X-ray's")
    except WarmfrontError as error:
        return Finding(name="X-ray compiler", works=False, detail=error.message, fix=error.hint or "")
    return Finding(name="X-ray compiler", works=True, detail=f"ziglang, in {wheel}")


def _bitcode() -> Finding:
    found = find_libraries()
    return Finding(
        name="ROCm device libraries",
        works=found is not None,
        detail=str(found) if found else "not installed: the X-ray is less exact without",
        fix="sudo apt-get install rocm-device-libs",
    )


def _version(path: str) -> str:
    result = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
    return (result.stdout.splitlines() or [path])[0]
