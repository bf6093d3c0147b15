"""Findings about arithmetic: the matrix cores, packed instructions, and how tiles are stored.

As in `xray_findings`, each rule needs evidence in the assembly; without it there is no finding.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from warmfront.hip.xray.assembly import InstructionKind, kind_of, width_of
from warmfront.hip.xray.lane_analysis import operands_of
from warmfront.hip.xray.matrix_instructions import (
    BEST_BUILTINS,
    CYCLES_PER_PASS,
    MATRIX_RATES,
    flops_per_cycle,
    matrix_form,
)
from warmfront.hip.xray.matrix_usage import flops_per_lane, hot_loop
from warmfront.hip.xray.products import matrix_products
from warmfront.hip.xray.xray_report import Rule, XrayFinding

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from warmfront.hip.xray.assembly import Instruction
    from warmfront.hip.xray.lane_analysis import LaneTrace
    from warmfront.hip.xray.xray_report import KernelReport

#: Lanes that a compute unit's four SIMDs process per cycle.
_LANES_PER_CYCLE = 64

#: With fewer moves or a smaller share of a loop, moves between register files do not matter.
_MIN_AGPR_MOVES, _MIN_AGPR_SHARE = 8, 0.1

#: Fewer independent sums cannot be packed into pairs, or do not matter.
_MIN_UNPACKED = 4

_UNPACKED = re.compile(r"v_(?:fma|fmac|fmamk|fmaak)_f(?P<bits>16|32)(?:_e32|_e64)?")
_AGPR_MOVE = re.compile(r"v_accvgpr_(?:read|write|mov)")
_OFFSET = re.compile(r"offset:(-?\d+)")

#: Kinds of instructions that do not hide the latency of a matrix instruction.
_IDLE = frozenset({InstructionKind.WAIT, InstructionKind.OTHER, InstructionKind.MFMA})


def find_in_arithmetic(kernel: KernelReport, lanes: LaneTrace, arch: str) -> Iterator[XrayFinding]:
    """Yield the findings about a kernel's arithmetic, and about how a lane stores its results."""
    if kernel.mix.count(InstructionKind.MFMA):
        yield from _slow_forms(kernel, arch)
        yield from _dependent_chains(kernel, arch)
    elif scalar := list(_scalar_matmul(kernel, lanes, arch)):
        yield from scalar  # its advice is to rewrite the code that the rules below examine
        return
    else:
        yield from _unpacked(kernel)
    yield from _agpr_moves(kernel)
    yield from _narrow_stores(kernel)


def _scalar_matmul(kernel: KernelReport, lanes: LaneTrace, arch: str) -> Iterator[XrayFinding]:
    """Find a matrix product that is computed by the vector ALU."""
    products = matrix_products(kernel.instructions, lanes, kernel.block)
    if not products:
        return
    by_line = Counter(
        kernel.instructions[index].line for index in products if kernel.instructions[index].line
    )
    used = Counter(kernel.instructions[index].mnemonic for index in products)
    mnemonic = used.most_common(1)[0][0].removesuffix("_e32").removesuffix("_e64")
    elements = _element_type(kernel.instructions, mnemonic, arch)
    rate, vector_rate = MATRIX_RATES[arch][elements], flops_per_lane(mnemonic) * _LANES_PER_CYCLE
    builtin = BEST_BUILTINS[arch][elements]
    faster = (
        f"{rate // vector_rate} times as much"
        if rate >= 2 * vector_rate
        else "with a fraction of the instructions"
    )
    reduced = MATRIX_RATES[arch].get("xf32") if elements == "fp32" else None
    yield XrayFinding(
        rule=Rule.SCALAR_MATMUL,
        kernel=kernel.name,
        line=by_line.most_common(1)[0][0] if by_line else None,
        message=(
            "This is a matrix product without a matrix instruction: the vector ALU computes it with "
            f"{mnemonic}, at most {vector_rate} FLOP per cycle and compute unit. The matrix cores compute "
            f"{rate} of {elements}, {faster}."
        ),
        advice=(
            f"Let each wave compute a tile with {builtin}; docs/cdna3.md shows which elements a lane has."
            + (
                f" If 10 bits of mantissa are enough, {BEST_BUILTINS[arch]['xf32']} computes {reduced}."
                if reduced
                else ""
            )
        ),
    )


def _element_type(instructions: Sequence[Instruction], mnemonic: str, arch: str) -> str:
    """Return the type of the factors: that of the loaded values if they are converted first."""
    converted = {instruction.mnemonic for instruction in instructions if instruction.loop is not None}
    if "f64" in mnemonic:
        return "fp64"
    if "i8" in mnemonic:
        return "int8"
    if "fp8" in MATRIX_RATES[arch] and any(
        re.match(r"v_cvt_(?:pk_)?f32_(?:fp8|bf8)", name) for name in converted
    ):
        return "fp8"
    if "f16" in mnemonic or "mix" in mnemonic or any(name.startswith("v_cvt_f32_f16") for name in converted):
        return "fp16"
    return "fp32"


