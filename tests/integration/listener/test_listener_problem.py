"""A problem that comes with an attempt: judged like any other, and kept in a box of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.support.listeners import TOKEN, Listening, listening

if TYPE_CHECKING:
    from collections.abc import Iterator

PROBLEM = """
import numpy as np
from warmfront.problems.spec import Case, Difficulty, Dtype, Problem, Tolerance, size, tensor_in, tensor_out


class Twice(Problem):
    slug = "twice"
    title = "Twice"
    difficulty = Difficulty.EASY
    tags = ("elementwise",)
    signature = (tensor_in("x"), tensor_out("y"), size("n"))
    statement = "y = 2x"

    def cases(self, scale):
        return [Case(name=f"n = {n}", values={"n": n}, benchmark=n > 1) for n in (1, 1000)]

    def inputs(self, case, dtype, rng):
        return {"x": rng.standard_normal(case.size("n")).astype(dtype.value)}

    def output_shapes(self, case):
        return {"y": (case.size("n"),)}

    def reference(self, case, inputs):
        return {"y": 2 * inputs["x"].astype(np.float64)}

    def tolerance(self, case, dtype):
        return Tolerance(rtol=1e-6, atol=0.0, why="one rounding")

    def flops(self, case):
        return case.size("n")

    def bytes_moved(self, case, dtype):
        return 2 * dtype.size * case.size("n")
"""

KERNEL = """
#include <hip/hip_runtime.h>
__global__ void twice(const float* x, float* y, size_t n) {
    const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}
extern "C" void solution(const float* x, float* y, size_t n) { twice<<<(n + 255) / 256, 256>>>(x, y, n); }
"""

#: Looks for what it must not find, and says what it found.
CURIOUS = """
import os, pathlib, socket
found = []
for path in pathlib.Path("/proc").glob("[0-9]*/environ"):
    try:
        found.append(path.read_text())
    except PermissionError:
        pass
for path in ("/etc/passwd", "/root/.ssh", "/home"):
    if os.path.exists(path):
        found.append(path)
try:
    socket.create_connection(("127.0.0.1", int(os.environ.get("PORT", "8000"))), 1)
    found.append("network")
except OSError as error:
    found.append(type(error).__name__)
raise RuntimeError(repr((found, os.getuid())))
"""


@pytest.fixture(scope="module", name="listener")
def _listener(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Listening]:
    with listening(tmp_path_factory.mktemp("listener")) as running:
        yield running


def judged(listener: Listening, name: str, **changes: Any) -> dict[str, Any]:
    """The last line of an attempt that brings its own problem."""
    fields = {"problem": "twice", "problem_def": PROBLEM, "source": KERNEL, "endpoint": "submit", **changes}
    return listener.execute(name, **fields)[-1]


def test_a_right_kernel(listener: Listening) -> None:
    """A right kernel for a problem that came along is accepted, and timed by that problem's figures."""
    verdict = judged(listener, "right")
    assert (verdict["status"], verdict["receipt"]["problem"]) == ("ACCEPTED", "twice")
    assert [case["name"] for case in verdict["benchmark_results"]] == ["n = 1000"]


def test_a_wrong_kernel(listener: Listening) -> None:
    """A wrong kernel is refused by the problem's own reference."""
    assert judged(listener, "wrong", source=KERNEL.replace("2 * x", "3 * x"))["status"] == "WRONG_ANSWER"


def test_it_hides_a_problem_of_ours(listener: Listening) -> None:
    """A problem that came along under the name of one of ours is the one that counts, for that attempt."""
    changes = {"problem": "relu", "problem_def": PROBLEM.replace('"twice"', '"relu"')}
    assert judged(listener, "hides", **changes)["status"] == "ACCEPTED"
    assert judged(listener, "hidden", problem="relu", problem_def=None)["status"] == "COMPILE_ERROR"


@pytest.mark.parametrize(
    ("problem_def", "message"),
    [
        ("x = ", "SyntaxError"),
        ("", "0 subclasses of Problem"),
        ("raise ValueError('mine')", "mine"),
        ("import os; os._exit(7)", "ended"),
        ("import os; os.write(1, b'last words'); os.abort()", "last words"),
        (PROBLEM.replace('"twice"', '"other"'), "slug"),
        (PROBLEM.replace('size("n"))', 'size("n; system(0)"))'), "cannot be the name of a C parameter"),
        (PROBLEM.replace('{"y": (case', '{"z": (case'), "outputs"),
        (PROBLEM.replace('(case.size("n"),)}', "(1 << 60,)}"), "outputs"),
        (PROBLEM.replace(".astype(dtype.value)", ""), "'x' is not as declared"),
        (PROBLEM.replace('{"y": 2 * ', '{"y": [2] or '), "AttributeError"),
        (PROBLEM.replace("rtol=1e-6", "rtol='much'"), "ValueError"),
    ],
)
def test_a_problem_that_is_wrong(listener: Listening, problem_def: str, message: str) -> None:
    """Whatever is wrong in the file is an ERROR that says what, and no fault of the kernel's."""
    verdict = judged(listener, f"bad-{abs(hash(problem_def))}", problem_def=problem_def)
    assert (verdict["status"], verdict["code"]) == ("ERROR", "BAD_PROBLEM_FILE")
    assert message in verdict["message"]


def test_it_sees_nothing_of_the_machine(listener: Listening) -> None:
    """The file's code is nobody, sees no token, no accounts, no other process and no network."""
    message = judged(listener, "curious", problem_def=CURIOUS)["message"]
    assert "RuntimeError" in message
    assert "PermissionError" in message
    assert "65534" in message
    for secret in (TOKEN, "network", "/etc/passwd", "/root/.ssh", "/home", "WARMFRONT_BOX_DIR"):
        assert f"'{secret}" not in message
        assert f"{secret}=" not in message


def test_one_that_never_answers_is_cancelled(listener: Listening) -> None:
    """An attempt whose problem loops for ever is cancelled like any other."""
    fields = {"problem": "twice", "problem_def": "while True: pass", "source": KERNEL}
    with listener.stream("loops", **fields) as lines:
        assert listener.http.delete("/execute/loops").status_code == 204
        assert [line["status"] for line in lines] == ["CANCELLED"]
    assert judged(listener, "after-loops")["status"] == "ACCEPTED"
