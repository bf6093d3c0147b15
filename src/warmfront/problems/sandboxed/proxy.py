"""A problem that came with an attempt, seen from the judge: its Python runs in a box, never in our process.

Its author is an operator, who says what is right; so its answers count, but only after they were looked at:
a wrong one is `BadProblemFile`, and cannot do anything else.
"""

from __future__ import annotations

import dataclasses
import math
import sys
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import warmfront
from warmfront.errors import BadProblemFile
from warmfront.problems import validation
from warmfront.problems.sandboxed import protocol
from warmfront.problems.spec import Case, Difficulty, Dtype, Kind, Parameter, Problem, Scale, Tolerance
from warmfront.sandbox.base import BOX, SCRATCH, Mount, Template

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy as np

    from warmfront.problems.spec import Tensors
    from warmfront.sandbox.base import Box, Sandbox
    from warmfront.settings import Settings

#: How long one answer may take: loading NumPy, drawing a large case, its reference.
ANSWER_S = 60.0
ENDING_S = 2.0
SHOWN_BYTES = 2000


@contextmanager
def open_sandboxed_problem(
    source: str, slug: str, scale: Scale, *, sandbox: Sandbox, settings: Settings
) -> Iterator[Problem]:
    """The problem that this source defines, for as long as the block lasts."""
    with sandbox.take(template(slug, settings)) as box:
        file = box.folder / protocol.FILE.format(slug.replace("-", "_"))
        file.write_text(source, encoding="utf-8")
        box.go()
        yield _problem_of(
            _ProblemConnection(box, most_bytes=settings.run_limits().memory_bytes // 4), slug, scale
        )


def template(slug: str, settings: Settings) -> Template:
    """A box with Python, our package and what it needs, all of it read-only."""
    package = Path(warmfront.__file__).parent
    places = {package, Path(sys.prefix), Path(sys.base_prefix)}
    limits = settings.run_limits()
    return Template(
        name="problem",
        argv=(sys.executable, "-m", "warmfront.problems.sandboxed.server", BOX, slug),
        # What is below /usr is there in every box.
        mounts=tuple(Mount(host=p, inside=str(p)) for p in sorted(places) if not p.is_relative_to("/usr")),
        # It lives through the compiler's time, a wait for the turn, and the run.
        limits=dataclasses.replace(limits, wall_s=2 * limits.wall_s + settings.compile_timeout_s),
        env={
            "PATH": "/usr/bin:/bin",
            "TMPDIR": SCRATCH,
            "PYTHONPATH": str(package.parent),
            "PYTHONDONTWRITEBYTECODE": "1",
            "OPENBLAS_NUM_THREADS": "1",
        },
    )


class _ProblemConnection:
    """Asks the box. One question at a time: the judge draws from more than one thread."""

    def __init__(self, box: Box, *, most_bytes: int) -> None:
        self._box = box
        self._most_bytes = most_bytes
        self._lock = threading.Lock()

    def ask(self, **question: Any) -> tuple[dict[str, Any], dict[str, dict[str, np.ndarray[Any, Any]]]]:  # noqa: ANN401 - JSON
        """Its answer; `BadProblemFile` if it has none."""
        with self._lock:
            self._box.send(protocol.pack(question))
            try:
                answer, tensors = protocol.unpack(self._receive, most_bytes=self._most_bytes)
            except protocol.ProtocolError as error:
                raise BadProblemFile(f"The problem's program sent {error}.") from None
        if "error" in answer:
            raise BadProblemFile(str(answer["error"])[:SHOWN_BYTES])
        return answer, tensors

    def _receive(self, size: int) -> bytes:
        if size == 0:
            return b""
        try:
            data = self._box.receive(size, ANSWER_S)
        except TimeoutError:
            raise BadProblemFile(f"The problem's program took longer than {ANSWER_S:g} s.") from None
        if len(data) < size:
            last_words = self._box.wait(ENDING_S).output[-SHOWN_BYTES:].decode(errors="replace")
            raise BadProblemFile(f"The problem's program ended: {last_words}".strip())
        return data


class _GeneratedInputs(dict[str, "np.ndarray[Any, Any]"]):
    """Inputs, with the outputs that came along: inside, both are made at once."""

    outputs: Tensors


class _SandboxedProblem(Problem):
    """A problem whose methods are answered from what its program told."""

    difficulty = Difficulty.MEDIUM
    tags = ("sent along",)
    statement = "It was sent along with the attempt."

    def __init__(
        self, line: _ProblemConnection, scale: Scale, cases: Sequence[tuple[Case, Mapping[str, Any]]]
    ) -> None:
        self._line = line
        self._scale = scale
        self._cases = tuple(case for case, _ in cases)
        self._told = {case.name: told for case, told in cases}

    def cases(self, scale: Scale) -> Sequence[Case]:  # noqa: ARG002 - it was opened for one scale
        return self._cases

    def inputs(self, case: Case, dtype: Dtype, rng: np.random.Generator) -> Tensors:
        _, tensors = self._line.ask(
            do="draw",
            scale=self._scale,
            case=self._cases.index(case),
            dtype=dtype,
            seed=int(rng.integers(2**63)),
        )
        drawn = _GeneratedInputs(tensors.get("inputs", {}))
        drawn.outputs = tensors.get("outputs", {})
        self._check_tensors(case, dtype, drawn)
        return drawn

    def reference(self, case: Case, inputs: Tensors) -> Tensors:  # noqa: ARG002 - it was computed inside
        if not isinstance(inputs, _GeneratedInputs):
            raise BadProblemFile("A problem that was sent along answers only for inputs of its own.")
        return inputs.outputs

    def output_shapes(self, case: Case) -> Mapping[str, tuple[int, ...]]:
        return {name: tuple(shape) for name, shape in self._told[case.name]["output_shapes"].items()}

    def tolerance(self, case: Case, dtype: Dtype) -> Tolerance:
        rtol, atol, why = self._told[case.name]["tolerance"][dtype]
        return Tolerance(rtol=float(rtol), atol=float(atol), why=str(why))

    def flops(self, case: Case) -> int:
        return int(self._told[case.name]["flops"])

    def bytes_moved(self, case: Case, dtype: Dtype) -> int:
        return int(self._told[case.name]["bytes_moved"][dtype])

    def _check_tensors(self, case: Case, dtype: Dtype, drawn: _GeneratedInputs) -> None:
        for parameter in self.signature:
            if parameter.kind is Kind.INPUT:
                array = drawn.get(parameter.name)
                if array is None or array.dtype.name != (parameter.dtype or dtype):
                    raise BadProblemFile(
                        f"Case {case.name!r}: the input {parameter.name!r} is not as declared."
                    )
            elif parameter.kind is Kind.OUTPUT:
                array = drawn.outputs.get(parameter.name)
                if array is None or array.shape != self.output_shapes(case)[parameter.name]:
                    raise BadProblemFile(
                        f"Case {case.name!r}: the output {parameter.name!r} is not as declared."
                    )


def _problem_of(line: _ProblemConnection, slug: str, scale: Scale) -> Problem:
    told, _ = line.ask(do="describe", scale=scale)
    try:
        declared = {
            "slug": slug,
            "title": str(told["title"])[:200],
            "dtypes": tuple(Dtype(name) for name in told["dtypes"]),
            "signature": tuple(_parameter(*parameter) for parameter in told["signature"]),
        }
        kind = type("SandboxedProblem", (_SandboxedProblem,), declared)
        problem: Problem = kind(line, scale, [(_case(case), case) for case in told["cases"]])
        validation.check(problem, slug=slug)
        for case in problem.cases(scale):
            _check_case(problem, case)
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError) as error:
        raise BadProblemFile(f"It declares something that cannot be used: {error!r}"[:SHOWN_BYTES]) from None
    return problem


