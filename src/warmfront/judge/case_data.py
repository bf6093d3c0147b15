"""What the kernel is asked: inputs drawn from a secret seed, and what should come out of them.

CaseGenerator are prepared in the background while the compiler runs, so that they cost no waiting.
"""

from __future__ import annotations

import queue
import secrets
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from warmfront.problems.spec import Scale

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from warmfront.judge_request import JudgeRequest
    from warmfront.problems.spec import Case, Tensors, Tolerance


@dataclass(frozen=True, kw_only=True)
class CaseData:
    """One call of `solution`: its inputs, and what should come out."""

    number: int  #: of the case, from 1
    case: Case
    inputs: Tensors
    expected: Tensors
    tolerance: Tolerance

    @property
    def title(self) -> str:
        """How messages call it."""
        return f"Case `{self.case.name}`"


class CaseGenerator:
    """Draws questions for one submission. The same seed draws the same questions."""

    def __init__(self, submission: JudgeRequest, scale: Scale) -> None:
        self._problem = submission.problem
        self._dtype = submission.dtype
        self._seed = secrets.randbits(128) if submission.seed is None else submission.seed
        self.cases: Sequence[Case] = self._problem.cases(scale)

    def draw(self, number: int, sample: int = 0) -> CaseData:
        """The question of case `number`; another `sample` has other inputs of the same sizes."""
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
    """The first question of every case, drawn in order by a thread of its own."""

    def __init__(self, questions: CaseGenerator, *, ahead: int) -> None:
        self._questions = questions
        # Bounded, so that large cases do not fill the memory.
        self._ready: queue.Queue[CaseData | BaseException] = queue.Queue(ahead)
        self._stopped = threading.Event()
        threading.Thread(target=self._draw_all, name="questions", daemon=True).start()

    def __iter__(self) -> Iterator[CaseData]:
        for _ in self._questions.cases:
            item = self._ready.get()
            if isinstance(item, BaseException):
                raise item
            yield item

    def stop(self) -> None:
        """Draw no more; what waits is dropped."""
        self._stopped.set()

    def _draw_all(self) -> None:
        for number in range(1, len(self._questions.cases) + 1):
            try:
                item: CaseData | BaseException = self._questions.draw(number)
            except Exception as error:  # noqa: BLE001 - handed to the thread that waits for it
                item = error
            while not self._stopped.is_set():
                try:
                    self._ready.put(item, timeout=0.1)
                    break
                except queue.Full:
                    continue
            if self._stopped.is_set() or isinstance(item, BaseException):
                return


#: How many questions are drawn ahead: small ones all, large ones a few.
PREFETCH_COUNT = {Scale.CPU: 64, Scale.GPU: 2}


def scale_for(*, simulated: bool) -> Scale:
    """Which sizes fit the machine."""
    return Scale.CPU if simulated else Scale.GPU
