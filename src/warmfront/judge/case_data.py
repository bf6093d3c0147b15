"""The data of a case: inputs generated from a secret seed, and the expected outputs.

It is generated in the background while the compiler runs, so that the check need not wait for it.
"""

from __future__ import annotations

import queue
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from warmfront.judge.committed_seed import CommittedSeed
from warmfront.problems.spec import Scale

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from warmfront.judge_request import JudgeRequest
    from warmfront.problems.spec import Case, Tensors, Tolerance


@dataclass(frozen=True, kw_only=True)
class CaseData:
    """One call of `solution`: its inputs and the expected outputs."""

    number: int  #: number of the case, from 1
    case: Case
    inputs: Tensors
    expected: Tensors
    tolerance: Tolerance

    @property
    def title(self) -> str:
        """The name of the case in messages."""
        return f"Case `{self.case.name}`"


class CaseGenerator:
    """Generates the data of one request. The same seed gives the same data."""

    def __init__(self, request: JudgeRequest, scale: Scale) -> None:
        self._problem = request.problem
        self._dtype = request.dtype
        self.seed = CommittedSeed() if request.seed is None else CommittedSeed(request.seed)
        self._seed = self.seed.value
        self.cases: Sequence[Case] = self._problem.cases(scale)

    def generate(self, number: int, sample: int = 0) -> CaseData:
        """Return the data of case `number`; each `sample` has different inputs of the same sizes."""
        import numpy as np  # noqa: PLC0415 - loaded while the compiler runs

        case = self.cases[number - 1]
        inputs = self._problem.inputs(case, self._dtype, np.random.default_rng([self._seed, number, sample]))
        return CaseData(
            number=number,
            case=case,
            inputs=inputs,
            expected=self._problem.reference(case, inputs),
            tolerance=self._problem.tolerance(case, self._dtype),
        )


class CasePrefetcher:
    """Generates the first sample of every case, in order, in a background thread."""

    def __init__(self, case_generator: CaseGenerator, *, ahead: int) -> None:
        self._case_generator = case_generator
        # Bounded, so that large cases do not exhaust the memory.
        self._ready: queue.Queue[CaseData | BaseException] = queue.Queue(ahead)
        self._stopped = threading.Event()
        threading.Thread(target=self._generate_all, name="warmfront-case-data", daemon=True).start()

    def __iter__(self) -> Iterator[CaseData]:
        for _ in self._case_generator.cases:
            item = self._ready.get()
            if isinstance(item, BaseException):
                raise item
            yield item

    def stop(self) -> None:
        """Generate no more cases and drop those that are ready."""
        self._stopped.set()

    def _generate_all(self) -> None:
        for number in range(1, len(self._case_generator.cases) + 1):
            try:
                item: CaseData | BaseException = self._case_generator.generate(number)
            except Exception as error:  # noqa: BLE001 - raised again in the thread that iterates
                item = error
            while not self._stopped.is_set():
                try:
                    self._ready.put(item, timeout=0.1)
                    break
                except queue.Full:
                    continue
            if self._stopped.is_set() or isinstance(item, BaseException):
                return


#: How many cases are generated ahead: all of the small ones, two of the large ones.
PREFETCH_COUNT = {Scale.CPU: 64, Scale.GPU: 2}


def scale_for(*, simulated: bool) -> Scale:
    """Return the scale of the cases: small ones for the CPU runtime, large ones for a GPU."""
    return Scale.CPU if simulated else Scale.GPU
