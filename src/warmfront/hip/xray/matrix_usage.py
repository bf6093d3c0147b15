"""The use of the matrix cores in a kernel's hot loop: forms, their share of the arithmetic, and cycles."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from warmfront.hip.xray.assembly import InstructionKind, kind_of
from warmfront.hip.xray.matrix_instructions import CYCLES_PER_PASS, matrix_form
from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warmfront.hip.xray.assembly import Instruction
    from warmfront.hip.xray.matrix_instructions import MatrixForm

_LANES = 64
_VECTOR_ARITHMETIC = re.compile(
    r"v_(?P<packed>pk_)?(?P<operation>fma_mix|fma|fmac|fmamk|fmaak|mad|dot2c?|add|sub|subrev|mul)"
    r"(?:lo|hi|_legacy)?_f(?:16|32|64)"
)
_TWO_FLOPS = frozenset({"fma_mix", "fma", "fmac", "fmamk", "fmaak", "mad"})


@dataclass(frozen=True, kw_only=True)
class MatrixFormUse:
    """One form of MFMA in the hot loop."""

    form: str  #: the mnemonic
    instructions: int
    flops: int  #: FLOPs of one instruction
    cycles: int | None  #: cycles for which an instruction occupies the matrix core; None if not published
    share: float  #: share of the loop's FLOPs, including those of the vector ALU


@dataclass(frozen=True, kw_only=True)
class MatrixUsage:
    """The matrix instructions of the loop that has the most of them, or of the whole kernel."""

    line: int | None  #: the line of the first matrix instruction
    forms: tuple[MatrixFormUse, ...]
    vector_flops: int  #: of the vector ALU in the same loop, per wave
    accumulators: int  #: independent sums, each in its own registers
    matrix_cycles: int | None  #: cycles for which the loop's instructions occupy the matrix core
    issue_cycles: int  #: cycles in which the SIMD issues the loop's vector and matrix instructions
    #: The maximum share of the time in which the matrix core can be busy: less than 1 if issuing the other
    #: instructions takes longer than the matrix instructions.
    most_utilisation: float | None


def hot_loop(instructions: Sequence[Instruction]) -> list[Instruction]:
    """Return the body with the most matrix FLOPs: of a loop, or the whole kernel if no loop has any."""
    flops: Counter[str | None] = Counter()
    for instruction in instructions:
        if form := matrix_form(instruction.mnemonic, instruction.operands):
            flops[instruction.loop] += form.flops * (1 if instruction.loop is None else 1_000)
    if not flops:
        return []
    loop = flops.most_common(1)[0][0]
    return [instruction for instruction in instructions if loop is None or instruction.loop == loop]


def matrix_usage(instructions: Sequence[Instruction], arch: str) -> MatrixUsage | None:
    """Return the use of the matrix cores, or None for a kernel without matrix instructions."""
    body = hot_loop(instructions)
    if not body:
        return None
    forms: Counter[MatrixForm] = Counter()
    accumulators: set[str] = set()
    vector_flops = issued = 0
    line = None
    for instruction in body:
        if form := matrix_form(instruction.mnemonic, instruction.operands):
            forms[form] += 1
            accumulators.add(instruction.operands.partition(",")[0])
            line = line or instruction.line
            issued += 1
        elif kind_of(instruction.mnemonic) is InstructionKind.VALU:
            vector_flops += _LANES * flops_per_lane(instruction.mnemonic)
            issued += 1
    total = vector_flops + sum(form.flops * count for form, count in forms.items())
    cycles = [(form.cycles(arch), count) for form, count in forms.items()]
    matrix_cycles = sum(each * count for each, count in cycles if each)
    known = all(each for each, _ in cycles)
    issue_cycles = issued * CYCLES_PER_PASS
    return MatrixUsage(
        line=line,
        forms=tuple(
            MatrixFormUse(
                form=form.name,
                instructions=count,
                flops=form.flops,
                cycles=form.cycles(arch),
                share=round(form.flops * count / total, 4),
            )
            for form, count in forms.most_common()
        ),
        vector_flops=vector_flops,
        accumulators=len(accumulators),
        matrix_cycles=matrix_cycles if known else None,
        issue_cycles=issue_cycles,
        most_utilisation=round(matrix_cycles / max(matrix_cycles, issue_cycles), 4) if known else None,
    )


def flops_per_lane(mnemonic: str) -> int:
    """Return the floating-point operations of a vector instruction per lane, or 0."""
    match = _VECTOR_ARITHMETIC.match(mnemonic)
    if match is None:
        return 0
    if match["operation"].startswith("dot2"):
        return 4
    return (2 if match["operation"] in _TWO_FLOPS else 1) * (2 if match["packed"] else 1)
