"""Finds barriers that only some threads of a block may reach, from the assembly's masks and branches.

A condition counts only if it is known to differ with the thread's number: data that merely might differ does
not. It reads assembly and says which instructions; words are for others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from warmfront.hip.xray.isa import Kind, kind_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from warmfront.hip.xray.assembly import Instruction


def divergent_barriers(
    instructions: Sequence[Instruction], labels: Mapping[str, int], masking: Collection[int]
) -> list[int]:
    """Indexes of the barriers that are reached with lanes masked off by one of `masking`."""
    barriers = {i for i, each in enumerate(instructions) if kind_of(each.mnemonic) is Kind.BARRIER}
    if not barriers:
        return []
    found: set[int] = set()
    for start in masking:
        found |= barriers & _masked_from(start, instructions, labels)
    return sorted(found)


def _masked_from(start: int, instructions: Sequence[Instruction], labels: Mapping[str, int]) -> set[int]:
    """The instructions that run before the lanes masked off at `start` are back."""
    saved = _holders(start, instructions)
    seen: set[int] = set()
    waiting = [start + 1]
    while waiting:
        index = waiting.pop()
        if index in seen or index >= len(instructions):
            continue
        seen.add(index)
        if not _gives_back(instructions[index], saved):
            waiting += _next(index, instructions[index], labels)
    return seen


def _holders(start: int, instructions: Sequence[Instruction]) -> set[str]:
    """The registers that hold the lanes masked off at `start`, by copies and by what is left for an else."""
    holders = {_operands(instructions[start])[0]}
    for each in instructions[start + 1 :]:
        operands = _operands(each)
        if each.mnemonic.startswith(_PASS_ON) and operands[0] != "exec" and holders & set(operands[1:]):
            holders.add(operands[0])
    return holders


_PASS_ON = ("s_mov_b64", "s_xor_b64", "s_or_b64", "s_or_saveexec", "s_andn2_saveexec")


def _gives_back(each: Instruction, saved: set[str]) -> bool:
    """Whether lanes that are held back run again after this."""
    operands = _operands(each)
    return operands[0] == "exec" and (bool(saved & set(operands[1:])) or "exec" in saved)


def _operands(each: Instruction) -> list[str]:
    return [part.strip() for part in each.operands.split(",")]


def _next(index: int, each: Instruction, labels: Mapping[str, int]) -> Iterator[int]:
    if each.mnemonic.startswith(("s_branch", "s_cbranch")):
        target = labels.get(each.operands.removeprefix(".L"))
        if target is not None:
            yield target
    if not each.mnemonic.startswith(("s_branch", "s_endpgm", "s_setpc")):
        yield index + 1
