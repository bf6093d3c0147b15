"""The judge's proxy for a problem that was sent with an attempt.

Its Python runs in a box, never in our process.

Its author is an operator, who defines what is correct, so the box's answers are used, but only after
validation. An invalid answer raises `BadProblemFile` and has no other effect.
"""

from __future__ import annotations

import dataclasses
import math
import re
import sys
import threading
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import warmfront
from warmfront.errors import BadProblemFile
from warmfront.problems.ranges import KINDS
from warmfront.problems.sandboxed import protocol
from warmfront.problems.spec import (
    Case,
    Difficulty,
    Dtype,
    Kind,
    Parameter,
    Problem,
    Scale,
    Tolerance,
    check_problem,
)
from warmfront.sandbox.base import BOX, SCRATCH, Mount, Template

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import numpy as np

    from warmfront.problems.ranges import Range
    from warmfront.problems.spec import Tensors
    from warmfront.sandbox.base import Box, Sandbox
    from warmfront.settings import Settings

#: Time limit of one answer: importing NumPy, generating a large case and computing its reference.
ANSWER_TIMEOUT_S = 60.0
EXIT_TIMEOUT_S = 2.0
MAX_MESSAGE_CHARACTERS = 2000


@contextmanager
def open_sandboxed_problem(
    source: str, slug: str, scale: Scale, *, sandbox: Sandbox, settings: Settings
) -> Iterator[Problem]:
    """Start a box for the problem that this source defines, and yield the problem.

    Raises:
        BadProblemFile: the source cannot be loaded or declares something invalid.
    """
    with sandbox.take(template(slug, settings)) as box:
        file = box.folder / protocol.FILE.format(slug.replace("-", "_"))
        file.write_text(source, encoding="utf-8")
        box.go()
        connection = _ProblemConnection(box, max_bytes=settings.run_limits().memory_bytes // 4)
        problem = _build_problem(connection, slug, scale)
        problem.definition = source
        yield problem


def template(slug: str, settings: Settings) -> Template:
    """Return the template of a box with Python, our package and its dependencies, all read-only."""
    package = Path(warmfront.__file__).parent
    places = {package, Path(sys.prefix), Path(sys.base_prefix)}
    limits = settings.run_limits()
    return Template(
        name="problem",
        argv=(sys.executable, "-m", "warmfront.problems.sandboxed.server", BOX, slug),
        # Everything below /usr is in every box.
        mounts=tuple(Mount(host=p, inside=str(p)) for p in sorted(places) if not p.is_relative_to("/usr")),
        # The box exists while the submission is compiled, waits for its run slot, and runs.
        limits=dataclasses.replace(limits, wall_s=2 * limits.wall_s + settings.compile_limits().wall_s),
        env={
            "PATH": "/usr/bin:/bin",
            "TMPDIR": SCRATCH,
            "PYTHONPATH": str(package.parent),
            "PYTHONDONTWRITEBYTECODE": "1",
            "OPENBLAS_NUM_THREADS": "1",
        },
    )


class _ProblemConnection:
    """The connection to the box. Requests are sent one at a time, because the judge has several threads."""

    def __init__(self, box: Box, *, max_bytes: int) -> None:
        self._box = box
        self._max_bytes = max_bytes
        self._lock = threading.Lock()

    def request(self, **request: Any) -> tuple[dict[str, Any], dict[str, dict[str, np.ndarray[Any, Any]]]]:  # noqa: ANN401 - JSON
        """Send a request and return the answer. Raises `BadProblemFile` if there is none."""
        with self._lock:
            self._box.send(protocol.pack(request))
            try:
                answer, tensors = protocol.unpack(self._receive, max_bytes=self._max_bytes)
            except protocol.ProtocolError as error:
                raise BadProblemFile(f"The problem's program sent {error}.") from None
        if "error" in answer:
            raise BadProblemFile(str(answer["error"])[:MAX_MESSAGE_CHARACTERS])
        return answer, tensors

    def _receive(self, size: int) -> bytes:
        if size == 0:
            return b""
        try:
            data = self._box.receive(size, cpu_timeout_s=ANSWER_TIMEOUT_S)
        except TimeoutError:
            raise BadProblemFile(f"The problem's program took longer than {ANSWER_TIMEOUT_S:g} s.") from None
        if len(data) < size:
            output = self._box.wait(EXIT_TIMEOUT_S).output[-MAX_MESSAGE_CHARACTERS:].decode(errors="replace")
            raise BadProblemFile(f"The problem's program ended unexpectedly: {output}".strip())
        return data


class _GeneratedInputs(dict[str, "np.ndarray[Any, Any]"]):
    """Inputs with their expected outputs, because the box computes both in one request."""

    outputs: Tensors


class _SandboxedProblem(Problem):
    """A problem whose methods return what the program in the box declares."""

    difficulty = Difficulty.MEDIUM
    tags = ("sent along",)
    statement = "This problem was sent with the attempt."

    def __init__(self, connection: _ProblemConnection, scale: Scale, description: Mapping[str, Any]) -> None:
        self._connection = connection
        self._scale = scale
        self._ranges = {str(name): _range(*bounds) for name, bounds in description["ranges"].items()}
        cases = [(_case(declared), declared) for declared in description["cases"]]
        self._cases = tuple(case for case, _ in cases)
        self._numbers = {case.name: number for number, case in enumerate(self._cases)}
        self._declared = {_key(case): declared for case, declared in cases}

    def cases(self, scale: Scale) -> Sequence[Case]:  # noqa: ARG002 - the problem was opened for one scale
        return self._cases

    def ranges(self, scale: Scale) -> Mapping[str, Range]:  # noqa: ARG002 - as above
        return self._ranges

    def styles(self, case: Case, dtype: Dtype) -> Sequence[str]:
        return _styles(self._description(case)["styles"][dtype])

    def timed_styles(self, case: Case, dtype: Dtype) -> Sequence[str]:
        return _styles(self._description(case)["timed_styles"][dtype])

    def inputs(self, case: Case, dtype: Dtype, rng: np.random.Generator) -> Tensors:
        _, tensors = self._connection.request(
            do="generate",
            dtype=dtype,
            seed=int(rng.integers(2**63)),
            **self._identify(case),
        )
        generated = _GeneratedInputs(tensors.get("inputs", {}))
        generated.outputs = tensors.get("outputs", {})
        self._check_tensors(case, dtype, generated)
        return generated

    def reference(self, case: Case, inputs: Tensors) -> Tensors:  # noqa: ARG002 - computed in the box
        if not isinstance(inputs, _GeneratedInputs):
            raise BadProblemFile(
                "A problem that was sent with an attempt has references only for inputs that it generated."
            )
        return inputs.outputs

    def output_shapes(self, case: Case) -> Mapping[str, tuple[int, ...]]:
        return {name: tuple(shape) for name, shape in self._description(case)["output_shapes"].items()}

    def tolerance(self, case: Case, dtype: Dtype) -> Tolerance:
        rtol, atol, why = self._description(case)["tolerance"][dtype]
        return Tolerance(rtol=float(rtol), atol=float(atol), why=str(why))

    def flops(self, case: Case) -> int:
        return int(self._description(case)["flops"])

    def bytes_moved(self, case: Case, dtype: Dtype) -> int:
        return int(self._description(case)["bytes_moved"][dtype])

    def _identify(self, case: Case) -> dict[str, Any]:
        """Return the fields of a request that identify a case, published or hidden, and its style."""
        number = self._numbers.get(case.name)
        return {
            "scale": self._scale,
            "case": number,
            "values": case.values if number is None else {},
            "draw": case.draw,
        }

    def _description(self, case: Case) -> Mapping[str, Any]:
        """Return the program's declarations about a case. Request them once, and validate them."""
        key = _key(case)
        if key not in self._declared:
            self._declared[key], _ = self._connection.request(do="describe-case", **self._identify(case))
            try:
                _check_case(self, case)
            except (ValueError, TypeError, KeyError, AttributeError, OverflowError) as error:
                del self._declared[key]
                raise _invalid_declaration(error) from None
        declared: Mapping[str, Any] = self._declared[key]
        return declared

    def _check_tensors(self, case: Case, dtype: Dtype, generated: _GeneratedInputs) -> None:
        for parameter in self.signature:
            if parameter.kind is Kind.INPUT:
                array = generated.get(parameter.name)
                if array is None or array.dtype.name != (parameter.dtype or dtype):
                    raise BadProblemFile(
                        f"Case {case.name!r}: the input {parameter.name!r} does not match its declaration."
                    )
            elif parameter.kind is Kind.OUTPUT:
                array = generated.outputs.get(parameter.name)
                if array is None or array.shape != self.output_shapes(case)[parameter.name]:
                    raise BadProblemFile(
                        f"Case {case.name!r}: the output {parameter.name!r} does not match its declaration."
                    )


def _build_problem(connection: _ProblemConnection, slug: str, scale: Scale) -> Problem:
    description, _ = connection.request(do="describe", scale=scale)
    try:
        attributes = {
            "slug": slug,
            "title": str(description["title"])[:200],
            "dtypes": tuple(Dtype(name) for name in description["dtypes"]),
            "signature": tuple(_parameter(*parameter) for parameter in description["signature"]),
        }
        kind = type("SandboxedProblem", (_SandboxedProblem,), attributes)
        problem: Problem = kind(connection, scale, description)
        check_problem(problem, slug=slug)
        for case in problem.cases(scale):
            _check_case(problem, case)
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError) as error:
        raise _invalid_declaration(error) from None
    return problem