def _parameter(name: str, kind: str, c_type: str, dtype: str | None) -> Parameter:
    return Parameter(str(name), Kind(kind), c_type=str(c_type), dtype=None if dtype is None else Dtype(dtype))


def _case(told: Mapping[str, Any]) -> Case:
    values = {
        str(name): tuple(value) if isinstance(value, list) else value
        for name, value in told["values"].items()
    }
    return Case(name=str(told["name"])[:200], values=values, benchmark=bool(told["benchmark"]))


#: No case of ours comes near; it keeps a mistake from filling the memory of the VM.
MOST_OUTPUT_BYTES = 1 << 33


def _check_case(problem: Problem, case: Case) -> None:
    """Ask for everything once, so that a wrong answer is found now."""
    problem.flops(case)
    for dtype in problem.dtypes:
        problem.bytes_moved(case, dtype)
        problem.tolerance(case, dtype)
    shapes = problem.output_shapes(case)
    outputs = {parameter.name for parameter in problem.signature if parameter.kind is Kind.OUTPUT}
    whole = all(type(extent) is int and extent >= 0 for shape in shapes.values() for extent in shape)
    if set(shapes) != outputs or not whole or 8 * sum(map(math.prod, shapes.values())) > MOST_OUTPUT_BYTES:
        raise BadProblemFile(f"Case {case.name!r}: the shapes of its outputs make no sense.")
