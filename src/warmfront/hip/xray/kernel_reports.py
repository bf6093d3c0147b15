"""Build the report of each kernel from the compiler's assembly and the author's source."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from warmfront.hip.xray.assembly import InstructionKind, kind_of, read_assembly, width_of
from warmfront.hip.xray.demangler import bare_name, demangle
from warmfront.hip.xray.kernel_launches import block_of, kernel_lines
from warmfront.hip.xray.matrix_usage import matrix_usage
from warmfront.hip.xray.occupancy import KernelResources, best_occupancy, next_steps, occupancy
from warmfront.hip.xray.xray_report import InstructionMix, KernelReport, Loop

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from warmfront.hip.xray.assembly import AssemblyFunction, Instruction
    from warmfront.hip.xray.kernel_launches import KernelLaunch
    from warmfront.hip.xray.occupancy import ComputeUnit

#: Block sizes in the occupancy table.
BLOCK_SIZES = (64, 128, 256, 512, 1024)


def read_kernels(
    text: str, source: str, launches: Sequence[KernelLaunch], unit: ComputeUnit
) -> tuple[KernelReport, ...]:
    """Return the reports of all kernels in the assembly of `source`."""
    lines = kernel_lines(source)
    return tuple(
        _kernel(function, metadata, lines, launches, unit)
        for function, metadata in read_assembly(text).kernels()
    )


def _kernel(
    function: AssemblyFunction,
    metadata: dict[str, str],
    lines: Mapping[str, int],
    launches: Sequence[KernelLaunch],
    unit: ComputeUnit,
) -> KernelReport:
    name = demangle(function.symbol)
    bare = bare_name(name)
    bound = int(metadata["max_flat_workgroup_size"])
    resources = KernelResources(
        vgprs=int(metadata["vgpr_count"]),
        sgprs=int(metadata["sgpr_count"]),
        lds_bytes=int(metadata["group_segment_fixed_size"]),
    )
    agprs = int(metadata["agpr_count"])
    block = block_of(launches, bare)
    best = best_occupancy(resources, bound, unit)
    threads = _block_threads(block, bound, unit)
    return KernelReport(
        name=name,
        symbol=function.symbol,
        line=lines.get(bare),
        # The summary has formulas for a kernel that calls through a pointer; the metadata has the sum.
        vgpr=function.info.get("NumVgprs", resources.vgprs - agprs),
        agpr=function.info.get("NumAgprs", agprs),
        vgpr_total=resources.vgprs,
        sgpr=resources.sgprs,
        lds_bytes=resources.lds_bytes,
        scratch_bytes=int(metadata["private_segment_fixed_size"]),
        vgpr_spills=int(metadata["vgpr_spill_count"]),
        sgpr_spills=int(metadata["sgpr_spill_count"]),
        code_bytes=function.info.get("codeLenInByte", 0),
        launch_bound_threads=bound if bound != unit.most_block_threads else None,
        block=block,
        occupancy=occupancy(resources, threads, unit) if threads else best,
        best_occupancy=best,
        by_block={size: occupancy(resources, size, unit) for size in BLOCK_SIZES if size <= max(bound, 64)},
        steps=tuple(next_steps(resources, threads, unit)) if threads else (),
        mix=_mix(function.instructions),
        loops=tuple(_loops(function)),
        matrix=matrix_usage(function.instructions, unit.arch),
        instructions=tuple(function.instructions),
        labels=function.labels,
    )


def _block_threads(block: tuple[int, int, int] | None, bound: int, unit: ComputeUnit) -> int | None:
    """Return the threads per block from the launch or the launch bounds; None if neither is known."""
    launched = block[0] * block[1] * block[2] if block else 0
    if 0 < launched <= unit.most_block_threads:
        return launched
    return bound if bound != unit.most_block_threads else None


def _mix(instructions: Sequence[Instruction]) -> InstructionMix:
    counts: Counter[str] = Counter()
    loads: Counter[int] = Counter()
    stores: Counter[int] = Counter()
    for instruction in instructions:
        kind = kind_of(instruction.mnemonic, instruction.operands)
        counts[kind.value] += 1
        if kind is InstructionKind.GLOBAL_LOAD:
            loads[width_of(instruction.mnemonic)] += 1
        elif kind is InstructionKind.GLOBAL_STORE:
            stores[width_of(instruction.mnemonic)] += 1
    return InstructionMix(
        counts=dict(counts.most_common()),
        load_widths=dict(sorted(loads.items(), reverse=True)),
        store_widths=dict(sorted(stores.items(), reverse=True)),
    )


def _loops(function: AssemblyFunction) -> list[Loop]:
    """Return the loops of a kernel, in code order."""
    bodies: dict[str, list[Instruction]] = {label: [] for label in function.parents}
    for instruction in function.instructions:
        if instruction.loop in bodies:
            bodies[instruction.loop].append(instruction)
    return [_loop(label, body) for label, body in bodies.items() if body]


def _loop(label: str, body: Sequence[Instruction]) -> Loop:
    """Return one loop; its line is that of the branch back to its header, if known."""
    counts = Counter(kind_of(instruction.mnemonic, instruction.operands).value for instruction in body)
    back = [
        instruction.line
        for instruction in body
        if instruction.operands.endswith(f".L{label}") and instruction.line
    ]
    lines = back or [instruction.line for instruction in body if instruction.line]
    return Loop(
        line=min(lines, default=None),
        depth=body[0].depth,
        instructions=len(body),
        counts=dict(counts.most_common()),
    )
