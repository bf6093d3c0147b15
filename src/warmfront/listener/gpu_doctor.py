"""`warmfront doctor --gpu`: check the GPU of this machine, from device files to the spread of twenty runs.

This module is also installed on VMs, where `python -m warmfront.listener.gpu_doctor` is the same command.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from warmfront import sandbox as sandboxes
from warmfront import settings
from warmfront.errors import InfrastructureError, NoSandbox, WarmfrontError
from warmfront.hip.gpu_health import GpuHealth, HealthCheck
from warmfront.hip.gpu_host import GpuHost, check_host
from warmfront.hip.rocm_installation import find_hipcc
from warmfront.hip.toolchain import Toolchain, open_toolchain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from warmfront.sandbox.base import Sandbox
    from warmfront.settings import Settings

#: The toolchain for a real GPU; with the others there is no machine to check.
ROCM = "rocm"
#: Columns for the result and the name of a check; those of `--full` have longer names.
RESULT_WIDTH, NAME_WIDTH, FULL_NAME_WIDTH = 7, 27, 38


def report(*, as_json: bool, full: bool, toolchain: str | None, host: GpuHost | None = None) -> int:
    """Print each check when it finishes; return 0 if the GPU can judge, otherwise 1.

    Args:
        as_json: print one JSON object at the end instead.
        full: also judge broken kernels and take measurements, which takes minutes.
        toolchain: name of the toolchain; `stub` rehearses the checks without a GPU. By default `rocm`.
        host: the location of the kernel's files; by default this machine.
    """
    start = time.monotonic()
    checks: list[HealthCheck] = []
    for check in _checks(toolchain or ROCM, host, full=full):
        checks.append(check)
        if not as_json:
            print(_line(check, FULL_NAME_WIDTH if full else NAME_WIDTH), flush=True)
    stage = "full" if full else "quick"
    health = GpuHealth(checks=tuple(checks), stage=stage, duration_s=time.monotonic() - start)
    if as_json:
        print(json.dumps(health.to_json(), indent=2))
    elif health.ok:
        print(f"The GPU of this machine can judge kernels ({health.duration_s:.0f} s).")
    else:
        print(
            f"No: this machine cannot judge kernels on a GPU; {len(health.failures)} required checks failed."
        )
    return 0 if health.ok else 1


def _line(check: HealthCheck, name_width: int) -> str:
    result = "yes" if check.ok else "no" if check.required else "advice"
    remedy = f" → {check.remedy}" if check.remedy and not check.ok else ""
    return f"{result:{RESULT_WIDTH}}{check.name:{name_width}} {check.detail}{remedy}"


def _checks(name: str, host: GpuHost | None, *, full: bool) -> Iterator[HealthCheck]:
    """Yield all checks. Skip those that cannot work after a failed check."""
    try:
        configured = settings.load()
    except WarmfrontError as error:
        yield _failure("settings", error)
        return
    first: list[HealthCheck] = []
    for check in _machine(name, host, configured):
        first.append(check)
        yield check
    if all(check.ok for check in first if check.required):
        yield from _toolchain_checks(name, configured, full=full)


def _machine(name: str, host: GpuHost | None, configured: Settings) -> Iterator[HealthCheck]:
    """Check everything that does not need the GPU: the host, the compiler and the sandboxes."""
    if name == ROCM:
        hipcc = find_hipcc()
        rocm = Path(hipcc).resolve().parent.parent if hipcc else None
        yield from check_host(host or GpuHost(rocm=rocm))
        yield HealthCheck(
            name="hipcc",
            ok=hipcc is not None,
            detail=hipcc or "not on PATH",
            remedy="Install ROCm 7 or use an image that has it.",
        )
    found = sandboxes.available(image=configured.docker_image)
    yield HealthCheck(
        name="sandbox",
        ok=any(box.works for box in found),
        detail="; ".join(f"{box.name}: {box.detail}" for box in found if box.works) or "none works",
        remedy=" or ".join(box.fix for box in found if box.fix),
    )


def _toolchain_checks(name: str, configured: Settings, *, full: bool) -> Iterator[HealthCheck]:
    try:
        toolchain = open_toolchain(name, configured)
        toolchain.build()
    except WarmfrontError as error:
        yield _failure("toolchain", error)
        return
    yield HealthCheck(name="toolchain", ok=True, detail=toolchain.compiler)
    opened = 0
    for sandbox_name in (sandboxes.BUBBLEWRAP, sandboxes.DOCKER):
        with contextlib.suppress(NoSandbox):  # `_machine` reports the sandboxes that do not work
            sandbox = sandboxes.open_sandbox(
                sandbox_name,
                base=configured.box_dir,
                image=configured.docker_image,
                image_dirs=configured.docker_image_dirs,
            )
            opened += 1
            try:
                yield from _box_checks(toolchain, sandbox, configured, full=full and opened == 1)
            finally:
                sandbox.close()


def _box_checks(
    toolchain: Toolchain, sandbox: Sandbox, configured: Settings, *, full: bool
) -> Iterator[HealthCheck]:
    # These modules need NumPy and the judge, which are not loaded on a machine without a GPU.
    from warmfront.judge.box_health import check_boxes  # noqa: PLC0415
    from warmfront.judge.kernel_failure import KernelFailure  # noqa: PLC0415
    from warmfront.judge.number_health import check_numbers  # noqa: PLC0415
    from warmfront.judge.verdict_health import check_kernel, check_verdicts  # noqa: PLC0415

    works = True
    for check in check_boxes(toolchain, sandbox, configured):
        works = works and (check.ok or not check.required)
        yield check
    if not works:
        return
    kernel = check_kernel(toolchain, sandbox, configured)
    yield kernel
    if kernel.ok and full:
        try:
            yield from check_verdicts(toolchain, sandbox, configured)
            yield from check_numbers(toolchain, sandbox, configured)
        except (InfrastructureError, KernelFailure) as error:
            yield HealthCheck(name="GPU", ok=False, detail=str(error), remedy="Release this machine.")


def _failure(name: str, error: WarmfrontError) -> HealthCheck:
    return HealthCheck(name=name, ok=False, detail=error.message, remedy=error.hint or "")


def main() -> int:
    """Check this machine with the options of the command line, and return the exit code."""
    parser = argparse.ArgumentParser(prog="warmfront doctor --gpu", description="Check the GPU of this VM.")
    parser.add_argument(
        "--full", action="store_true", help="also judge broken kernels and take measurements (minutes)"
    )
    parser.add_argument("--toolchain", help="rocm, or stub to rehearse the checks without a GPU")
    parser.add_argument("--json", action="store_true", dest="as_json", help="print one JSON object")
    arguments = parser.parse_args()
    return report(as_json=arguments.as_json, full=arguments.full, toolchain=arguments.toolchain)


if __name__ == "__main__":
    sys.exit(main())
