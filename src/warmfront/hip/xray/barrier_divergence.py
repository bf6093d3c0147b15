"""Find barriers that only some threads of a block reach, from the masks and branches in the assembly.

A condition counts only if it is known to depend on the thread's index; conditions on data, which may or may
not differ between threads, do not. This module returns instruction indexes; `xray_findings` writes the
findings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from warmfront.hip.xray.assembly import InstructionKind, kind_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from warmfront.hip.xray.assembly import Instruction


#: Masks that are analyzed; enough for any kernel written by hand.
_MOST_MASKS = 100

#: Instructions that copy masked lanes to another register.
_MASK_COPIES = ("s_mov_b64", "s_xor_b64", "s_or_b64", "s_or_saveexec", "s_andn2_saveexec")


def divergent_barriers(
    instructions: Sequence[Instruction], labels: Mapping[str, int], masking: Collection[int]
) -> list[int]:
    """Return the indexes of the barriers that are reached while one of `masking` has lanes masked off."""
    barriers = {
        i
        for i, instruction in enumerate(instructions)
        if kind_of(instruction.mnemonic) is InstructionKind.BARRIER
    }
    if not barriers or not masking:
        return []
    flow = _ControlFlow(instructions, labels)
    divergent: set[int] = set()
    for start in sorted(masking)[:_MOST_MASKS]:
        divergent |= barriers & flow.masked_from(start)
    return sorted(divergent)


class _ControlFlow:
    """The control flow of a kernel's instructions."""

    def __init__(self, instructions: Sequence[Instruction], labels: Mapping[str, int]) -> None:
        self._instructions = instructions
        self._labels = labels
        self._operands = [
            [part.strip() for part in instruction.operands.split(",")] for instruction in instructions
        ]
        #: The few instructions that can copy masked lanes.
        self._copies = [
            i for i, instruction in enumerate(instructions) if instruction.mnemonic.startswith(_MASK_COPIES)
        ]

    def masked_from(self, start: int) -> set[int]:
        """Return the instructions that can run before the lanes masked off at `start` are restored."""
        saved = self._holders(start)
        reached: set[int] = set()
        pending = [start + 1]
        while pending:
            index = pending.pop()
            if index in reached or index >= len(self._instructions):
                continue
            reached.add(index)
            if not self._restores(index, saved):
                pending += self._successors(index)
        return reached

    def _holders(self, start: int) -> set[str]:
        """Return the registers that hold the lanes masked off at `start`: copies, and masks for an else."""
        holders = {self._operands[start][0]}
        for index in self._copies:
            target, *sources = self._operands[index]
            if index > start and target != "exec" and not holders.isdisjoint(sources):
                holders.add(target)
        return holders

    def _restores(self, index: int, saved: set[str]) -> bool:
        """Return whether this instruction restores the masked lanes."""
        target, *sources = self._operands[index]
        return target == "exec" and (not saved.isdisjoint(sources) or "exec" in saved)

    def _successors(self, index: int) -> Iterator[int]:
        mnemonic = self._instructions[index].mnemonic
        if mnemonic.startswith(("s_branch", "s_cbranch")):
            target = self._labels.get(self._operands[index][0].removeprefix(".L"))
            if target is not None:
                yield target
        if not mnemonic.startswith(("s_branch", "s_endpgm", "s_setpc")):
            yield index + 1
