"""Check the GPU of this machine for the listener: before it is ready, and after a crash or a timeout."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from warmfront.hip.gpu_health import GpuHealth
from warmfront.hip.gpu_host import GpuHost, check_host
from warmfront.judge.box_health import check_boxes
from warmfront.judge.verdict_health import check_kernel

if TYPE_CHECKING:
    from collections.abc import Iterator

    from warmfront.gpus import Gpu
    from warmfront.hip.gpu_health import HealthCheck
    from warmfront.hip.toolchain import Toolchain
    from warmfront.sandbox.base import Sandbox
    from warmfront.settings import Settings


def check_gpu(
    toolchain: Toolchain,
    sandbox: Sandbox,
    settings: Settings,
    *,
    expected: Gpu | None = None,
    host: GpuHost | None = None,
    after_failure: bool = False,
) -> GpuHealth:
    """Check the GPU in a few seconds: the machine, the device in a box, and a small submission.

    The CPU runtime has no GPU: its report is empty and `ok`, unless a `host` is given. The stub GPU has a
    device, but no machine around it.

    Args:
        toolchain: the toolchain that will judge.
        sandbox: the sandbox that will judge.
        settings: the limits of boxes.
        expected: the GPU type that was leased; None for any GPU of the catalog.
        host: the location of the kernel's files; by default this machine.
        after_failure: omit the small submission, whose compilation takes most of the time.
    """
    start = time.monotonic()
    checks = tuple(_checks(toolchain, sandbox, settings, expected, host, after_failure=after_failure))
    return GpuHealth(checks=checks, stage="quick", duration_s=time.monotonic() - start)


def _checks(
    toolchain: Toolchain,
    sandbox: Sandbox,
    settings: Settings,
    expected: Gpu | None,
    host: GpuHost | None,
    *,
    after_failure: bool,
) -> Iterator[HealthCheck]:
    """Yield the checks. Skip those that cannot work after a failed check."""
    if host is not None or not toolchain.simulated:
        checks = check_host(host or GpuHost(), expected=expected)
        yield from checks
        if not all(check.ok for check in checks if check.required):
            return
    if toolchain.shared_memory:
        return
    works = True
    for check in check_boxes(toolchain, sandbox, settings, expected=expected):
        works = works and (check.ok or not check.required)
        yield check
    if works and not after_failure:
        yield check_kernel(toolchain, sandbox, settings)