def _slow_forms(kernel: KernelReport, arch: str) -> Iterator[XrayFinding]:
    """Find forms of MFMA that compute less per cycle than others for the same types."""
    lines: dict[str, tuple[int | None, float, str]] = {}
    for instruction in hot_loop(kernel.instructions):
        form = matrix_form(instruction.mnemonic, instruction.operands)
        rate = flops_per_cycle(form, arch) if form else None
        if form and rate and not form.sparse and rate < MATRIX_RATES[arch].get(form.element_type, 0):
            lines.setdefault(form.name, (instruction.line, rate, form.element_type))
    for name, (line, rate, elements) in lines.items():
        yield XrayFinding(
            rule=Rule.SLOW_MATRIX_FORM,
            kernel=kernel.name,
            line=line,
            message=(
                f"{name} computes {rate:.0f} FLOP per cycle and compute unit; the fastest form for "
                f"{elements} computes {MATRIX_RATES[arch][elements]}."
            ),
            advice=f"Use {BEST_BUILTINS[arch][elements]}, or its 16x16 form, which have a longer k.",
        )


def _dependent_chains(kernel: KernelReport, arch: str) -> Iterator[XrayFinding]:
    """Find a loop whose matrix instructions all wait for each other, with no other work in between."""
    matrix: list[tuple[Instruction, int]] = []
    waiting: list[Instruction] = []
    between = 0
    for instruction in hot_loop(kernel.instructions):
        if form := matrix_form(instruction.mnemonic, instruction.operands):
            cycles = form.cycles(arch) or 0
            if matrix and _depends(instruction, matrix[-1][0]) and between < matrix[-1][1] // CYCLES_PER_PASS:
                waiting.append(instruction)
            matrix.append((instruction, cycles))
            between = 0
        elif kind_of(instruction.mnemonic, instruction.operands) not in _IDLE:
            between += 1
    if len(matrix) < 2 or len(waiting) < len(matrix) - 1:
        return
    cycles = matrix[0][1]
    yield XrayFinding(
        rule=Rule.DEPENDENT_MFMA,
        kernel=kernel.name,
        line=waiting[0].line,
        message=(
            f"All {len(matrix)} matrix instructions of this loop add to one tile: each begins only when the "
            f"previous one has ended ({cycles} cycles), and each needs its own A and B."
        ),
        advice=(
            "Let a wave compute 2 x 2 tiles or more: four independent sums, and each operand is used twice."
        ),
    )


def _depends(instruction: Instruction, before: Instruction) -> bool:
    """Return whether a matrix instruction reads the result of the previous one."""
    result = operands_of(before.operands)[0]
    return result in operands_of(instruction.operands)[1:]


def _agpr_moves(kernel: KernelReport) -> Iterator[XrayFinding]:
    """Find loops that copy values between the vector and the accumulation registers."""
    moves: dict[str, list[Instruction]] = defaultdict(list)
    sizes: Counter[str] = Counter()
    for instruction in kernel.instructions:
        if instruction.loop is not None:
            sizes[instruction.loop] += 1
            if _AGPR_MOVE.match(instruction.mnemonic):
                moves[instruction.loop].append(instruction)
    if not moves:
        return
    loop, worst = max(moves.items(), key=lambda item: len(item[1]))
    if len(worst) < max(_MIN_AGPR_MOVES, _MIN_AGPR_SHARE * sizes[loop]):
        return
    yield XrayFinding(
        rule=Rule.AGPR_MOVES,
        kernel=kernel.name,
        line=_first_matrix_line(kernel, loop) or worst[0].line,
        message=(
            f"Each round of this loop copies {len(worst)} values between vector registers and accumulation "
            f"registers, {CYCLES_PER_PASS * len(worst)} cycles per wave: the kernel needs more than 256 "
            "vector registers, and only matrix instructions and loads can use the others."
        ),
        advice=(
            "Keep fewer values live: smaller tiles per wave, or sums that only matrix instructions touch in "
            "the loop."
        ),
    )


def _first_matrix_line(kernel: KernelReport, loop: str) -> int | None:
    return next(
        (
            instruction.line
            for instruction in kernel.instructions
            if instruction.loop == loop and "mfma" in instruction.mnemonic and instruction.line
        ),
        None,
    )


