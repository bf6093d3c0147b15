"""The data of a case: inputs generated from a secret seed, and the expected outputs.

A check consists of the author's own cases, the published cases of the problem and hidden cases, whose sizes
and styles are drawn from the seed: one with a size near each timed case, and one from anywhere in the
problem's ranges. Each timed sample has a random style. The data is generated in the background while the
compiler runs, so that the check does not wait for it.
"""

from __future__ import annotations

import functools
import hashlib
import random
import threading
from collections import deque
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from warmfront.judge.committed_seed import CommittedSeed
from warmfront.problems.draws import STRUCTURED_STYLES
from warmfront.problems.ranges import draw_anywhere, draw_near
from warmfront.problems.spec import Case, Scale
from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np

    from warmfront.judge_request import JudgeRequest
    from warmfront.problems.ranges import Values
    from warmfront.problems.spec import Problem, Tensors, Tolerance

#: How many sizes are drawn from the full ranges to find one that needs no more work than the published cases.
_DRAWS = 100

#: Number of pairs of base sets, each in its own style; cases with larger inputs have one pair.
_PAIRS = 2
TWO_PAIRS_BYTES = 128 << 20
#: Two base sets differ in at least this share of their elements, so that half of it is new in every call.
LEAST_DIFFERENCE = 0.25
#: How many elements of a large tensor are compared to measure the difference.
_COMPARED = 2**20
#: How often a style is drawn to find one whose base sets differ.
_ATTEMPTS = 8

#: Cases with up to this many bytes of inputs are generated ahead.
AHEAD_BYTES = 2 << 30

#: The outputs for larger inputs are computed when they are needed.
LARGE_INPUT_BYTES = 1 << 24


@dataclass(frozen=True, kw_only=True)
class CaseData:
    """One call of `solution`: its inputs and the expected outputs."""

    number: int  #: number of the case, from 1
    case: Case
    inputs: Tensors
    expected: Tensors
    tolerance: Tolerance
    hidden: bool = False  #: the sizes were drawn from the seed; the kernel's output is not shown
    own: bool = False  #: whether it is the author's own case
    checks_outputs: bool = True  #: compare the outputs with `expected`
    sample: int = 0  #: 0 for the check; timed samples have different inputs and a random style

    @property
    def style(self) -> str:
        """The style of the inputs."""
        return self.case.draw

    @property
    def title(self) -> str:
        """The name of the case in failure messages, with its sizes and style if they were drawn."""
        name = f"Case `{self.case.name}`"
        drawn = (
            [f"{name} = {_format(value)}" for name, value in self.case.values.items()] if self.hidden else []
        )
        if self.hidden or self.sample:
            drawn.append(f"style {self.style}")
        return f"{name} ({', '.join(drawn)})" if drawn else name


@dataclass(frozen=True, kw_only=True)
class BasePair:
    """Two sets of inputs in the same style."""

    case: Case
    first: Tensors
    second: Tensors

    @property
    def input_bytes(self) -> int:
        """The size of both sets."""
        return sum(tensor.nbytes for inputs in (self.first, self.second) for tensor in inputs.values())


