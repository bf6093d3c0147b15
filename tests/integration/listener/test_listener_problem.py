"""Problems that are sent with an attempt are judged like any other, and run in their own box."""

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

#: The same problem with ranges and styles.
STYLED = PROBLEM.replace(
    "    def output_shapes",
    """    def ranges(self, scale):
        from warmfront.problems.ranges import Sizes
        return {"n": Sizes(1, 2000)}

    def styles(self, case, dtype):
        return ("large",) if case.size("n") > 1 else ("large", "small")

    def output_shapes""",
    1,
).replace(".astype(dtype.value)}", ".astype(dtype.value) * np.float32(1e6 if case.draw == 'large' else 1)}")

KERNEL = """
#include <hip/hip_runtime.h>
__global__ void twice(const float* x, float* y, size_t n) {
    const size_t i = size_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) y[i] = 2 * x[i];
}
extern "C" void solution(const float* x, float* y, size_t n) { twice<<<(n + 255) / 256, 256>>>(x, y, n); }
"""

#: Looks for things that must not be visible, and reports them in an error message.
CURIOUS = """
import os, pathlib, socket
found = []
for path in pathlib.Path("/proc").glob("[0-9]*/environ"):
    try:
        found.append(path.read_text())
    except PermissionError:
        pass
for path in ("/etc/passwd", "/root/.ssh", "/var/log"):
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


def judge(listener: Listening, name: str, **changes: Any) -> dict[str, Any]:
    """Execute an attempt with its own problem and return the last line."""
    fields = {"problem": "twice", "problem_def": PROBLEM, "source": KERNEL, "endpoint": "submit", **changes}
    return listener.execute(name, **fields)[-1]


def test_a_correct_kernel(listener: Listening) -> None:
    """A correct kernel is accepted, and the benchmark cases are those of the problem."""
    verdict = judge(listener, "right")
    assert (verdict["status"], verdict["receipt"]["problem"]) == ("ACCEPTED", "twice")
    assert [case["name"] for case in verdict["benchmark_results"]] == ["n = 1000"]


def test_a_wrong_kernel(listener: Listening) -> None:
    """A wrong kernel fails against the reference of the problem."""
    assert judge(listener, "wrong", source=KERNEL.replace("2 * x", "3 * x"))["status"] == "WRONG_ANSWER"


def test_it_overrides_a_built_in_problem(listener: Listening) -> None:
    """A problem with the slug of a built-in problem replaces it for that attempt only."""
    changes = {"problem": "relu", "problem_def": PROBLEM.replace('"twice"', '"relu"')}
    assert judge(listener, "hides", **changes)["status"] == "ACCEPTED"
    assert judge(listener, "hidden", problem="relu", problem_def=None)["status"] == "COMPILE_ERROR"


def test_hidden_sizes_and_styles(listener: Listening) -> None:
    """A problem that declares ranges and styles has hidden cases, and timed samples in its styles."""
    verdict = judge(listener, "styled", problem_def=STYLED)
    assert verdict["status"] == "ACCEPTED", verdict
    assert [case.get("hidden", False) for case in verdict["test_results"]] == [False, False, True, True]
    small_only = KERNEL.replace("2 * x[i]", "x[i] > 1e3f ? 0 : 2 * x[i]")
    verdict = judge(listener, "small", problem_def=STYLED, source=small_only)
    assert verdict["status"] == "WRONG_ANSWER"
    assert "style large" in verdict["message"]
    published = KERNEL.replace("if (i < n)", "if (i < n && (n == 1 || n == 1000))")
    verdict = judge(listener, "published", problem_def=STYLED, source=published)
    assert verdict["status"] == "WRONG_ANSWER"
    assert "`hidden-1` (n = " in verdict["message"]


@pytest.mark.parametrize(
    ("problem_def", "message"),
    [
        ("x = ", "SyntaxError"),
        ("", "0 subclasses of Problem"),
        ("raise ValueError('mine')", "mine"),
        ("import os; os._exit(7)", "ended"),
        ("import os; os.write(1, b'last words'); os.abort()", "last words"),
        (PROBLEM.replace('"twice"', '"other"'), "slug"),
        (PROBLEM.replace('size("n"))', 'size("n; system(0)"))'), "not a valid name for a C parameter"),
        (PROBLEM.replace('{"y": (case', '{"z": (case'), "outputs"),
        (PROBLEM.replace('(case.size("n"),)}', "(1 << 60,)}"), "outputs"),
        (PROBLEM.replace(".astype(dtype.value)", ""), "'x' does not match its declaration"),
        (PROBLEM.replace('{"y": 2 * ', '{"y": [2] or '), "AttributeError"),
        (PROBLEM.replace("rtol=1e-6", "rtol='much'"), "ValueError"),
        (STYLED.replace("Sizes(1, 2000)", "Sizes(9, 2)"), "0 <= low <= high"),
        (STYLED.replace("Sizes(1, 2000)", "Sizes(1, 1 << 60)"), "ValueError"),
        (STYLED.replace("Sizes(1, 2000)", "7"), "the range of 'n' is 7; allowed: Sizes"),
        (STYLED.replace('"n": Sizes', '"m": Sizes'), "ranges for ['m']; the signature needs ['n']"),
        (STYLED.replace('"large", "small"', '"a\x1bb", "c"'), "styles are invalid"),
    ],
)
def test_an_invalid_problem(listener: Listening, problem_def: str, message: str) -> None:
    """An invalid problem file gets the verdict ERROR with the reason; the kernel is not blamed."""
    verdict = judge(listener, f"bad-{abs(hash(problem_def))}", problem_def=problem_def)
    assert (verdict["status"], verdict["code"]) == ("ERROR", "BAD_PROBLEM_FILE")
    assert message in verdict["message"]


def test_the_problem_is_isolated(listener: Listening) -> None:
    """The problem runs as `nobody` and sees no token, no accounts, no other processes and no network."""
    message = judge(listener, "curious", problem_def=CURIOUS)["message"]
    assert "RuntimeError" in message
    assert "PermissionError" in message
    assert "65534" in message
    for secret in (TOKEN, "network", "/etc/passwd", "/root/.ssh", "/var/log", "WARMFRONT_BOX_DIR"):
        assert f"'{secret}" not in message
        assert f"{secret}=" not in message


def test_a_problem_that_never_answers_can_be_cancelled(listener: Listening) -> None:
    """An attempt whose problem is in an endless loop can be cancelled."""
    fields = {"problem": "twice", "problem_def": "while True: pass", "source": KERNEL}
    with listener.stream("loops", **fields) as lines:
        assert listener.http.delete("/execute/loops").status_code == 204
        assert [line["status"] for line in lines] == ["CANCELLED"]
    assert judge(listener, "after-loops")["status"] == "ACCEPTED"
