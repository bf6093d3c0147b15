"""Check the GPU of this machine as the listener does: before it is ready, and after a crash or a time-out."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from warmfront.hip.gpu_health import GpuHealth
from warmfront.hip.gpu_host import GpuHost, check_host

if TYPE_CHECKING:
    from warmfront.gpus import Gpu
    from warmfront.hip.toolchain import Toolchain
    from warmfront.sandbox.base import Sandbox
    from warmfront.settings import Settings


def check_gpu(
    toolchain: Toolchain,
    sandbox: Sandbox,  # noqa: ARG001 - the checks in a box use it
    settings: Settings,  # noqa: ARG001 - the checks in a box use it
    *,
    expected: Gpu | None = None,
    host: GpuHost | None = None,
) -> GpuHealth:
    """Check the GPU in a few seconds: the machine, and a kernel in a box as submissions get it.

    The CPU runtime has no GPU: its report is empty and `ok`, unless a `host` is given.

    Args:
        toolchain: the toolchain that will judge.
        sandbox: the sandbox that will judge.
        settings: the limits of boxes.
        expected: the GPU type that was leased; None for any GPU of the catalogue.
        host: where the kernel's files are; by default this machine.
    """
    start = time.monotonic()
    if toolchain.simulated and host is None:
        return GpuHealth(checks=(), stage="quick")
    checks = check_host(host or GpuHost(), expected=expected)
    return GpuHealth(checks=checks, stage="quick", duration_s=time.monotonic() - start)
