"""The X-ray of one source: compile it in a box, analyze the assembly and build the report or the event."""

from __future__ import annotations

import functools
import logging
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from warmfront import gpus
from warmfront.errors import WarmfrontError
from warmfront.hip import rocm_versions
from warmfront.hip.source.refusals import SourceRefused, refuse
from warmfront.hip.trailer import SOURCE_NAME
from warmfront.hip.xray.device_compiler import (
    ASSEMBLY_FILE,
    MAX_ASSEMBLY_BYTES,
    SOURCE_FILE,
    DeviceCompiler,
    compiler_version,
    find_libraries,
)
from warmfront.sandbox.base import ExitReason

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from warmfront.events import Xray
    from warmfront.gpus import Gpu
    from warmfront.hip.diagnose import CompileFailure
    from warmfront.hip.xray.xray_report import KernelReport, Roofline, XrayFinding, XrayReport
    from warmfront.problems.spec import Dtype, Problem
    from warmfront.sandbox.base import Box, BoxExit, Sandbox
    from warmfront.settings import Settings

log = logging.getLogger(__name__)

#: Above it, the exit code of a shell says which signal ended its command.
_SIGNALED = 128

APPROXIMATE = (
    "Approximate figures: ROCm's device libraries are not installed, so functions such as tanhf are replaced "
    "by code of similar cost. Install them with: sudo apt-get install rocm-device-libs"
)
NO_KERNEL = (
    "The source compiles but contains no kernel. A kernel is declared __global__, and a template becomes a "
    "kernel only where it is launched."
)


def xray(
    source: str,
    *,
    arch: str = "gfx942",
    gpu: Gpu | None = None,
    problem: Problem | None = None,
    dtype: Dtype | None = None,
    sandbox: Sandbox,
    settings: Settings,
    compiler: DeviceCompiler | None = None,
    meanwhile: Callable[[], object] = lambda: None,
) -> XrayReport:
    """Compile a source for a GPU and return the report, which includes the reason if it does not compile.

    Args:
        source: The text of the kernel.
        arch: The architecture to compile for.
        gpu: The GPU that the report is about; by default the one that represents `arch` in the catalog.
        problem: The problem whose largest GPU case determines the roofline; None for no roofline.
        dtype: The dtype for the roofline; by default the problem's first.
        sandbox: The sandbox in which the compiler runs.
        settings: Cache folder and limits for the compiler.
        compiler: The compiler; by default this machine's.
        meanwhile: Called once, while the compiler runs.

    Raises:
        UsageError: The X-ray does not support `arch`.
        ToolchainFailed: The compiler could not build its own headers.
    """
    started = time.perf_counter()
    compiler = compiler or _default_compiler(settings.cache_dir, arch)
    gpu = gpu or gpus.by_arch(compiler.arch)
    try:
        refuse(source)
    except SourceRefused as error:
        meanwhile()
        return _refused(source, error, compiler, gpu, started)
    with sandbox.take(compiler.template(source, settings)) as box:
        _start_compiler(box, source)
        # The analysis is imported while the compiler runs.
        from warmfront.hip.xray.kernel_launches import find_launches  # noqa: PLC0415 - see above
        from warmfront.hip.xray.kernel_reports import read_kernels  # noqa: PLC0415 - see above
        from warmfront.hip.xray.occupancy import COMPUTE_UNITS  # noqa: PLC0415 - see above
        from warmfront.hip.xray.xray_findings import find_all  # noqa: PLC0415 - see above
        from warmfront.hip.xray.xray_report import XrayReport  # noqa: PLC0415 - see above

        meanwhile()
        launches = find_launches(source)
        text, output, failure = _read_result(box, source, compiler.arch)
    notes = [] if compiler.libraries else [APPROXIMATE]
    kernels: tuple[KernelReport, ...] = ()
    findings: tuple[XrayFinding, ...] = ()
    if text is not None:
        kernels = read_kernels(text, source, launches, COMPUTE_UNITS[compiler.arch])
        findings = (
            *find_all(source, kernels, launches, COMPUTE_UNITS[compiler.arch]),
            *_newer_constructs(output, source),
        )
        if not kernels:
            notes.append(NO_KERNEL)
    return XrayReport(
        arch=compiler.arch,
        gpu=gpu.name if gpu else compiler.arch,
        compiler=f"{compiler_version()}, HIP of ROCm {rocm_versions.TARGET}",
        seconds=time.perf_counter() - started,
        kernels=kernels,
        findings=findings,
        roofline=_roofline(problem, dtype, gpu) if problem and gpu else None,
        failure=failure,
        notes=tuple(notes),
    )


