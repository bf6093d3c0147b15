"""`xray`: one source to its report. It compiles in a box, and puts the parts of the reading together."""

from __future__ import annotations

import functools
import time
from collections import Counter
from typing import TYPE_CHECKING

from warmfront.hip.trailer import SOURCE_NAME
from warmfront.hip.xray.assembly import read_assembly
from warmfront.hip.xray.compiler import (
    ASSEMBLY_FILE,
    MAX_ASSEMBLY_BYTES,
    SOURCE_FILE,
    Compiler,
    compiler_version,
    find_libraries,
)
from warmfront.hip.xray.findings import find_all
from warmfront.hip.xray.isa import Kind, kind_of, width_of
from warmfront.hip.xray.launches import block_of, find_launches, kernel_lines
from warmfront.hip.xray.names import bare_name, demangle
from warmfront.hip.xray.occupancy import (
    COMPUTE_UNITS,
    Needs,
    best_occupancy,
    next_steps,
    occupancy,
)
from warmfront.hip.xray.report import Kernel, Loop, Mix, Report, Roofline
from warmfront.sandbox.base import Reason

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from warmfront.hip.diagnose import CompileFailure
    from warmfront.hip.xray.assembly import Function, Instruction
    from warmfront.hip.xray.launches import Launch
    from warmfront.hip.xray.occupancy import ComputeUnit
    from warmfront.hip.xray.report import Finding
    from warmfront.problems.spec import Dtype, Problem
    from warmfront.sandbox.base import Box, Sandbox
    from warmfront.settings import Settings

#: Block sizes that the table of occupancies shows.
BLOCK_SIZES = (64, 128, 256, 512, 1024)

LESS_EXACT = (
    "Less exact: no device libraries. ROCm's bitcode is not installed, so functions such as tanhf are "
    "stand-ins of about their cost. Run: sudo apt-get install rocm-device-libs"
)
NO_KERNEL = (
    "It compiles, and there is no kernel in it. A template becomes a kernel only when it is launched, and a "
    "kernel is declared __global__."
)


def xray(
    source: str,
    *,
    arch: str = "gfx942",
    problem: Problem | None = None,
    dtype: Dtype | None = None,
    sandbox: Sandbox,
    settings: Settings,
    compiler: Compiler | None = None,
) -> Report:
    """What the compiler for `arch` makes of `source`. For one that does not compile the report says why.

    `problem` and `dtype` add what the problem asks of the GPU at least. `compiler` is for whoever has a
    reason to use another than this machine's.
    """
    started = time.perf_counter()
    compiler = compiler or _usual_compiler(settings.cache_dir, arch)
    text, failure = compile_source(source, compiler, sandbox, settings)
    notes = [] if compiler.libraries else [LESS_EXACT]
    kernels: tuple[Kernel, ...] = ()
    findings: tuple[Finding, ...] = ()
    if text is not None:
        launches = find_launches(source)
        kernels = read_kernels(text, source, launches, COMPUTE_UNITS[compiler.arch])
        findings = find_all(source, kernels, launches, COMPUTE_UNITS[compiler.arch])
        if not kernels:
            notes.append(NO_KERNEL)
    return Report(
        arch=compiler.arch,
        gpu=_gpu_name(compiler.arch),
        compiler=compiler_version(),
        seconds=time.perf_counter() - started,
        kernels=kernels,
        findings=findings,
        roofline=_roofline(problem, dtype, compiler.arch),
        failure=failure,
        notes=tuple(notes),
    )


@functools.cache  # it knows its headers by their contents, which a service need not read for every kernel
def _usual_compiler(cache_dir: Path, arch: str) -> Compiler:
    return Compiler(cache_dir, arch, libraries=find_libraries())


def compile_source(
    source: str, compiler: Compiler, sandbox: Sandbox, settings: Settings
) -> tuple[str | None, CompileFailure | None]:
    """The assembly of a source, or why there is none."""
    with sandbox.take(compiler.template(source, settings)) as box:
        (box.folder / SOURCE_FILE).write_text(f'#line 1 "{SOURCE_NAME}"\n{source}\n')
        box.go()
        box.send(b"go\n")
        return _finish(box, source, compiler.arch)


def _finish(box: Box, source: str, arch: str) -> tuple[str | None, CompileFailure | None]:
    end = box.wait()
    assembly = box.folder / ASSEMBLY_FILE
    if end.reason is Reason.EXITED and end.code == 0 and assembly.stat().st_size <= MAX_ASSEMBLY_BYTES:
        return assembly.read_text(errors="replace"), None
    from warmfront.hip.xray import complaints  # noqa: PLC0415 - only failures need it

    if end.reason is not Reason.EXITED:
        return None, complaints.gave_up(end)
    if end.code != 0:
        return None, complaints.explain(end.output.decode(errors="replace"), source, arch)
    return None, complaints.too_long()


def read_kernels(text: str, source: str, launches: Sequence[Launch], unit: ComputeUnit) -> tuple[Kernel, ...]:
    """Every kernel of an assembly file, which came from `source`."""
    lines = kernel_lines(source)
    return tuple(
        _kernel(function, metadata, lines, launches, unit)
        for function, metadata in read_assembly(text).kernels()
    )


