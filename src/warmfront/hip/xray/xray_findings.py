"""The X-ray's findings about a kernel: where the problem is, why it matters, and what to try.

Each rule needs evidence in the assembly or the source; without it there is no finding.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections import Counter
from typing import TYPE_CHECKING

from warmfront.hip.xray.assembly import InstructionKind, kind_of, width_of
from warmfront.hip.xray.barrier_divergence import divergent_barriers
from warmfront.hip.xray.demangler import bare_name
from warmfront.hip.xray.kernel_launches import dynamic_lds_of, is_one_block
from warmfront.hip.xray.lane_analysis import LANES, trace_lanes
from warmfront.hip.xray.matrix_findings import find_in_arithmetic
from warmfront.hip.xray.wave32 import find_assumptions
from warmfront.hip.xray.xray_report import Rule, XrayFinding

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from warmfront.hip.xray.assembly import Instruction
    from warmfront.hip.xray.kernel_launches import KernelLaunch
    from warmfront.hip.xray.lane_analysis import LaneTrace
    from warmfront.hip.xray.occupancy import ComputeUnit
    from warmfront.hip.xray.xray_report import KernelReport

#: Limit per file. Authors do not read more, and hostile input must not make the report unbounded.
_MOST_FINDINGS = 50
#: Larger kernels get no lane analysis, because it would take longer than compiling.
_MOST_TRACED_INSTRUCTIONS = 20_000

#: Smaller bank conflicts are not reported.
_MIN_REPORTED_WAYS = 4

#: With more arithmetic instructions per load, a loop is not memory-bound.
_MOST_VALU_PER_LOAD = 16


def find_all(
    source: str, kernels: Sequence[KernelReport], launches: Sequence[KernelLaunch], unit: ComputeUnit
) -> tuple[XrayFinding, ...]:
    """Return all findings about a file, by kernel and line, without duplicates."""
    lines = source.split("\n")
    findings: list[XrayFinding] = []
    for kernel in kernels:
        findings += _scratch(kernel)
        findings += _too_much_lds(kernel, launches, unit)
        findings += _double_math(kernel, lines)
        if len(kernel.instructions) <= _MOST_TRACED_INSTRUCTIONS:
            lanes = trace_lanes(kernel.instructions, kernel.block)
            # A single block cannot saturate memory, however wide its loads are.
            if not is_one_block(launches, bare_name(kernel.name)):
                findings += _narrow_loads(kernel, lanes)
            findings += _bank_conflicts(kernel, lanes, unit)
            findings += _barriers(kernel, lanes)
            findings += find_in_arithmetic(kernel, lanes, unit.arch)
    findings += _waves_of_32(source, kernels)
    unique: dict[tuple[Rule, int | None, str], XrayFinding] = {}
    for finding in findings:
        unique.setdefault((finding.rule, finding.line, finding.message), finding)
    return tuple(unique.values())[:_MOST_FINDINGS]


def _scratch(kernel: KernelReport) -> Iterator[XrayFinding]:
    """Find spilled registers and private arrays, both of which use scratch memory."""
    touched = [
        instruction for instruction in kernel.instructions if _kind(instruction) is InstructionKind.SCRATCH
    ]
    if not touched:
        return
    if kernel.vgpr_spills:
        spilled = [instruction for instruction in touched if "Folded" in instruction.note] or touched
        yield XrayFinding(
            rule=Rule.SPILLS,
            kernel=kernel.name,
            line=_hottest_line(spilled),
            message=(
                f"There are too few registers: {kernel.vgpr_spills} values are spilled to scratch memory, "
                f"{kernel.scratch_bytes} bytes per thread, and each use of one accesses memory."
            ),
            advice=_more_registers(kernel),
        )
    elif not kernel.mix.count(InstructionKind.CALL):
        yield XrayFinding(
            rule=Rule.PRIVATE_ARRAY,
            kernel=kernel.name,
            line=_hottest_line(touched),
            message=(
                f"A private array ({kernel.scratch_bytes} bytes per thread) is indexed by a value known "
                "only at run time. Registers cannot be indexed, so the array is in scratch memory."
            ),
            advice="Index it with constants (unroll the loop around it), or move it to __shared__ memory.",
        )


def _more_registers(kernel: KernelReport) -> str:
    threads = kernel.block[0] * kernel.block[1] * kernel.block[2] if kernel.block else None
    bound = kernel.launch_bound_threads
    if bound is None and threads and threads < 1024:
        return (
            f"Add __launch_bounds__({threads}): without it the compiler assumes blocks of 1024 threads, "
            "which leaves 128 registers per thread."
        )
    if bound is None:
        return "Launch smaller blocks and declare them with __launch_bounds__, or keep fewer values live."
    return "Keep fewer values live at once: smaller tiles per thread, or less unrolling (#pragma unroll 1)."


def _too_much_lds(
    kernel: KernelReport, launches: Sequence[KernelLaunch], unit: ComputeUnit
) -> Iterator[XrayFinding]:
    """Find launches that request more LDS than exists; for static LDS alone the compiler reports an error."""
    for line, extra in dynamic_lds_of(launches, bare_name(kernel.name)).items():
        needed = kernel.lds_bytes + extra
        if needed > unit.lds_bytes:
            yield XrayFinding(
                rule=Rule.LDS_OVER_LIMIT,
                kernel=kernel.name,
                line=line,
                message=(
                    f"The launch requests {needed:,} bytes of LDS per block; a compute unit has "
                    f"{unit.lds_bytes:,}. It will fail with an error that only hipGetLastError returns."
                ),
                advice="Use smaller tiles or a narrower type.",
            )


def _narrow_loads(kernel: KernelReport, lanes: LaneTrace) -> Iterator[XrayFinding]:
    """Find loops that only move consecutive elements, a few bytes per lane, with little arithmetic."""
    loads = [
        instruction
        for instruction in kernel.instructions
        if _kind(instruction) is InstructionKind.GLOBAL_LOAD
    ]
    if not loads or max(width_of(instruction.mnemonic) for instruction in loads) > 4 or _shares(kernel):
        return
    depth = max(instruction.depth for instruction in loads)
    hot = [
        (i, instruction) for i, instruction in enumerate(kernel.instructions) if instruction.depth == depth
    ]
    loading = [
        (i, instruction) for i, instruction in hot if _kind(instruction) is InstructionKind.GLOBAL_LOAD
    ]
    storing = [
        (i, instruction) for i, instruction in hot if _kind(instruction) is InstructionKind.GLOBAL_STORE
    ]
    widest = max(width_of(instruction.mnemonic) for _, instruction in loading)
    if widest == 4 and depth == 0:  # one element per thread: wider loads would mean fewer threads
        return
    valu = sum(_kind(instruction) is InstructionKind.VALU for _, instruction in hot)
    stride = {access.index: _stride(access.address.lanes) for access in lanes.accesses}
    in_a_row = all(stride.get(i) == width_of(instruction.mnemonic) for i, instruction in loading + storing)
    if storing and in_a_row and valu <= _MOST_VALU_PER_LOAD * len(loading):
        yield XrayFinding(
            rule=Rule.NARROW_LOADS,
            kernel=kernel.name,
            line=loading[0][1].line,
            message=(
                f"Each lane loads {widest} {'byte' if widest == 1 else 'bytes'} at a time, and there is "
                "little arithmetic, so memory is the limit. A lane can load 16 bytes with one instruction."
            ),
            advice=_wider(widest),
        )


def _wider(width: int) -> str:
    if width == 4:
        return (
            "Let a thread process 4 consecutive elements through a float4 pointer, and the rest one by one."
        )
    return f"Let a thread process {16 // width} consecutive elements through a pointer to a 16-byte struct."


def _shares(kernel: KernelReport) -> bool:
    kinds = (
        InstructionKind.LDS_READ,
        InstructionKind.LDS_WRITE,
        InstructionKind.LDS_ATOMIC,
        InstructionKind.SHUFFLE,
        InstructionKind.MFMA,
        InstructionKind.GLOBAL_ATOMIC,
    )
    return any(kernel.mix.count(kind) for kind in kinds)


def _stride(addresses: Sequence[int]) -> int | None:
    """Return the distance between the addresses of adjacent lanes, if it is the same for all."""
    steps = {after - before for before, after in itertools.pairwise(addresses)}
    return steps.pop() if len(steps) == 1 else None


def _bank_conflicts(kernel: KernelReport, lanes: LaneTrace, unit: ComputeUnit) -> Iterator[XrayFinding]:
    """Find LDS accesses whose lanes use different words of the same bank."""
    worst: dict[int | None, tuple[int, bool]] = {}
    for access in lanes.accesses:
        instruction = kernel.instructions[access.index]
        if _kind(instruction) not in {InstructionKind.LDS_READ, InstructionKind.LDS_WRITE}:
            continue
        ways = conflict_ways(access.address.lanes, _single_width(instruction.mnemonic), unit.lds_banks)
        if ways >= _MIN_REPORTED_WAYS and ways > worst.get(instruction.line, (0, False))[0]:
            worst[instruction.line] = (ways, _kind(instruction) is InstructionKind.LDS_READ)
    for line, (ways, reads) in worst.items():
        yield XrayFinding(
            rule=Rule.BANK_CONFLICT,
            kernel=kernel.name,
            line=line,
            message=(
                f"{ways} lanes at once {'read from' if reads else 'write to'} the same bank of LDS, "
                f"so the access takes {ways} times as long."
            ),
            advice=(
                "Pad the rows of the array by one element ([N][N + 1]), so that a column is spread over all "
                "banks."
            ),
        )


@functools.lru_cache(maxsize=1024)  # an unrolled loop repeats the same accesses
def conflict_ways(addresses: tuple[int, ...], width_bytes: int, banks: int) -> int:
    """Return the largest number of distinct words in one bank that a group of lanes accesses together."""
    together = max(banks * 4 // max(width_bytes, 4), 1)
    worst = 1
    for first in range(0, LANES, together):
        words: dict[int, set[int]] = {}
        for address in addresses[first : first + together]:
            for byte in range(0, max(width_bytes, 4), 4):
                word = (address + byte) // 4
                words.setdefault(word % banks, set()).add(word)
        worst = max(worst, *(len(distinct) for distinct in words.values()))
    return worst


def _single_width(mnemonic: str) -> int:
    """Return the bytes of a single access of an instruction: `ds_read2_b32` makes two of 4 bytes."""
    return width_of(mnemonic) // 2 if re.match(r"ds_(?:read|write)2", mnemonic) else width_of(mnemonic)


_DOUBLE_ARITHMETIC = re.compile(r"v_(?:add|mul|fma|div_\w+|rcp|rsq|sqrt|min|max|ldexp|floor|trunc|rndne)_f64")
#: A literal with a decimal point or an exponent and without the suffix f.
_DOUBLE_LITERAL = re.compile(r"(?<![\w.])(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][+-]?\d+)?(?![\w.])")


def _double_math(kernel: KernelReport, lines: Sequence[str]) -> Iterator[XrayFinding]:
    """Find lines that convert floats to doubles and back only because of a literal without the suffix f."""
    by_line: dict[int, list[str]] = {}
    for instruction in kernel.instructions:
        if instruction.line and "f64" in instruction.mnemonic:
            by_line.setdefault(instruction.line, []).append(_double_kind(instruction.mnemonic))
    for line, kinds in sorted(by_line.items()):
        text = lines[line - 1].partition("//")[0] if line <= len(lines) else ""
        computed = kinds.count("compute")
        round_trip = kinds[0] == "widen" and kinds[-1] == "narrow" and computed
        literal = _DOUBLE_LITERAL.search(text)
        if round_trip and literal and "double" not in text:
            yield XrayFinding(
                rule=Rule.DOUBLE_MATH,
                kernel=kernel.name,
                line=line,
                message=(
                    f"{literal[0]} is a double, so the line is computed in double precision "
                    f"({computed} instructions at half the speed) and rounded to float."
                ),
                advice=f"Write {literal[0]}f.",
            )


def _double_kind(mnemonic: str) -> str:
    if mnemonic.startswith("v_cvt_f64_f32"):
        return "widen"
    if mnemonic.startswith("v_cvt_f32_f64"):
        return "narrow"
    return "compute" if _DOUBLE_ARITHMETIC.match(mnemonic) else "other"


def _barriers(kernel: KernelReport, lanes: LaneTrace) -> Iterator[XrayFinding]:
    """Find barriers that some threads of the block may not reach."""
    for index in divergent_barriers(kernel.instructions, kernel.labels, lanes.divergent):
        yield XrayFinding(
            rule=Rule.DIVERGENT_BARRIER,
            kernel=kernel.name,
            line=kernel.instructions[index].line,
            message=(
                "Threads of a block can diverge before this barrier, and those that took the other branch "
                "never reach it."
            ),
            advice=(
                "Let every thread reach the barrier: put the condition around the work, not around "
                "__syncthreads()."
            ),
        )


def _waves_of_32(source: str, kernels: Sequence[KernelReport]) -> Iterator[XrayFinding]:
    for assumption in find_assumptions(source)[:_MOST_FINDINGS]:
        yield XrayFinding(
            rule=Rule.WAVE_OF_32,
            kernel=_kernel_at(assumption.line, kernels),
            line=assumption.line,
            message=assumption.message,
            advice=assumption.advice,
        )


def _kernel_at(line: int, kernels: Sequence[KernelReport]) -> str:
    """Return the name of a kernel that contains code of this line, including helper functions."""
    return next(
        (k.name for k in kernels if any(instruction.line == line for instruction in k.instructions)), ""
    )


def _hottest_line(instructions: Sequence[Instruction]) -> int | None:
    """Return the line with the most of these instructions, in the innermost loop."""
    depth = max(instruction.depth for instruction in instructions)
    lines = Counter(
        instruction.line for instruction in instructions if instruction.depth == depth and instruction.line
    )
    anywhere = Counter(instruction.line for instruction in instructions if instruction.line)
    best = (lines or anywhere).most_common(1)
    return best[0][0] if best else None


def _kind(instruction: Instruction) -> InstructionKind:
    return kind_of(instruction.mnemonic, instruction.operands)