def xray_event(
    source: str,
    *,
    file_name: str,
    gpu: Gpu,
    problem: Problem | None,
    dtype: Dtype | None,
    sandbox: Sandbox,
    settings: Settings,
) -> Xray:
    """X-ray a source for a GPU and return the event; `file_name` is the file's name in messages."""
    try:
        report = xray(
            source, arch=gpu.arch, gpu=gpu, problem=problem, dtype=dtype, sandbox=sandbox, settings=settings
        )
    except WarmfrontError as error:
        return no_xray_event(f"{error.message} {error.hint or ''}".rstrip(), gpu)
    except Exception as error:  # a failed X-ray must not cost the submission its verdict
        log.exception("X-ray failed; continuing without it")
        return no_xray_event(f"The X-ray failed: {type(error).__name__}: {error}", gpu)
    from warmfront.events import Xray  # noqa: PLC0415 - `warmfront xray` needs no events

    data = report.to_dict()
    message = report.failure.message if report.failure else ""
    return Xray(
        arch=report.arch,
        gpu=report.gpu,
        compiler=report.compiler,
        # A header that only the X-ray lacks says nothing about the target.
        compiles=None if report.failure and report.failure.code == "NO_HEADER" else report.compiles,
        kernels=data["kernels"],
        findings=data["findings"],
        message=message.replace(f"{SOURCE_NAME}:", f"{file_name}:"),
        notes=list(report.notes),
        seconds=data["seconds"],
    )


def no_xray_event(reason: str, gpu: Gpu) -> Xray:
    """Return the event for a submission without an X-ray; its only content is the reason."""
    from warmfront.events import Xray  # noqa: PLC0415 - `warmfront xray` needs no events

    return Xray(arch=gpu.arch, gpu="", compiler="", compiles=None, kernels=[], findings=[], notes=[reason])


def _refused(
    source: str, error: SourceRefused, compiler: DeviceCompiler, gpu: Gpu | None, started: float
) -> XrayReport:
    """Return the report for a source that is not compiled."""
    from warmfront.hip.diagnose import rewrite_failure  # noqa: PLC0415 - only needed for failures
    from warmfront.hip.xray.xray_report import XrayReport  # noqa: PLC0415 - only needed for failures

    return XrayReport(
        arch=compiler.arch,
        gpu=gpu.name if gpu else compiler.arch,
        compiler=f"{compiler_version()}, HIP of ROCm {rocm_versions.TARGET}",
        seconds=time.perf_counter() - started,
        kernels=(),
        findings=(),
        failure=rewrite_failure(source, error),
    )


@functools.cache  # it hashes its headers when created, which a service should not do for every kernel
def _default_compiler(cache_dir: Path, arch: str) -> DeviceCompiler:
    return DeviceCompiler(cache_dir, arch, libraries=find_libraries())


def _start_compiler(box: Box, source: str) -> None:
    """Write the source into the box and start the compiler."""
    (box.folder / SOURCE_FILE).write_text(f'#line 1 "{SOURCE_NAME}"\n{source}\n')
    box.go()
    box.send(b"go\n")