def _unpacked(kernel: KernelReport) -> Iterator[XrayFinding]:
    """Find independent multiply-adds of a loop that are computed one by one, not in pairs."""
    found: dict[tuple[str, int], list[Instruction]] = defaultdict(list)
    vector: Counter[tuple[str, int]] = Counter()
    for instruction in kernel.instructions:
        if instruction.loop is None:
            continue
        place = (instruction.loop, instruction.block)
        vector[place] += kind_of(instruction.mnemonic, instruction.operands) is InstructionKind.VALU
        if _UNPACKED.fullmatch(instruction.mnemonic):
            found[place].append(instruction)
    for place, instructions in found.items():
        sums = {operands_of(instruction.operands)[0] for instruction in instructions}
        bits = [match["bits"] for each in instructions if (match := _UNPACKED.fullmatch(each.mnemonic))]
        alone = [each for each in instructions if not _reads_another(each, sums)]
        if len(set(bits)) > 1 or len(alone) < len(instructions) or len(sums) < _MIN_UNPACKED:
            continue
        if 3 * len(instructions) < vector[place]:
            continue
        packed = f"v_pk_fma_f{bits[0]}"
        yield XrayFinding(
            rule=Rule.UNPACKED_FMA,
            kernel=kernel.name,
            line=instructions[0].line,
            message=(
                f"{len(instructions)} independent multiply-adds of this loop are computed one by one; "
                f"{packed} computes two in the time of one."
            ),
            advice=(
                "Keep the values in pairs, of a type with __attribute__((ext_vector_type(2))), and compute "
                "with whole pairs: the compiler then packs them."
                if bits[0] == "32"
                else "Keep the values in pairs, as __half2, and compute with __hfma2."
            ),
        )


def _reads_another(instruction: Instruction, sums: set[str]) -> bool:
    """Return whether a multiply-add reads a sum of the same block other than its own."""
    target, *sources = operands_of(instruction.operands)
    return any(source in sums and source != target for source in sources)


def _narrow_stores(kernel: KernelReport) -> Iterator[XrayFinding]:
    """Find lanes that store neighboring values one by one, or the sums of a tile by columns."""
    stores = [
        instruction
        for instruction in kernel.instructions
        if kind_of(instruction.mnemonic, instruction.operands) is InstructionKind.GLOBAL_STORE
        and width_of(instruction.mnemonic) <= 4
    ]
    widest = max(kernel.mix.store_widths, default=0)
    if not stores or widest >= 4 * min(width_of(store.mnemonic) for store in stores):
        return  # the narrow ones are for the edge
    if neighbors := _neighbors(stores):
        width = width_of(neighbors[0].mnemonic)
        yield XrayFinding(
            rule=Rule.NARROW_STORES,
            kernel=kernel.name,
            line=neighbors[0].line,
            message=(
                f"A lane stores {len(neighbors)} neighboring values of {width} bytes with an instruction "
                "each; one instruction can store 16 bytes."
            ),
            advice=(
                "Store all of them through a pointer to a 16-byte type where all are inside, and one by one "
                "only at the edge."
            ),
        )
        return
    sums = _stored_sums(kernel, stores)
    if len(sums) >= _MIN_UNPACKED:
        width = width_of(sums[0].mnemonic)
        yield XrayFinding(
            rule=Rule.NARROW_STORES,
            kernel=kernel.name,
            line=sums[0].line,
            message=(
                f"Sums of a tile are stored with {len(sums)} instructions of {width} bytes per lane: a lane "
                "has four rows of one column, which are not neighbors in memory."
            ),
            advice=(
                "Exchange the first two operands of the matrix instruction: the tile is transposed, a lane "
                f"has four columns of one row, and stores {4 * width} bytes at once."
            ),
        )


def _neighbors(stores: Sequence[Instruction]) -> list[Instruction]:
    """Return stores through one address whose offsets follow each other, of at least 16 bytes."""
    by_address: dict[tuple[str, int], dict[int, Instruction]] = defaultdict(dict)
    for store in stores:
        offset = _OFFSET.search(store.operands)
        operands = operands_of(store.operands)
        key = (f"{operands[0]} {operands[-1]}", width_of(store.mnemonic))
        by_address[key].setdefault(int(offset[1]) if offset else 0, store)
    for (_, width), by_offset in by_address.items():
        for first in sorted(by_offset):
            row = [by_offset.get(first + width * number) for number in range(16 // width)]
            found = [store for store in row if store is not None]
            if len(found) == len(row):
                return found
    return []


def _stored_sums(kernel: KernelReport, stores: Sequence[Instruction]) -> list[Instruction]:
    """Return the stores of results of matrix instructions, possibly converted to another type."""
    sums: set[str] = set()
    stored: list[Instruction] = []
    candidates = set(map(id, stores))
    for instruction in kernel.instructions:
        operands = operands_of(instruction.operands)
        if id(instruction) in candidates:
            stored += [instruction] if len(operands) > 1 and operands[1] in sums else []
        elif "mfma" in instruction.mnemonic:
            sums.update(_registers(operands[0]))
        elif operands and instruction.mnemonic.startswith("v_"):
            converts = instruction.mnemonic.startswith("v_cvt_") and operands[-1] in sums
            (sums.update if converts else sums.difference_update)(_registers(operands[0]))
    return stored


def _registers(operand: str) -> list[str]:
    match = re.match(r"^([av])\[(\d+):(\d+)\]$", operand)
    return [f"{match[1]}{n}" for n in range(int(match[2]), int(match[3]) + 1)] if match else [operand]
