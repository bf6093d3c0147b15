"""Check a GPU after a failure, to decide whether the submission or the machine is at fault.

If a kernel crashes or runs forever, the submission is at fault, unless the GPU no longer works: it hangs, was
reset, fell off the bus, or its memory is full although all our boxes have ended. The output and answers of
the program in the box do not affect the decision, because submitted code could forge them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from warmfront.errors import GpuFailed
from warmfront.judge.case_memory import DeviceMemory
from warmfront.verdicts import Verdict

if TYPE_CHECKING:
    from warmfront.hip.toolchain import Toolchain
    from warmfront.judge.kernel_failure import KernelFailure
    from warmfront.sandbox.base import Sandbox
    from warmfront.settings import Settings

#: Verdicts that a broken GPU could cause.
DOUBTFUL = frozenset({Verdict.RUNTIME_ERROR, Verdict.TIME_LIMIT_EXCEEDED, Verdict.MEMORY_LIMIT_EXCEEDED})
#: If less than this share of its memory is free after all boxes have ended, something else uses the GPU.
MIN_FREE_SHARE = 0.5


def check_after_failure(
    failure: KernelFailure, toolchain: Toolchain, sandbox: Sandbox, settings: Settings
) -> None:
    """Check the GPU in a new box, after the boxes of a failed run were destroyed.

    Raises:
        GpuFailed: the GPU does not work, so the failure says nothing about the submission.
    """
    if toolchain.shared_memory or failure.event.verdict not in DOUBTFUL:
        return
    try:
        check_device(toolchain, sandbox, settings)
    except GpuFailed as error:
        raise GpuFailed(f"{error.message} Before that: {failure.event.message}") from failure


def clear_after_run(toolchain: Toolchain) -> None:
    """Clear LDS and registers, if the driver supports it, so that the next tenant cannot read them."""
    if toolchain.simulated or toolchain.device is None:
        return
    from warmfront.hip.gpu_host import GpuHost, clear_lds  # noqa: PLC0415 - only a GPU needs it

    clear_lds(GpuHost(render_minor=toolchain.device.render_minor))


def check_device(toolchain: Toolchain, sandbox: Sandbox, settings: Settings) -> None:
    """Check in a new box, with our own program, that the GPU works.

    Raises:
        GpuFailed: a call of the HIP runtime fails or hangs, or most of the memory is in use.
    """
    with sandbox.take(toolchain.harness_template(settings)) as box:
        box.go()
        memory = DeviceMemory(box).check_device()
    if memory.free_bytes < MIN_FREE_SHARE * memory.total_bytes:
        free, total = (size / 1e9 for size in (memory.free_bytes, memory.total_bytes))
        raise GpuFailed(f"Only {free:.1f} of {total:.1f} GB of the GPU's memory is free.")