def share_of_differences(first: Tensors, second: Tensors) -> float:
    """Return the share of elements that differ. Only a part of a large tensor is compared."""
    different = total = 0
    for name, tensor in first.items():
        step = max(1, tensor.size // _COMPARED)
        ours, theirs = tensor.reshape(-1)[::step], second[name].reshape(-1)[::step]
        different += tensor.size * int((ours != theirs).sum()) // max(1, ours.size)
        total += tensor.size
    return different / max(1, total)


class ExpectedOutputs(Mapping[str, "np.ndarray[Any, Any]"]):
    """The reference's outputs, computed on first access: they are not needed if a harness checks the call."""

    def __init__(self, problem: Problem, case: Case, inputs: Tensors) -> None:
        self._problem = problem
        self._case = case
        self._inputs = inputs

    @functools.cached_property
    def _tensors(self) -> Tensors:
        return self._problem.reference(self._case, self._inputs)

    def __getitem__(self, name: str) -> np.ndarray[Any, Any]:
        return self._tensors[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tensors)

    def __len__(self) -> int:
        return len(self._tensors)


class CaseGenerator:
    """A generator for the data of one request. The same seed gives the same data."""

    def __init__(self, request: JudgeRequest, scale: Scale) -> None:
        self._problem = request.problem
        self._dtype = request.dtype
        self.seed = CommittedSeed() if request.seed is None else CommittedSeed(request.seed)
        published = self._problem.cases(scale)
        self._own_count = len(request.own_cases)
        self._published_count = len(published)
        #: The author's own cases, whose results they wait for, then the published and the hidden ones.
        self.cases: Sequence[Case] = [
            *request.own_cases,
            *published,
            *self._draw_hidden(scale, published),
        ]

    @property
    def timed_numbers(self) -> list[int]:
        """The numbers of the timed cases."""
        return [number for number, case in enumerate(self.cases, 1) if case.benchmark]

    def is_hidden(self, number: int) -> bool:
        """Return whether the case with this number is hidden."""
        return number > self._own_count + self._published_count

    def is_own(self, number: int) -> bool:
        """Return whether the case with this number is the author's own."""
        return number <= self._own_count

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
        return self.case_data(number, case, inputs, sample=sample)

    def generate_base_pairs(self, number: int) -> list[BasePair]:
        """Return the base sets of case `number`: two pairs, or one if the inputs are large."""
        first = self._generate_base_pair(number, 0)
        is_large = first.input_bytes > _PAIRS * TWO_PAIRS_BYTES
        return [first] if is_large else [first, self._generate_base_pair(number, 1)]

    def _generate_base_pair(self, number: int, pair: int) -> BasePair:
        """Return two sets of inputs for case `number`, from which the inputs of timed calls are mixed.

        Their style is a timed style that a mixture of two sets preserves. Styles whose sets hardly differ are
        skipped: every call must have different inputs.
        """
        import numpy as np  # noqa: PLC0415 - loaded while the compiler runs

        for attempt in range(_ATTEMPTS):
            sample = 1 + pair + attempt * _PAIRS
            case = self._in_timed_style(self.cases[number - 1], number, sample, mixed=True)
            first, second = (
                self._problem.inputs(
                    case, self._dtype, np.random.default_rng(self._derive_seed(half, number, sample))
                )
                for half in ("first", "second")
            )
            if share_of_differences(first, second) >= LEAST_DIFFERENCE:
                break
        return BasePair(case=case, first=first, second=second)

    def mix_key(self, number: int, call: int) -> int:
        """Return the secret 64 bits that decide how the inputs of a timed call are mixed."""
        return self._derive_seed("mix", number, call) % 2**64

    def case_data(self, number: int, case: Case, inputs: Tensors, *, sample: int = 0) -> CaseData:
        """Return the data of a call with these inputs; compute large expected outputs on first access."""
        is_large = sum(tensor.nbytes for tensor in inputs.values()) >= LARGE_INPUT_BYTES
        expected = ExpectedOutputs(self._problem, case, inputs) if is_large else None
        return CaseData(
            number=number,
            case=case,
            inputs=inputs,
            expected=self._problem.reference(case, inputs) if expected is None else expected,
            tolerance=self._problem.tolerance(case, self._dtype),
            hidden=self.is_hidden(number),
            own=self.is_own(number),
            checks_outputs=self._problem.checks_outputs,
            sample=sample,
        )

    def _draw_hidden(self, scale: Scale, published: Sequence[Case]) -> list[Case]:
        """Draw the hidden cases: one with a size near each timed case, and one from the full ranges."""
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
        """Return the case in one of the styles, or unchanged if there are none."""
        return replace(case, draw=drawn_by.choice(styles)) if styles else case

    def _in_timed_style(self, case: Case, number: int, sample: int, *, mixed: bool = False) -> Case:
        """Return the case in the style of a timed sample.

        The first samples use every style once, in random order, so that every style occurs. Later
        samples use any style.
        """
        styles = list(self._problem.timed_styles(case, self._dtype))
        if mixed:
            styles = [style for style in styles if style not in STRUCTURED_STYLES] or styles
        if sample <= len(styles):
            self._random("styles", number).shuffle(styles)
            return replace(case, draw=styles[sample - 1])
        return self._in_style(case, styles, self._random("style", number, sample))

    def _random(self, purpose: str, *numbers: int) -> random.Random:
        return random.Random(self._derive_seed(purpose, *numbers))  # noqa: S311 - its seed is secret

    def _derive_seed(self, purpose: str, *numbers: int) -> int:
        """Derive the seed of one random stream. The inputs of one call reveal nothing about another."""
        text = f"{self.seed.text}:{purpose}:{':'.join(map(str, numbers))}"
        return int.from_bytes(hashlib.sha256(text.encode()).digest(), "little")


def _format(value: float | tuple[int, ...]) -> str:
    return "x".join(map(str, value)) if isinstance(value, tuple) else f"{value}"


class CasePrefetcher:
    """A background thread that generates the first sample of every case, in order, and then the base sets.

    Args:
        case_generator: generates the data of the cases.
        ahead_bytes: pause while this many bytes are ready.
        base_sets: also generate the base sets of the timed cases, until the first of them are taken.
    """

    def __init__(
        self, case_generator: CaseGenerator, *, ahead_bytes: int = AHEAD_BYTES, base_sets: bool = False
    ) -> None:
        self.case_generator = case_generator
        self._ahead_bytes = ahead_bytes
        self._with_base_sets = base_sets
        self._ready: deque[CaseData | BaseException] = deque()
        self._base_pairs: dict[int, list[BasePair]] = {}
        self._changed = threading.Condition()
        self._ready_bytes = 0
        self._is_stopped = False
        self._thread = threading.Thread(target=self._generate_all, name="warmfront-case-data", daemon=True)
        self._thread.start()

    def __iter__(self) -> Iterator[CaseData]:
        for _ in self.case_generator.cases:
            with self._changed:
                self._changed.wait_for(lambda: self._ready)
                item = self._ready.popleft()
                self._ready_bytes -= _input_bytes(item)
                self._changed.notify_all()
            if isinstance(item, BaseException):
                raise item
            yield item

    def take_base_pairs(self, number: int) -> list[BasePair]:
        """Return the base sets of a timed case, and stop generating data in the background."""
        self.stop()
        self._thread.join()
        return self._base_pairs.pop(number, None) or self.case_generator.generate_base_pairs(number)

    def stop(self) -> None:
        """Stop generating cases, and drop those that are ready."""
        with self._changed:
            self._is_stopped = True
            self._changed.notify_all()

    def _generate_all(self) -> None:
        for number in range(1, len(self.case_generator.cases) + 1):
            try:
                item: CaseData | BaseException = self.case_generator.generate(number)
            except Exception as error:  # noqa: BLE001 - raised again in the thread that iterates
                item = error
            if not self._put(item) or isinstance(item, BaseException):
                return
        if self._with_base_sets:
            self._generate_base_sets()

    def _generate_base_sets(self) -> None:
        for number in self.case_generator.timed_numbers:
            if not self._wait_for_room():
                return
            try:
                pairs = self.case_generator.generate_base_pairs(number)
            except Exception:  # noqa: BLE001 - raised in the thread that takes them, which tries again
                return
            with self._changed:
                self._base_pairs[number] = pairs
                self._ready_bytes += sum(pair.input_bytes for pair in pairs)

    def _put(self, item: CaseData | BaseException) -> bool:
        """Wait for free memory and add a case; return False if stopped."""
        is_running = self._wait_for_room()
        with self._changed:
            self._ready.append(item)
            self._ready_bytes += _input_bytes(item)
            self._changed.notify_all()
        return is_running

    def _wait_for_room(self) -> bool:
        """Wait for free memory, which large cases would exhaust; return False if stopped."""
        with self._changed:
            self._changed.wait_for(lambda: self._is_stopped or self._ready_bytes < self._ahead_bytes)
            return not self._is_stopped


def _input_bytes(item: CaseData | BaseException) -> int:
    return sum(tensor.nbytes for tensor in item.inputs.values()) if isinstance(item, CaseData) else 0
