"""Finds barriers that only some threads of a block may reach, from the assembly's masks and branches.

A condition counts only if it is known to differ with the thread's number: data that merely might differ does
not. It reads assembly and says which instructions; words are for others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from warmfront.hip.xray.isa import InstructionKind, kind_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from warmfront.hip.xray.assembly import Instruction


#: Masks that are followed: enough for a kernel that a person wrote.
_MOST_MASKS = 100

#: Instructions that hand masked lanes on to another register.
_PASS_ON = ("s_mov_b64", "s_xor_b64", "s_or_b64", "s_or_saveexec", "s_andn2_saveexec")


def divergent_barriers(
    instructions: Sequence[Instruction], labels: Mapping[str, int], masking: Collection[int]
) -> list[int]:
    """Indexes of the barriers that are reached with lanes masked off by one of `masking`."""
    barriers = {i for i, each in enumerate(instructions) if kind_of(each.mnemonic) is InstructionKind.BARRIER}
    if not barriers or not masking:
        return []
    flow = _Flow(instructions, labels)
    found: set[int] = set()
    for start in sorted(masking)[:_MOST_MASKS]:
        found |= barriers & flow.masked_from(start)
    return sorted(found)


class _Flow:
    """The ways through a kernel's code."""

    def __init__(self, instructions: Sequence[Instruction], labels: Mapping[str, int]) -> None:
        self._instructions = instructions
        self._labels = labels
        self._operands = [[part.strip() for part in each.operands.split(",")] for each in instructions]
        #: The few instructions that can hand masked lanes on.
        self._passing = [i for i, each in enumerate(instructions) if each.mnemonic.startswith(_PASS_ON)]

    def masked_from(self, start: int) -> set[int]:
        """The instructions that run before the lanes masked off at `start` are back."""
        saved = self._holders(start)
        seen: set[int] = set()
        waiting = [start + 1]
        while waiting:
            index = waiting.pop()
            if index in seen or index >= len(self._instructions):
                continue
            seen.add(index)
            if not self._gives_back(index, saved):
                waiting += self._next(index)
        return seen

    def _holders(self, start: int) -> set[str]:
        """The registers that hold the lanes masked off at `start`: copies, and what is left for an else."""
        holders = {self._operands[start][0]}
        for index in self._passing:
            target, *sources = self._operands[index]
            if index > start and target != "exec" and not holders.isdisjoint(sources):
                holders.add(target)
        return holders

    def _gives_back(self, index: int, saved: set[str]) -> bool:
        """Whether lanes that are held back run again after this."""
        target, *sources = self._operands[index]
        return target == "exec" and (not saved.isdisjoint(sources) or "exec" in saved)

    def _next(self, index: int) -> Iterator[int]:
        mnemonic = self._instructions[index].mnemonic
        if mnemonic.startswith(("s_branch", "s_cbranch")):
            target = self._labels.get(self._operands[index][0].removeprefix(".L"))
            if target is not None:
                yield target
        if not mnemonic.startswith(("s_branch", "s_endpgm", "s_setpc")):
            yield index + 1
