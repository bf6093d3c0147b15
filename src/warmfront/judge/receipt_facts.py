"""The facts of a receipt that the judge knows.

The judge signs nothing, because a VM must not hold a secret. The control plane adds the cost and the
submission's id, and signs the receipt (`warmfront.receipts`).
"""

from __future__ import annotations

import functools
import hashlib
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from warmfront import __version__
from warmfront.events import Machine, Receipt, ReceiptCase
from warmfront.hip.device_facts import DeviceFacts
from warmfront.problems.revision import revision_of

if TYPE_CHECKING:
    from warmfront.hip.toolchain import Toolchain
    from warmfront.judge.case_data import CaseGenerator
    from warmfront.judge.compilation import CompiledLibrary
    from warmfront.judge_request import JudgeRequest
    from warmfront.sandbox.base import Sandbox

_CPUINFO = Path("/proc/cpuinfo")


def receipt_facts(
    request: JudgeRequest,
    toolchain: Toolchain,
    sandbox: Sandbox,
    compiled: CompiledLibrary,
    case_generator: CaseGenerator,
    *,
    total_s: float,
    device: DeviceFacts | None = None,
) -> Receipt:
    """Return the facts about the source, the toolchain and the machine.

    `device` is the HIP runtime's description of the GPU.
    """
    seed = case_generator.seed
    return Receipt(
        warmfront=__version__,
        problem=request.problem.slug,
        dtype=request.dtype.value,
        source_sha256=hashlib.sha256(request.source.encode()).hexdigest(),
        toolchain=toolchain.name,
        compiler=toolchain.compiler,
        sandbox=sandbox.name,
        device=_device_text(toolchain),
        compile_s=round(compiled.seconds, 4),
        total_s=round(total_s, 4),
        library_sha256=hashlib.sha256(compiled.library).hexdigest(),
        problem_revision=revision_of(request.problem),
        seed_commitment=seed.commitment,
        seed=seed.text,
        seed_nonce=seed.nonce,
        sandbox_detail=sandbox.detail,
        machine=describe_machine(toolchain, device),
        cases=_cases(case_generator),
    )


def _device_text(toolchain: Toolchain) -> str:
    if not toolchain.simulated:
        return toolchain.gpu.name
    kind = "stub GPU" if toolchain.name == "stub" else "CPU runtime"
    return f"{kind} ({toolchain.gpu.arch} semantics)"


def describe_machine(toolchain: Toolchain, device: DeviceFacts | None = None) -> Machine:
    """Describe this machine, and its GPU unless the toolchain simulates one.

    The device's own facts take precedence; the catalog provides the rest.
    """
    machine = Machine(
        cpu=cpu_model(),
        cores=len(os.sched_getaffinity(0)),
        memory_bytes=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        kernel=os.uname().release,
    )
    if toolchain.simulated:
        return machine
    gpu = toolchain.gpu
    device = device or toolchain.device or DeviceFacts(arch=gpu.arch)
    return replace(
        machine,
        gpu=gpu.name,
        gpu_arch=device.arch,
        gpu_memory_bytes=device.memory_bytes or gpu.memory_bytes,
        compute_units=device.compute_units or gpu.compute_units,
        gpu_partition=device.partition,
        gpu_driver=device.driver_version,
        hip_runtime=device.hip_runtime_version,
    )


@functools.cache
def cpu_model(cpuinfo: Path = _CPUINFO) -> str:
    """Return the model of the CPU, or its architecture if the kernel does not report a model."""
    try:
        with cpuinfo.open(encoding="utf-8", errors="replace") as lines:
            for line in lines:
                name, _, value = line.partition(":")
                if name.strip() == "model name":
                    return value.strip()
    except OSError:
        pass
    return os.uname().machine


def _cases(case_generator: CaseGenerator) -> tuple[ReceiptCase, ...]:
    return tuple(
        ReceiptCase(
            test_id=number,
            name=case.name,
            values={
                name: list(value) if isinstance(value, tuple) else value
                for name, value in case.values.items()
            },
            style=case.draw,
            timed=case.benchmark,
        )
        for number, case in enumerate(case_generator.cases, 1)
    )
