"""The data of a case: inputs generated from a secret seed, and the expected outputs.

A check has the published cases of the problem, and hidden ones whose sizes and styles are drawn from the
seed: one next to each timed case, and one anywhere in the ranges of the problem. Each timed sample has a
random style. The data is generated in the background while the compiler runs, so that the check need not wait
for it.
"""

from __future__ import annotations

import hashlib
import queue
import random
import threading
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from warmfront.judge.committed_seed import CommittedSeed
from warmfront.problems.ranges import draw_anywhere, draw_near
from warmfront.problems.spec import Case, Scale

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from warmfront.judge_request import JudgeRequest
    from warmfront.problems.ranges import Values
    from warmfront.problems.spec import Tensors, Tolerance

#: How many sizes are drawn anywhere, to find one that needs no more work than the published cases.
_DRAWS = 100


@dataclass(frozen=True, kw_only=True)
class CaseData:
    """One call of `solution`: its inputs and the expected outputs."""

    number: int  #: number of the case, from 1
    case: Case
    inputs: Tensors
    expected: Tensors
    tolerance: Tolerance
    hidden: bool = False  #: its sizes were drawn from the seed: show nothing that the kernel prints
    sample: int = 0  #: 0 for the check; timed samples have other inputs and a random style

    @property
    def style(self) -> str:
        """The style of the inputs."""
        return self.case.draw

    @property
    def title(self) -> str:
        """The name of the case in messages about a failure, with sizes and style if they were drawn."""
        name = f"Case `{self.case.name}`"
        drawn = (
            [f"{name} = {_format(value)}" for name, value in self.case.values.items()] if self.hidden else []
        )
        if self.hidden or self.sample:
            drawn.append(f"style {self.style}")
        return f"{name} ({', '.join(drawn)})" if drawn else name


class CaseGenerator:
    """Generates the data of one request. The same seed gives the same data."""

    def __init__(self, request: JudgeRequest, scale: Scale) -> None:
        self._problem = request.problem
        self._dtype = request.dtype
        self.seed = CommittedSeed() if request.seed is None else CommittedSeed(request.seed)
        published = self._problem.cases(scale)
        self._published_count = len(published)
        #: The published cases, then the hidden ones.
        self.cases: Sequence[Case] = [*published, *self._draw_hidden(scale, published)]

    def is_hidden(self, number: int) -> bool:
        """Return whether the case with this number is hidden."""
        return number > self._published_count

    def generate(self, number: int, sample: int = 0) -> CaseData:
        """Return the data of case `number`.

        Sample 0 has the style of the case. Each other sample, from 1, has different inputs of the same sizes,
        in a style that is drawn from the timed styles of the problem.
        """
        import numpy as np  # noqa: PLC0415 - loaded while the compiler runs

        case = self.cases[number - 1]
        if sample:
            case = self._in_timed_style(case, number, sample)
        inputs = self._problem.inputs(
            case, self._dtype, np.random.default_rng(self._derive_seed("inputs", number, sample))
        )
        return CaseData(
            number=number,
            case=case,
            inputs=inputs,
            expected=self._problem.reference(case, inputs),
            tolerance=self._problem.tolerance(case, self._dtype),
            hidden=self.is_hidden(number),
            sample=sample,
        )

    def _draw_hidden(self, scale: Scale, published: Sequence[Case]) -> list[Case]:
        """Draw the hidden cases: one next to each timed case, and one anywhere."""
        ranges = self._problem.ranges(scale)
        if not ranges:
            return []
        hidden: list[Case] = []
        for timed in (case for case in published if case.benchmark):
            drawn_by = self._random("near", len(hidden))
            hidden.append(self._hide(len(hidden) + 1, draw_near(ranges, timed.values, drawn_by), drawn_by))
        most_work = max(map(self._work, published))
        drawn_by = self._random("anywhere")
        for _ in range(_DRAWS):
            case = self._hide(len(hidden) + 1, draw_anywhere(ranges, drawn_by), drawn_by)
            if self._work(case) <= most_work:
                return [*hidden, case]
        return hidden

    def _hide(self, number: int, values: Values, drawn_by: random.Random) -> Case:
        case = Case(name=f"hidden-{number}", values=values)
        return self._in_style(case, self._problem.styles(case, self._dtype), drawn_by)

    def _work(self, case: Case) -> int:
        return self._problem.flops(case) + self._problem.bytes_moved(case, self._dtype)

    def _in_style(self, case: Case, styles: Sequence[str], drawn_by: random.Random) -> Case:
        """Return the case in one of the styles, or as it is if there are none."""
        return replace(case, draw=drawn_by.choice(styles)) if styles else case

    def _in_timed_style(self, case: Case, number: int, sample: int) -> Case:
        """Return the case in the style of a timed sample.

        The first samples have every style once, in random order, so that no style is left to chance; each
        later one has any.
        """
        styles = list(self._problem.timed_styles(case, self._dtype))
        if sample <= len(styles):
            self._random("styles", number).shuffle(styles)
            return replace(case, draw=styles[sample - 1])
        return self._in_style(case, styles, self._random("style", number, sample))

    def _random(self, purpose: str, *numbers: int) -> random.Random:
        return random.Random(self._derive_seed(purpose, *numbers))  # noqa: S311 - its seed is secret

    def _derive_seed(self, purpose: str, *numbers: int) -> int:
        """Derive the seed of one stream: the inputs of one call reveal nothing about those of another."""
        text = f"{self.seed.text}:{purpose}:{':'.join(map(str, numbers))}"
        return int.from_bytes(hashlib.sha256(text.encode()).digest(), "little")


def _format(value: float | tuple[int, ...]) -> str:
    return "x".join(map(str, value)) if isinstance(value, tuple) else f"{value}"


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