def _invalid_declaration(error: Exception) -> BadProblemFile:
    return BadProblemFile(f"The problem has an invalid declaration: {error!r}"[:MAX_MESSAGE_CHARACTERS])


def _key(case: Case) -> tuple[str, str, str]:
    return case.name, repr(sorted(case.values.items())), case.draw


#: Bounds of ranges; far above every size that fits into memory.
MAX_RANGE = 1 << 40


def _range(kind: str, *fields: object) -> Range:
    is_real = kind == "Numbers"
    for value in fields:
        if isinstance(value, str):
            continue
        if type(value) is not int and not (is_real and type(value) is float):
            raise ValueError(kind, value)
        if not -MAX_RANGE <= value <= MAX_RANGE:
            raise ValueError(kind, value)
    make: Callable[..., Range] = KINDS[kind]
    return make(*fields)


MAX_STYLES = 64


def _styles(declared: Sequence[object]) -> tuple[str, ...]:
    """Return the names of styles, which appear in messages."""
    names = tuple(str(name) for name in declared)
    if len(names) > MAX_STYLES or not all(_STYLE.fullmatch(name) for name in names):
        raise BadProblemFile(
            "The names of its styles are invalid; allowed: 1 to 40 letters, digits and `-_`."
        )
    return names


_STYLE = re.compile(r"[A-Za-z0-9_-]{1,40}")