def _kernel(
    function: Function,
    metadata: dict[str, str],
    lines: Mapping[str, int],
    launches: Sequence[Launch],
    unit: ComputeUnit,
) -> Kernel:
    name = demangle(function.symbol)
    bare = bare_name(name)
    bound = int(metadata["max_flat_workgroup_size"])
    needs = Needs(
        vgprs=int(metadata["vgpr_count"]),
        sgprs=int(metadata["sgpr_count"]),
        lds_bytes=int(metadata["group_segment_fixed_size"]),
    )
    block = block_of(launches, bare)
    best = best_occupancy(needs, bound, unit)
    threads = _block_threads(block, bound, unit)
    return Kernel(
        name=name,
        symbol=function.symbol,
        line=lines.get(bare),
        vgpr=function.info["NumVgprs"],
        agpr=function.info["NumAgprs"],
        vgpr_total=needs.vgprs,
        sgpr=needs.sgprs,
        lds_bytes=needs.lds_bytes,
        scratch_bytes=int(metadata["private_segment_fixed_size"]),
        vgpr_spills=int(metadata["vgpr_spill_count"]),
        sgpr_spills=int(metadata["sgpr_spill_count"]),
        code_bytes=function.info.get("codeLenInByte", 0),
        launch_bound_threads=bound if bound != unit.most_block_threads else None,
        block=block,
        occupancy=occupancy(needs, threads, unit) if threads else best,
        best_occupancy=best,
        by_block={size: occupancy(needs, size, unit) for size in BLOCK_SIZES if size <= max(bound, 64)},
        steps=tuple(next_steps(needs, threads, unit)) if threads else (),
        mix=_mix(function.instructions),
        loops=tuple(_loops(function)),
        instructions=tuple(function.instructions),
        labels=function.labels,
    )


def _block_threads(block: tuple[int, int, int] | None, bound: int, unit: ComputeUnit) -> int | None:
    """Threads of a block, by the launch or by the launch bounds; None where neither says so."""
    launched = block[0] * block[1] * block[2] if block else 0
    if 0 < launched <= unit.most_block_threads:
        return launched
    return bound if bound != unit.most_block_threads else None


def _mix(instructions: Sequence[Instruction]) -> Mix:
    counts: Counter[str] = Counter()
    loads: Counter[int] = Counter()
    stores: Counter[int] = Counter()
    for each in instructions:
        kind = kind_of(each.mnemonic, each.operands)
        counts[kind.value] += 1
        if kind is Kind.GLOBAL_LOAD:
            loads[width_of(each.mnemonic)] += 1
        elif kind is Kind.GLOBAL_STORE:
            stores[width_of(each.mnemonic)] += 1
    return Mix(
        counts=dict(counts.most_common()),
        load_widths=dict(sorted(loads.items(), reverse=True)),
        store_widths=dict(sorted(stores.items(), reverse=True)),
    )


def _loops(function: Function) -> list[Loop]:
    """The loops of a kernel, in the order of its code."""
    bodies: dict[str, list[Instruction]] = {label: [] for label in function.parents}
    for each in function.instructions:
        if each.loop in bodies:
            bodies[each.loop].append(each)
    return [_loop(label, body) for label, body in bodies.items() if body]


def _loop(label: str, body: Sequence[Instruction]) -> Loop:
    """A loop's line is that of the branch back to its head, if that has one."""
    counts = Counter(kind_of(each.mnemonic, each.operands).value for each in body)
    back = [each.line for each in body if each.operands.endswith(f".L{label}") and each.line]
    lines = back or [each.line for each in body if each.line]
    return Loop(
        line=min(lines, default=None),
        depth=body[0].depth,
        instructions=len(body),
        counts=dict(counts.most_common()),
    )


def _gpu_name(arch: str) -> str:
    return {"gfx942": "MI300X", "gfx90a": "MI250X", "gfx950": "MI355X"}[arch]


def _roofline(problem: Problem | None, dtype: Dtype | None, arch: str) -> Roofline | None:
    """What the problem's largest case for a GPU asks of this one."""
    if problem is None:
        return None
    from warmfront import gpus  # noqa: PLC0415 - every problem, only for a named one
    from warmfront.problems.spec import Scale  # noqa: PLC0415 - as above

    gpu = gpus.by_arch(arch)
    if gpu is None:
        return None
    dtype = dtype or problem.dtypes[0]
    case = max(problem.cases(Scale.GPU), key=lambda case: problem.bytes_moved(case, dtype))
    flops, moved = problem.flops(case), problem.bytes_moved(case, dtype)
    ridge = gpu.peak_flops[dtype] / gpu.bandwidth_bytes_per_s
    return Roofline(
        gpu=gpu.name,
        case=case.name,
        dtype=dtype.value,
        flops=flops,
        bytes_moved=moved,
        flops_per_byte=flops / moved,
        ridge_flops_per_byte=ridge,
        memory_bound=flops / moved < ridge,
        floor_ms=gpu.floor_ms(flops, moved, dtype),
    )
