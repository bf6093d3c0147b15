"""The registry finds every problem, by slug and alias, and says what is wrong with a file."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from warmfront.errors import BadProblemFile, BadSetting, UnknownProblem
from warmfront.problems import all_problems, get

if TYPE_CHECKING:
    from pathlib import Path

THE_TWELVE = [
    "array-sort",
    "conv-2d",
    "cumsum",
    "histogram",
    "layer-norm",
    "leaky-relu",
    "matrix-multiplication",
    "matrix-vector",
    "relu",
    "softmax",
    "sum-dim",
    "vector-addition",
]

#: A file that defines a usable problem, to be spoiled by each test.
DOUBLE = '''
from warmfront.problems import draws, rounding
from warmfront.problems.spec import Case, Difficulty, Problem, size, tensor_in, tensor_out


class Double(Problem):
    """Twice the input."""

    slug = "double"
    title = "Double"
    difficulty = Difficulty.EASY
    tags = ("element-wise",)
    aliases = ("twice",)
    signature = (tensor_in("x"), tensor_out("y"), size("n"))
    statement = "$y = 2x$ for `x`, `y` of `n`"

    def cases(self, scale):
        return [Case(name="n = 1", values={"n": 1}, benchmark=True)]

    def inputs(self, case, dtype, rng):
        return {"x": draws.normal((case.size("n"),), dtype, rng)}

    def output_shapes(self, case):
        return {"y": (case.size("n"),)}

    def reference(self, case, inputs):
        return {"y": 2 * inputs["x"].astype("float64")}

    def tolerance(self, case, dtype):
        return rounding.elementwise(dtype)

    def flops(self, case):
        return case.size("n")

    def bytes_moved(self, case, dtype):
        return 2 * case.size("n") * dtype.size
'''


@pytest.fixture
def operator_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory that WARMFRONT_PROBLEMS names."""
    monkeypatch.setenv("WARMFRONT_PROBLEMS", str(tmp_path))
    return tmp_path


def test_all_twelve_are_found() -> None:
    """Every problem of the package is listed, by slug."""
    assert [problem.slug for problem in all_problems()] == THE_TWELVE


@pytest.mark.parametrize("slug", THE_TWELVE)
def test_a_slug_gets_its_problem(slug: str) -> None:
    """A problem is got by its slug."""
    assert get(slug).slug == slug


def test_an_alias_gets_its_problem() -> None:
    """`matmul` is matrix multiplication."""
    assert get("matmul").slug == "matrix-multiplication"


def test_getting_a_problem_leaves_numpy_and_the_other_problems_unloaded() -> None:
    """The command line can start a compiler before it pays for NumPy."""
    code = (
        "import sys; from warmfront.problems import get; get('relu'); "
        "print('numpy' in sys.modules, 'warmfront.problems.softmax' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_listing_all_problems_leaves_numpy_unloaded() -> None:
    """Even every problem's cases are known without NumPy."""
    code = "import sys, warmfront.problems as p; p.all_problems(); print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize(
    ("typed", "meant"),
    [("sofmax", "softmax"), ("matmull", "matmul"), ("leaky_relu", "leaky-relu"), ("RELU", "relu")],
)
def test_an_unknown_name_is_answered_with_the_nearest(typed: str, meant: str) -> None:
    """The error for a misspelt name suggests the nearest problem."""
    with pytest.raises(UnknownProblem, match=meant):
        get(typed)


@pytest.mark.parametrize("name", ["", "zzzzzz", "../relu", "spec", "registry", "__init__"])
def test_a_name_like_nothing_is_unknown(name: str) -> None:
    """Neither a path nor one of the package's own parts is a problem, and nothing is suggested in vain."""
    with pytest.raises(UnknownProblem):
        get(name)


def test_the_operators_own_problem_is_found(operator_dir: Path) -> None:
    """A file in a directory of WARMFRONT_PROBLEMS is a problem like any other."""
    (operator_dir / "double.py").write_text(DOUBLE)
    assert get("double").title == "Double"
    assert get("twice").slug == "double"
    assert len(all_problems()) == len(THE_TWELVE) + 1


def test_a_file_that_starts_with_an_underscore_is_no_problem(operator_dir: Path) -> None:
    """Helpers may lie beside problems."""
    (operator_dir / "_helper.py").write_text("raise RuntimeError")
    assert [problem.slug for problem in all_problems()] == THE_TWELVE


def test_two_directories_are_both_searched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """WARMFRONT_PROBLEMS is separated as PATH is."""
    for name in ("double", "treble"):
        (tmp_path / name).mkdir()
        text = DOUBLE.replace('"double"', f'"{name}"').replace('("twice",)', "()")
        (tmp_path / name / f"{name}.py").write_text(text)
    monkeypatch.setenv("WARMFRONT_PROBLEMS", f"{tmp_path / 'double'}:{tmp_path / 'treble'}")
    assert {get("double").slug, get("treble").slug} == {"double", "treble"}


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("class Double(Problem)", "class Double(Problem", "SyntaxError"),
        ("from warmfront.problems import draws", "import no_such_module", "no_such_module"),
        ("class Double(Problem)", "class Double", "0 subclasses"),
        ("    def flops(self, case):\n        return case.size", "    flopz = len  #", "flops"),
        ('title = "Double"', "", "does not define title"),
        ('slug = "double"', 'slug = "treble"', "should be 'double'"),
        ('tensor_in("x")', 'tensor_in("2x")', "cannot be the name"),
        ('tensor_in("x")', 'tensor_in("y")', "the same name"),
        ('tensor_out("y"), ', "", "no output"),
        ('size("n"))', 'size("n"), size("m"))', "the signature needs"),
        ('values={"n": 1}', 'values={"n": -1}', "cannot be -1"),
        ('values={"n": 1}', 'values={"n": 1.5}', "cannot be 1.5"),
        ("benchmark=True", "", "for benchmarking"),
        ("return [Case", "return [] and [Case", "no cases"),
        ("return [Case", "raise ValueError('no luck') or [Case", "no luck"),
        ('aliases = ("twice",)', "dtypes = ()", "no dtype"),
    ],
)
def test_a_broken_file_is_named_with_its_reason(operator_dir: Path, old: str, new: str, reason: str) -> None:
    """Whatever is wrong with an operator's file, the error says which file and what."""
    assert old in DOUBLE
    path = operator_dir / "double.py"
    path.write_text(DOUBLE.replace(old, new))
    with pytest.raises(BadProblemFile) as raised:
        get("double")
    assert str(path) in raised.value.message
    assert reason in raised.value.message
    assert raised.value.hint


def test_a_file_with_the_name_of_a_problem_is_refused(operator_dir: Path) -> None:
    """Nobody can replace a problem of the package unseen."""
    (operator_dir / "relu.py").write_text(DOUBLE)
    with pytest.raises(BadProblemFile, match="already defined"):
        get("relu")


@pytest.mark.parametrize("alias", ["matmul", "softmax"])
def test_an_alias_that_names_another_problem_is_refused(operator_dir: Path, alias: str) -> None:
    """A name means one problem, and the later file is the one to blame."""
    (operator_dir / "double.py").write_text(DOUBLE.replace("twice", alias))
    with pytest.raises(BadProblemFile, match=rf"double\.py: the alias '{alias}' already names"):
        all_problems()


def test_a_directory_that_is_not_there_is_a_bad_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the variable and the value."""
    monkeypatch.setenv("WARMFRONT_PROBLEMS", "/no/such/place")
    with pytest.raises(BadSetting, match="WARMFRONT_PROBLEMS names '/no/such/place'"):
        get("relu")
