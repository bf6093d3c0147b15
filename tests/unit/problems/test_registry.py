"""The registry finds problems by slug and alias, and reports errors in problem files."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from warmfront.errors import BadProblemFile, BadSetting, UnknownProblem
from warmfront.problems import all_problems, get

if TYPE_CHECKING:
    from pathlib import Path

SLUGS = [
    "array-sort",
    "attention",
    "conv-2d",
    "cumsum",
    "fp8-matmul",
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

#: A file with a valid problem; tests introduce errors into it.
DOUBLE = '''
from warmfront.problems import draws, rounding
from warmfront.problems.spec import Case, Difficulty, Problem, size, tensor_in, tensor_out


class Double(Problem):
    """Double the input."""

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
    """Return a directory that WARMFRONT_PROBLEMS names."""
    monkeypatch.setenv("WARMFRONT_PROBLEMS", str(tmp_path))
    return tmp_path


def test_all_problems_are_listed() -> None:
    """Every problem of the package is listed, sorted by slug."""
    assert [problem.slug for problem in all_problems()] == SLUGS


@pytest.mark.parametrize("slug", SLUGS)
def test_get_by_slug(slug: str) -> None:
    """`get` returns the problem with the slug."""
    assert get(slug).slug == slug


def test_get_by_alias() -> None:
    """`get` returns matrix multiplication for `matmul`."""
    assert get("matmul").slug == "matrix-multiplication"


def test_get_imports_neither_numpy_nor_other_problems() -> None:
    """The command line can start a compiler before NumPy is imported."""
    code = (
        "import sys; from warmfront.problems import get; get('relu'); "
        "print('numpy' in sys.modules, 'warmfront.problems.softmax' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_listing_all_problems_does_not_import_numpy() -> None:
    """All problems, including their cases, can be listed without NumPy."""
    code = "import sys, warmfront.problems as p; p.all_problems(); print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


@pytest.mark.parametrize(
    ("typed", "nearest"),
    [("sofmax", "softmax"), ("matmull", "matmul"), ("leaky_relu", "leaky-relu"), ("RELU", "relu")],
)
def test_the_error_for_an_unknown_name_suggests_the_nearest(typed: str, nearest: str) -> None:
    """The error for a misspelled name contains the nearest problem."""
    with pytest.raises(UnknownProblem, match=nearest):
        get(typed)


@pytest.mark.parametrize("name", ["", "zzzzzz", "../relu", "spec", "registry", "__init__"])
def test_unknown_names(name: str) -> None:
    """Paths and the package's other modules are not problems."""
    with pytest.raises(UnknownProblem):
        get(name)


def test_an_operators_problem_is_found(operator_dir: Path) -> None:
    """A file in a directory of WARMFRONT_PROBLEMS is found by slug and alias."""
    (operator_dir / "double.py").write_text(DOUBLE)
    assert get("double").title == "Double"
    assert get("twice").slug == "double"
    assert len(all_problems()) == len(SLUGS) + 1


def test_a_file_name_with_a_leading_underscore_is_ignored(operator_dir: Path) -> None:
    """Helper modules can be in the same directory as problems."""
    (operator_dir / "_helper.py").write_text("raise RuntimeError")
    assert [problem.slug for problem in all_problems()] == SLUGS


def test_two_directories_are_both_searched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """WARMFRONT_PROBLEMS has the same separator as PATH."""
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
        ('slug = "double"', 'slug = "treble"', "requires 'double'"),
        ('tensor_in("x")', 'tensor_in("2x")', "not a valid name"),
        ('tensor_in("x")', 'tensor_in("y")', "the same name"),
        ('tensor_out("y"), ', "", "no output"),
        ('size("n"))', 'size("n"), size("m"))', "the signature needs"),
        ('values={"n": 1}', 'values={"n": -1}', "-1 is not a valid value"),
        ('values={"n": 1}', 'values={"n": 1.5}', "1.5 is not a valid value"),
        ("benchmark=True", "", "benchmark=True"),
        ("return [Case", "return [] and [Case", "no cases"),
        ("return [Case", "raise ValueError('failure') or [Case", "failure"),
        ('aliases = ("twice",)', "dtypes = ()", "no dtypes"),
    ],
)
def test_the_error_for_an_invalid_file_has_path_and_reason(
    operator_dir: Path, old: str, new: str, reason: str
) -> None:
    """The error for an invalid file has its path and the reason."""
    assert old in DOUBLE
    path = operator_dir / "double.py"
    path.write_text(DOUBLE.replace(old, new))
    with pytest.raises(BadProblemFile) as raised:
        get("double")
    assert str(path) in raised.value.message
    assert reason in raised.value.message
    assert raised.value.hint


def test_a_file_with_the_slug_of_another_problem_is_rejected(operator_dir: Path) -> None:
    """An operator's file cannot replace a problem of the package."""
    (operator_dir / "relu.py").write_text(DOUBLE)
    with pytest.raises(BadProblemFile, match="already defined"):
        get("relu")


@pytest.mark.parametrize("alias", ["matmul", "softmax"])
def test_an_alias_of_another_problem_is_rejected(operator_dir: Path, alias: str) -> None:
    """Names are unique; the error is about the file that was found later."""
    (operator_dir / "double.py").write_text(DOUBLE.replace("twice", alias))
    with pytest.raises(BadProblemFile, match=rf"double\.py: the alias '{alias}' already names"):
        all_problems()


def test_a_missing_directory_is_a_bad_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error contains the variable and its value."""
    monkeypatch.setenv("WARMFRONT_PROBLEMS", "/no/such/place")
    with pytest.raises(BadSetting, match="WARMFRONT_PROBLEMS names '/no/such/place'"):
        get("relu")
