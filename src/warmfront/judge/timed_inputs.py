"""The inputs of timed calls, and the check of their outputs.

No two calls get the same inputs, and the outputs of every call are checked.

- `FreshInputs`: each call has inputs that NumPy draws, and NumPy checks its outputs. Used for small cases.
- `MixedInputs`: the harness mixes the inputs of each call from base sets, and checks the outputs with its own
  reference, both on the GPU. NumPy rechecks every slot that the harness rejects, and decides.
  For large matrix products, the harness checks only some rows, which are drawn at random after the call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from warmfront.judge.case_memory import SlotMix
from warmfront.judge.mixed_inputs import mix
from warmfront.judge.output_check import check_call

if TYPE_CHECKING:
    from warmfront.judge.box_messages import RunAnswer
    from warmfront.judge.buffer_layout import BufferLayout
    from warmfront.judge.case_data import BasePair, CaseData, CaseGenerator, CasePrefetcher
    from warmfront.judge.case_memory import CaseMemory, DeviceMemory
    from warmfront.judge_request import JudgeRequest

#: Memory for all slots of a case: in the judge, and on the device.
MAX_FILE_BYTES = 256 << 20
MAX_DEVICE_BYTES = 8 << 30
#: Calls in a large window if NumPy must check their outputs.
HOST_CHECKED_CALLS = 2
#: For timed calls whose reference takes much longer than the kernel, the harness checks one row out of this
#: many: see device_references.h.
ROW_SHARE = 8


class TimedInputs(Protocol):
    """The inputs of the timed calls of one case."""

    first: CaseData  #: for the layout, and for messages
    max_bytes: int  #: for all slots
    max_calls: int | None  #: per window, if there is a limit
    plans_once: bool  #: whether one layout, with all slots, serves every window

    def plan(self, layout: BufferLayout) -> bytes:
        """Allocate the memory of the layout, and return the guest's plan."""

    def fill(self, layout: BufferLayout, calls: int) -> None:
        """Provide inputs that no other call had, and poisoned outputs, for the first slots."""

    def check(self, layout: BufferLayout, run_answer: RunAnswer) -> None:
        """Raise `KernelFailure` if a call since the last `fill` gave a wrong output."""


class FreshInputs:
    """Inputs that NumPy draws for each call."""

    max_bytes = MAX_FILE_BYTES
    max_calls: int | None = None
    plans_once = False

    def __init__(self, case_generator: CaseGenerator, number: int, memory: CaseMemory) -> None:
        self._case_generator = case_generator
        self._number = number
        self._memory = memory
        self._count = 0
        self._cases: list[CaseData] = []
        self.first = self._next()

    def plan(self, layout: BufferLayout) -> bytes:
        """Allocate the memory."""
        return self._memory.plan(layout)

    def fill(self, layout: BufferLayout, calls: int) -> None:
        """Draw inputs and write them."""
        self._cases = [self._next() for _ in range(calls)]
        self._memory.fill(layout, [case_data.inputs for case_data in self._cases])

    def check(self, layout: BufferLayout, run_answer: RunAnswer) -> None:
        """Compare the outputs with those of the problem's reference."""
        for slot, case_data in enumerate(self._cases):
            check_slot(case_data, layout, self._memory, run_answer, slot=slot)

    def _next(self) -> CaseData:
        self._count += 1
        return self._case_generator.generate(self._number, sample=self._count)


class MixedInputs:
    """Inputs that the harness mixes from base sets."""

    max_bytes = MAX_DEVICE_BYTES
    plans_once = True

    def __init__(
        self, request: JudgeRequest, prefetch: CasePrefetcher, number: int, memory: DeviceMemory
    ) -> None:
        self._request = request
        self._case_generator = prefetch.case_generator
        self._number = number
        self._memory = memory
        self._pairs = prefetch.take_base_pairs(number)
        self._count = 0
        self._keys: list[int] = []  # keys of the slots that were filled last
        self._has_reference = memory.has_reference(request.problem)
        self.max_calls = None if self._has_reference else HOST_CHECKED_CALLS
        pair = self._pairs[0]
        self.first = self._case_generator.case_data(number, pair.case, pair.first, sample=1)

    def plan(self, layout: BufferLayout) -> bytes:
        """Allocate the memory, and copy the base sets to the device."""
        plan = self._memory.plan(layout, bases=2 * len(self._pairs))
        for index, pair in enumerate(self._pairs):
            self._memory.store_base(layout, 2 * index, pair.first)
            self._memory.store_base(layout, 2 * index + 1, pair.second)
        return plan

    def fill(self, layout: BufferLayout, calls: int) -> None:  # noqa: ARG002 - the harness has it
        """Mix the inputs of each call with a separate secret key."""
        numbers = range(self._count, self._count + calls)
        self._count += calls
        self._keys = [self._case_generator.mix_key(self._number, call) for call in numbers]
        bases = [2 * (key % len(self._pairs)) for key in self._keys]
        self._memory.mix(
            [
                SlotMix(first=base, second=base + 1, key=key)
                for base, key in zip(bases, self._keys, strict=True)
            ]
        )

    def check(self, layout: BufferLayout, run_answer: RunAnswer) -> None:
        """Check all slots on the device, and those that it rejects or cannot check on the host."""
        for slot, is_right in enumerate(self._verify()):
            if not is_right:
                case_data = self._case_data(layout, self._keys[slot])
                check_slot(case_data, layout, self._memory, run_answer, slot=slot)

    def filled_cases(self, layout: BufferLayout) -> list[CaseData]:
        """Compute on the host the data of the slots that were filled last."""
        return [self._case_data(layout, key) for key in self._keys]

    def _verify(self) -> list[bool]:
        if not self._has_reference:
            return [False] * len(self._keys)
        cases = [self._pair(key).case for key in self._keys]
        problem, dtype = self._request.problem, self._request.dtype
        tolerances = [problem.tolerance(case, dtype) for case in cases]
        return self._memory.verify(problem, cases[0], tolerances, row_share=ROW_SHARE)

    def _pair(self, key: int) -> BasePair:
        return self._pairs[key % len(self._pairs)]

    def _case_data(self, layout: BufferLayout, key: int) -> CaseData:
        """Return the data of the call with this key."""
        pair = self._pair(key)
        regions = {region.name: index for index, region in enumerate(layout.regions)}
        inputs = mix(pair.first, pair.second, regions, key)
        return self._case_generator.case_data(self._number, pair.case, inputs, sample=1)


def check_slot(
    case_data: CaseData, layout: BufferLayout, memory: CaseMemory, run_answer: RunAnswer, *, slot: int = 0
) -> None:
    """Check a call on the host. Raises `KernelFailure` if its result is wrong."""
    collected = memory.collect(slot)
    check_call(
        case_data,
        layout,
        memory.data_file,
        run_answer=run_answer,
        slot=collected.file_slot,
        inputs_intact=collected.inputs_intact,
    )
