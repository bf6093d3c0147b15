"""The program in the box of a problem that was sent with an attempt: load the problem and answer requests.

`proxy` starts it in a separate box and does not trust its answers.
"""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from warmfront.errors import WarmfrontError
from warmfront.problems import registry
from warmfront.problems.sandboxed import protocol
from warmfront.problems.spec import Case, Dtype, Scale

if TYPE_CHECKING:
    from warmfront.problems.spec import Problem


def main(box: Path, slug: str) -> None:
    """Answer requests until the channel is closed."""
    with (box / "commands").open("rb") as commands, (box / "answers").open("wb") as answers:
        problem: Problem | None = None
        while True:
            request, _ = protocol.unpack(commands.read, max_bytes=0)
            try:
                problem = problem or registry.load(box / protocol.FILE.format(slug.replace("-", "_")))
                answer = _answer(problem, request)
            except WarmfrontError as error:
                answer = protocol.pack({"error": error.message})
            except Exception as error:  # noqa: BLE001 - report every error of the problem file to its owner
                answer = protocol.pack({"error": f"{type(error).__name__}: {error}"})
            _send(answers, answer)


def _answer(problem: Problem, request: dict[str, Any]) -> bytes:
    scale = Scale(request["scale"])
    if request["do"] == "describe":
        return protocol.pack(_describe(problem, scale))
    case = _requested_case(problem, scale, request)
    if request["do"] == "describe-case":
        return protocol.pack(_describe_case(problem, case))
    inputs = problem.inputs(case, Dtype(request["dtype"]), np.random.default_rng(request["seed"]))
    return protocol.pack({}, {"inputs": inputs, "outputs": problem.reference(case, inputs)})


def _requested_case(problem: Problem, scale: Scale, request: dict[str, Any]) -> Case:
    """Return a published case in the requested style, or a hidden one with the requested values."""
    if request["case"] is not None:
        published: Case = problem.cases(scale)[request["case"]]
        return dataclasses.replace(published, draw=request["draw"])
    values = {
        name: tuple(value) if isinstance(value, list) else value for name, value in request["values"].items()
    }
    return Case(name="hidden", values=values, draw=request["draw"])


def _describe(problem: Problem, scale: Scale) -> dict[str, Any]:
    return {
        "title": problem.title,
        "dtypes": list(problem.dtypes),
        "signature": [[p.name, p.kind, p.c_type, p.dtype] for p in problem.signature],
        "ranges": {
            name: [type(bounds).__name__, *dataclasses.astuple(bounds)]
            for name, bounds in problem.ranges(scale).items()
        },
        "cases": [_describe_case(problem, case) for case in problem.cases(scale)],
    }


def _describe_case(problem: Problem, case: Case) -> dict[str, Any]:
    tolerances = {dtype: problem.tolerance(case, dtype) for dtype in problem.dtypes}
    return {
        "name": case.name,
        "values": case.values,
        "draw": case.draw,
        "styles": {dtype: list(problem.styles(case, dtype)) for dtype in problem.dtypes},
        "timed_styles": {dtype: list(problem.timed_styles(case, dtype)) for dtype in problem.dtypes},
        "benchmark": case.benchmark,
        "output_shapes": problem.output_shapes(case),
        "flops": int(problem.flops(case)),
        "bytes_moved": {dtype: int(problem.bytes_moved(case, dtype)) for dtype in problem.dtypes},
        "tolerance": {dtype: [float(t.rtol), float(t.atol), t.why] for dtype, t in tolerances.items()},
    }


def _send(answers: BinaryIO, data: bytes) -> None:
    answers.write(data)
    answers.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
