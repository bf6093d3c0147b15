"""What an expert would point at in a kernel: where, why it matters, and what to try.

Few and true. Each rule looks for evidence in the assembly or the text, and keeps silent where it has none.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections import Counter
from typing import TYPE_CHECKING

from warmfront.hip.xray.barrier_divergence import divergent_barriers
from warmfront.hip.xray.demangler import bare_name
from warmfront.hip.xray.isa import InstructionKind, kind_of, width_of
from warmfront.hip.xray.kernel_launches import dynamic_lds_of, is_one_block
from warmfront.hip.xray.lane_analysis import LANES, trace_lanes
from warmfront.hip.xray.wave32 import find_assumptions
from warmfront.hip.xray.xray_report import Rule, XrayFinding

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from warmfront.hip.xray.assembly import Instruction
    from warmfront.hip.xray.kernel_launches import KernelLaunch
    from warmfront.hip.xray.lane_analysis import LaneTrace
    from warmfront.hip.xray.occupancy import ComputeUnit
    from warmfront.hip.xray.xray_report import KernelReport

#: Nobody reads more, and no attack on the reader shall last.
_MOST_FINDINGS = 50
#: Instructions of a kernel whose lanes are followed: beyond, it takes longer than compiling.
_MOST_FOLLOWED = 20_000

#: LaneTrace that want the same bank at once before it is worth a word.
_WORST_CONFLICT = 4

#: Arithmetic for each load above which a loop is not about memory.
_MOST_VALU_PER_LOAD = 16


def find_all(
    source: str, kernels: Sequence[KernelReport], launches: Sequence[KernelLaunch], unit: ComputeUnit
) -> tuple[XrayFinding, ...]:
    """Every finding about a file, by kernel and line, each said once."""
    lines = source.split("\n")
    found: list[XrayFinding] = []
    for kernel in kernels:
        found += _scratch(kernel)
        found += _too_much_lds(kernel, launches, unit)
        found += _double_math(kernel, lines)
        if len(kernel.instructions) <= _MOST_FOLLOWED:
            lanes = trace_lanes(kernel.instructions, kernel.block)
            if not is_one_block(launches, bare_name(kernel.name)):  # one block fills no memory bus
                found += _narrow_loads(kernel, lanes)
            found += _bank_conflicts(kernel, lanes, unit)
            found += _barriers(kernel, lanes)
    found += _waves_of_32(source, kernels)
    seen: dict[tuple[Rule, int | None, str], XrayFinding] = {}
    for finding in found:
        seen.setdefault((finding.rule, finding.line, finding.message), finding)
    return tuple(seen.values())[:_MOST_FINDINGS]


def _scratch(kernel: KernelReport) -> Iterator[XrayFinding]:
    """Memory that stands in for registers."""
    touched = [each for each in kernel.instructions if _kind(each) is InstructionKind.SCRATCH]
    if not touched:
        return
    if kernel.vgpr_spills:
        spilled = [each for each in touched if "Folded" in each.note] or touched
        yield XrayFinding(
            rule=Rule.SPILLS,
            kernel=kernel.name,
            line=_hottest_line(spilled),
            message=(
                f"The registers do not suffice: {kernel.vgpr_spills} values are kept in scratch memory, "
                f"{kernel.scratch_bytes} bytes a thread, and every use of one is a trip to memory."
            ),
            advice=_more_registers(kernel),
        )
    elif not kernel.mix.count(InstructionKind.CALL):
        yield XrayFinding(
            rule=Rule.PRIVATE_ARRAY,
            kernel=kernel.name,
            line=_hottest_line(touched),
            message=(
                f"An array of each thread, {kernel.scratch_bytes} bytes, is indexed by a number known only "
                "at run time. Registers cannot be indexed, so it lives in scratch memory."
            ),
            advice="Index it with constants (unroll the loop that does), or put it in __shared__ memory.",
        )


def _more_registers(kernel: KernelReport) -> str:
    threads = kernel.block[0] * kernel.block[1] * kernel.block[2] if kernel.block else None
    bound = kernel.launch_bound_threads
    if bound is None and threads and threads < 1024:
        return (
            f"Say __launch_bounds__({threads}): without it the compiler prepares for blocks of 1024 threads, "
            "which leaves a thread 128 registers."
        )
    if bound is None:
        return "Launch smaller blocks and say so with __launch_bounds__, or keep fewer values alive at once."
    return (
        "Keep fewer values alive at once: smaller tiles for a thread, or less unrolling (#pragma unroll 1)."
    )


def _too_much_lds(
    kernel: KernelReport, launches: Sequence[KernelLaunch], unit: ComputeUnit
) -> Iterator[XrayFinding]:
    """A launch that asks for more LDS than there is. What the compiler knows of, it refuses by itself."""
    for line, extra in dynamic_lds_of(launches, bare_name(kernel.name)).items():
        wanted = kernel.lds_bytes + extra
        if wanted > unit.lds_bytes:
            yield XrayFinding(
                rule=Rule.LDS_OVER_LIMIT,
                kernel=kernel.name,
                line=line,
                message=(
                    f"The launch wants {wanted:,} bytes of LDS for a block; a compute unit has "
                    f"{unit.lds_bytes:,}. It will fail with an error that only hipGetLastError tells."
                ),
                advice="Work on smaller tiles, or keep them in a narrower type.",
            )


def _narrow_loads(kernel: KernelReport, lanes: LaneTrace) -> Iterator[XrayFinding]:
    """Neighbouring lanes copy neighbouring elements, a few bytes each, with little else to do."""
    loads = [each for each in kernel.instructions if _kind(each) is InstructionKind.GLOBAL_LOAD]
    if not loads or max(width_of(each.mnemonic) for each in loads) > 4 or _shares(kernel):
        return
    depth = max(each.depth for each in loads)
    hot = [(i, each) for i, each in enumerate(kernel.instructions) if each.depth == depth]
    loading = [(i, each) for i, each in hot if _kind(each) is InstructionKind.GLOBAL_LOAD]
    storing = [(i, each) for i, each in hot if _kind(each) is InstructionKind.GLOBAL_STORE]
    widest = max(width_of(each.mnemonic) for _, each in loading)
    if (
        widest == 4 and depth == 0
    ):  # a thread with one element each: wider means fewer threads, which may not pay
        return
    valu = sum(_kind(each) is InstructionKind.VALU for _, each in hot)
    stride = {access.index: _stride(access.address.lanes) for access in lanes.accesses}
    in_a_row = all(stride.get(i) == width_of(each.mnemonic) for i, each in loading + storing)
    if storing and in_a_row and valu <= _MOST_VALU_PER_LOAD * len(loading):
        yield XrayFinding(
            rule=Rule.NARROW_LOADS,
            kernel=kernel.name,
            line=loading[0][1].line,
            message=(
                f"Each lane loads {widest} {'byte' if widest == 1 else 'bytes'} at a time, and there is "
                "little to compute: it waits for memory. A lane can load 16 bytes with one instruction."
            ),
            advice=_wider(widest),
        )


def _wider(width: int) -> str:
    if width == 4:
        return "Let a thread take 4 neighbours at once through a float4 pointer, and the rest one by one."
    return f"Let a thread take {16 // width} neighbours at once, through a pointer to a struct of 16 bytes."


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
    """The distance between neighbouring lanes, if it is the same for all."""
    steps = {after - before for before, after in itertools.pairwise(addresses)}
    return steps.pop() if len(steps) == 1 else None


def _bank_conflicts(kernel: KernelReport, lanes: LaneTrace, unit: ComputeUnit) -> Iterator[XrayFinding]:
    """LaneTrace whose addresses in LDS are a fixed distance apart that puts them in the same bank."""
    # 4 bytes wide each; 32 of them, 64 on CDNA4: "Understanding AMD GPU LDS and Bank Conflicts", Composable
    # KernelReport's documentation, which also says how many lanes go at once for each width.
    banks = 64 if unit.arch == "gfx950" else 32
    worst: dict[int | None, tuple[int, bool]] = {}
    for access in lanes.accesses:
        each = kernel.instructions[access.index]
        if _kind(each) not in {InstructionKind.LDS_READ, InstructionKind.LDS_WRITE}:
            continue
        ways = conflict_ways(access.address.lanes, _single_width(each.mnemonic), banks)
        if ways >= _WORST_CONFLICT and ways > worst.get(each.line, (0, False))[0]:
            worst[each.line] = (ways, _kind(each) is InstructionKind.LDS_READ)
    for line, (ways, reads) in worst.items():
        yield XrayFinding(
            rule=Rule.BANK_CONFLICT,
            kernel=kernel.name,
            line=line,
            message=(
                f"{ways} lanes at a time {'read from' if reads else 'write to'} the same bank of LDS, "
                f"so the access takes {ways} times as long."
            ),
            advice=(
                "Make the rows of the array one element longer ([N][N + 1]), so that a column runs over "
                "all banks."
            ),
        )


@functools.lru_cache(maxsize=1024)  # a loop that is unrolled repeats itself
def conflict_ways(addresses: tuple[int, ...], width_bytes: int, banks: int) -> int:
    """How many different words of one bank the lanes that go together want at most."""
    together = max(banks * 4 // max(width_bytes, 4), 1)
    worst = 1
    for first in range(0, LANES, together):
        words: dict[int, set[int]] = {}
        for address in addresses[first : first + together]:
            for byte in range(0, max(width_bytes, 4), 4):
                word = (address + byte) // 4
                words.setdefault(word % banks, set()).add(word)
        worst = max(worst, *(len(wanted) for wanted in words.values()))
    return worst


def _single_width(mnemonic: str) -> int:
    """The bytes of one of the accesses that an instruction makes: `ds_read2_b32` makes two of 4."""
    return width_of(mnemonic) // 2 if re.match(r"ds_(?:read|write)2", mnemonic) else width_of(mnemonic)


_DOUBLE_ARITHMETIC = re.compile(r"v_(?:add|mul|fma|div_\w+|rcp|rsq|sqrt|min|max|ldexp|floor|trunc|rndne)_f64")
#: A literal with a point or an exponent and no f behind it.
_DOUBLE_LITERAL = re.compile(r"(?<![\w.])(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][+-]?\d+)?(?![\w.])")


def _double_math(kernel: KernelReport, lines: Sequence[str]) -> Iterator[XrayFinding]:
    """A line that makes doubles of floats, computes, and makes floats of them again, for a constant."""
    by_line: dict[int, list[str]] = {}
    for each in kernel.instructions:
        if each.line and "f64" in each.mnemonic:
            by_line.setdefault(each.line, []).append(_double_kind(each.mnemonic))
    for line, kinds in sorted(by_line.items()):
        text = lines[line - 1].partition("//")[0] if line <= len(lines) else ""
        computed = kinds.count("compute")
        there_and_back = kinds[0] == "widen" and kinds[-1] == "narrow" and computed
        literal = _DOUBLE_LITERAL.search(text)
        if there_and_back and literal and "double" not in text:
            yield XrayFinding(
                rule=Rule.DOUBLE_MATH,
                kernel=kernel.name,
                line=line,
                message=(
                    f"{literal[0]} is a double, so the line is computed in double precision "
                    f"({computed} instructions of half the speed) and rounded to float again."
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
    """Barriers that some threads of the block may not reach."""
    for index in divergent_barriers(kernel.instructions, kernel.labels, lanes.divergent):
        yield XrayFinding(
            rule=Rule.DIVERGENT_BARRIER,
            kernel=kernel.name,
            line=kernel.instructions[index].line,
            message=(
                "Threads of a block can part before this barrier, and those that took the other way "
                "never reach it."
            ),
            advice=(
                "Let every thread come to the barrier: put the condition around the work, not around "
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
    """A kernel that has code of this line, through helpers too."""
    return next((k.name for k in kernels if any(each.line == line for each in k.instructions)), "")


def _hottest_line(instructions: Sequence[Instruction]) -> int | None:
    """The line with the most of them, in the innermost loop."""
    depth = max(each.depth for each in instructions)
    lines = Counter(each.line for each in instructions if each.depth == depth and each.line)
    anywhere = Counter(each.line for each in instructions if each.line)
    best = (lines or anywhere).most_common(1)
    return best[0][0] if best else None


def _kind(each: Instruction) -> InstructionKind:
    return kind_of(each.mnemonic, each.operands)