def _parameter(name: str, kind: str, c_type: str, dtype: str | None) -> Parameter:
    return Parameter(str(name), Kind(kind), c_type=str(c_type), dtype=None if dtype is None else Dtype(dtype))


def _case(declared: Mapping[str, Any]) -> Case:
    values = {
        str(name): tuple(value) if isinstance(value, list) else value
        for name, value in declared["values"].items()
    }
    return Case(
        name=str(declared["name"])[:200],
        values=values,
        draw=str(declared["draw"])[:40],
        benchmark=bool(declared["benchmark"]),
    )


#: Far above the built-in problems; it prevents a mistake from exhausting the memory of the VM.
MAX_OUTPUT_BYTES = 1 << 33


def _check_case(problem: Problem, case: Case) -> None:
    """Evaluate every declaration once, so that an invalid one is found early."""
    problem.flops(case)
    for dtype in problem.dtypes:
        problem.styles(case, dtype)
        problem.timed_styles(case, dtype)
        problem.bytes_moved(case, dtype)
        problem.tolerance(case, dtype)
    shapes = problem.output_shapes(case)
    outputs = {parameter.name for parameter in problem.signature if parameter.kind is Kind.OUTPUT}
    are_sizes = all(type(extent) is int and extent >= 0 for shape in shapes.values() for extent in shape)
    if set(shapes) != outputs or not are_sizes or 8 * sum(map(math.prod, shapes.values())) > MAX_OUTPUT_BYTES:
        raise BadProblemFile(f"Case {case.name!r}: the shapes of its outputs are invalid.")