def _read_result(box: Box, source: str, arch: str) -> tuple[str | None, str, CompileFailure | None]:
    """Wait for the compiler and return the assembly, the compiler's output, or why there is no assembly."""
    end = _unwrap_shell(box.wait())
    assembly = box.folder / ASSEMBLY_FILE
    if end.reason is ExitReason.EXITED and end.code == 0 and assembly.stat().st_size <= MAX_ASSEMBLY_BYTES:
        text = assembly.read_text(errors="replace")
        output = end.output.decode(errors="replace")
        failure = (
            _find_default_errors(output, source, arch)
            or _find_undefined(text, source)
            or _find_library_differences(source)
        )
        if failure:
            return None, "", failure
        return text, output, None
    from warmfront.hip.xray import compile_failures  # noqa: PLC0415 - only needed for failures

    if end.reason is not ExitReason.EXITED:
        return None, "", compile_failures.limit_exceeded(end)
    if end.code != 0:
        return None, "", compile_failures.explain(end.output.decode(errors="replace"), source, arch)
    return None, "", compile_failures.assembly_too_large()


def _unwrap_shell(end: BoxExit) -> BoxExit:
    """Return how the compiler ended: its shell exits with 128 and the number of the signal that ended it."""
    if end.reason is ExitReason.EXITED and end.code is not None and end.code > _SIGNALED:
        return replace(end, reason=ExitReason.SIGNALED, code=None, signal=end.code - _SIGNALED)
    return end


def _find_default_errors(output: str, source: str, arch: str) -> CompileFailure | None:
    """Return the failure for warnings that are errors by default."""
    if "warning: c" not in output:
        return None
    from warmfront.hip.xray import compile_failures  # noqa: PLC0415 - rarely needed

    return compile_failures.explain_default_errors(output, source, arch)


def _find_undefined(assembly: str, source: str) -> CompileFailure | None:
    """Return the failure for symbols that device code uses but nothing defines."""
    if "rel32@lo" not in assembly:
        return None
    from warmfront.hip.xray.undefined_symbols import explain_undefined  # noqa: PLC0415 - rarely needed

    return explain_undefined(assembly, source)


def _find_library_differences(source: str) -> CompileFailure | None:
    """Return the failure for code that only the X-ray's C++ library accepts."""
    from warmfront.hip.xray.library_differences import explain_differences  # noqa: PLC0415 - after the compiler

    return explain_differences(source)


def _newer_constructs(output: str, source: str) -> tuple[XrayFinding, ...]:
    """Return a finding per use of a construct that ROCm 6.4 does not have."""
    if rocm_versions.NEEDS_NOTE not in output:
        return ()
    from warmfront.hip.xray.newer_constructs import find_newer_constructs  # noqa: PLC0415 - rarely needed

    return find_newer_constructs(output, source)


def _roofline(problem: Problem, dtype: Dtype | None, gpu: Gpu) -> Roofline | None:
    """Return the minimum work and time for the problem's largest GPU case; None if it declares no bytes."""
    from warmfront.hip.xray.xray_report import Roofline  # noqa: PLC0415 - only needed for a problem
    from warmfront.problems.spec import Scale  # noqa: PLC0415 - only needed for a problem

    dtype = dtype or problem.dtypes[0]
    case = max(problem.cases(Scale.GPU), key=lambda case: problem.bytes_moved(case, dtype))
    flops, moved = problem.flops(case), problem.bytes_moved(case, dtype)
    if moved <= 0:
        return None
    ridge = gpu.peak_flops_for(problem.arithmetic or dtype) / gpu.bandwidth_bytes_per_s
    return Roofline(
        gpu=gpu.name,
        case=case.name,
        dtype=dtype.value,
        flops=flops,
        bytes_moved=moved,
        flops_per_byte=flops / moved,
        ridge_flops_per_byte=ridge,
        memory_bound=flops / moved < ridge,
        floor_ms=problem.floor_ms(case, dtype, gpu),
        matrix_peaks=dict(gpu.matrix_peak_flops),
    )
