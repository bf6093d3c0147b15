"""Every problem: its cases make sense, its reference is right, its tolerance tells right from wrong."""

from __future__ import annotations

from math import isqrt, prod
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from warmfront.problems import all_problems
from warmfront.problems.spec import Case, Dtype, Kind, Problem, Scale

if TYPE_CHECKING:
    from collections.abc import Iterator

    Array = np.ndarray[Any, Any]

PROBLEMS = {problem.slug: problem for problem in all_problems()}
every_problem = pytest.mark.parametrize("problem", PROBLEMS.values(), ids=list(PROBLEMS))


def rng(seed: int = 1) -> np.random.Generator:
    """Randomness that is the same in every run."""
    return np.random.default_rng(seed)


def timed_cases(problem: Problem) -> list[Case]:
    """The cases that are benchmarked on a CPU: random values, large enough for every kind of mistake."""
    return [case for case in problem.cases(Scale.CPU) if case.benchmark]


def extents(problem: Problem, case: Case) -> Iterator[int]:
    """Every size of the case, those in shapes too."""
    for parameter in problem.signature:
        if parameter.kind is Kind.SIZE and parameter.name != "ndim":
            yield case.size(parameter.name)
        if parameter.kind is Kind.SHAPE:
            yield from case.shape(parameter.name)


def is_prime(number: int) -> bool:
    """Whether nothing divides it."""
    return number > 1 and all(number % divisor for divisor in range(2, isqrt(number) + 1))


def accepted(problem: Problem, case: Case, dtype: Dtype, got: Array, want: Array) -> bool:
    """Whether the tolerance lets `got` pass, once it is stored in the dtype."""
    tolerance = problem.tolerance(case, dtype)
    off = np.abs(got.astype(dtype.value).astype("float64") - want)
    return bool(np.all(off <= tolerance.atol + tolerance.rtol * np.abs(want)))


def only(tensors: Any) -> Array:
    """The one output."""
    (tensor,) = tensors.values()
    return np.asarray(tensor)


@every_problem
@pytest.mark.parametrize("scale", Scale)
def test_cases_have_the_sizes_that_break_kernels(problem: Problem, scale: Scale) -> None:
    """Each problem has a case of size 1, one with a prime, and one just over a block."""
    sizes = [list(extents(problem, case)) for case in problem.cases(scale)]
    assert any(set(case) == {1} for case in sizes)
    assert any(is_prime(size) for case in sizes for size in case if size > 2)
    assert any(size in {257, 1025} for case in sizes for size in (*case, prod(case)))


@every_problem
def test_both_scales_share_the_small_cases(problem: Problem) -> None:
    """What breaks a kernel on a CPU is asked on a GPU too, before the large sizes."""
    on_gpu = {case.name for case in problem.cases(Scale.GPU)}
    small = [case for case in problem.cases(Scale.CPU) if not case.benchmark]
    assert len({case.name for case in small} & on_gpu) >= 7


@every_problem
def test_benchmarks_are_sized_for_their_machine(problem: Problem) -> None:
    """A CPU benchmark moves at most 16 MiB, a GPU benchmark at least 4 MiB."""
    dtype = problem.dtypes[0]
    assert all(problem.bytes_moved(case, dtype) <= 16 * 2**20 for case in timed_cases(problem))
    on_gpu = [case for case in problem.cases(Scale.GPU) if case.benchmark]
    assert on_gpu
    assert all(problem.bytes_moved(case, dtype) >= 4 * 2**20 for case in on_gpu)


@every_problem
@pytest.mark.parametrize("scale", Scale)
def test_work_is_counted(problem: Problem, scale: Scale) -> None:
    """Every case moves as many bytes as its tensors have, at least, and never a negative number of FLOPs."""
    for case in problem.cases(scale):
        written = sum(prod(shape) for shape in problem.output_shapes(case).values())
        assert problem.bytes_moved(case, problem.dtypes[0]) >= written * problem.dtypes[0].size
        assert problem.flops(case) >= 0


@every_problem
def test_tensors_are_what_the_signature_says(problem: Problem) -> None:
    """Inputs and outputs have the names, dtypes and shapes that the worker will be told."""
    wanted_inputs = {p.name for p in problem.signature if p.kind is Kind.INPUT}
    wanted_outputs = {p.name for p in problem.signature if p.kind is Kind.OUTPUT}
    for dtype in problem.dtypes:
        for case in problem.cases(Scale.CPU):
            inputs = problem.inputs(case, dtype, rng())
            assert set(inputs) == wanted_inputs
            assert {tensor.dtype.name for tensor in inputs.values()} == {dtype.value}
            assert all(tensor.flags["C_CONTIGUOUS"] for tensor in inputs.values())
            outputs = problem.reference(case, inputs)
            assert set(outputs) == wanted_outputs
            shapes = {name: tensor.shape for name, tensor in outputs.items()}
            assert shapes == dict(problem.output_shapes(case))
            assert all(np.isfinite(tensor).all() for tensor in (*inputs.values(), *outputs.values()))


@every_problem
def test_a_reference_leaves_its_inputs_alone(problem: Problem) -> None:
    """The judge compares inputs after the call with what it sent."""
    for case in problem.cases(Scale.CPU):
        inputs = problem.inputs(case, problem.dtypes[0], rng())
        before = {name: tensor.copy() for name, tensor in inputs.items()}
        problem.reference(case, inputs)
        assert all(np.array_equal(before[name], inputs[name]) for name in before)


@every_problem
def test_inputs_follow_the_seed(problem: Problem) -> None:
    """The same seed gives the same inputs, another seed gives others."""
    for case in timed_cases(problem):
        first = problem.inputs(case, problem.dtypes[0], rng(1))
        again = problem.inputs(case, problem.dtypes[0], rng(1))
        other = problem.inputs(case, problem.dtypes[0], rng(2))
        assert all(np.array_equal(first[name], again[name]) for name in first)
        assert not any(np.array_equal(first[name], other[name]) for name in first)


@every_problem
def test_an_element_that_was_not_read_is_noticed(problem: Problem) -> None:
    """A result computed without one typical input element is rejected."""
    for dtype in problem.dtypes:
        for case in timed_cases(problem):
            inputs = dict(problem.inputs(case, dtype, rng()))
            want = only(problem.reference(case, inputs))
            name, tensor = next(iter(inputs.items()))
            flat = tensor.ravel().copy()
            positive = np.flatnonzero(flat > 0)
            typical = positive[np.argsort(flat[positive], kind="stable")[positive.size // 2]]
            flat[typical] = 0
            got = only(problem.reference(case, {**inputs, name: flat.reshape(tensor.shape)}))
            assert not accepted(problem, case, dtype, got, want)


@every_problem
def test_an_output_shifted_by_one_is_noticed(problem: Problem) -> None:
    """A right result in the wrong place is rejected."""
    for dtype in problem.dtypes:
        for case in timed_cases(problem):
            want = only(problem.reference(case, problem.inputs(case, dtype, rng())))
            assert accepted(problem, case, dtype, want, want)
            assert not accepted(problem, case, dtype, np.roll(want, 1), want)


@every_problem
def test_the_statement_explains_every_parameter(problem: Problem) -> None:
    """The statement has a formula and names every parameter."""
    assert problem.statement.count("$$") >= 2
    for parameter in problem.signature:
        assert f"`{parameter.name}`" in problem.statement


@every_problem
def test_the_starter_declares_what_the_judge_calls(problem: Problem) -> None:
    """The starter has the exact declaration, in every dtype, and a kernel to fill in."""
    for dtype in problem.dtypes:
        starter = problem.starter(dtype)
        assert problem.declaration(dtype) in starter
        assert "<<<" in starter
        assert ("hip_fp16.h" in starter) == (dtype is Dtype.FLOAT16)


def test_declarations_are_those_of_public_kernels() -> None:
    """Argument names and orders are fixed: kernels in the wild rely on them."""
    declared = {
        slug: problem.declaration(problem.dtypes[0]).removeprefix('extern "C" void solution')
        for slug, problem in PROBLEMS.items()
    }
    assert declared == {
        "vector-addition": "(const float* d_input1, const float* d_input2, float* d_output, size_t n)",
        "relu": "(const float* input, float* output, size_t n, size_t m)",
        "leaky-relu": "(const float* input, float alpha, float* output, size_t n, size_t m)",
        "matrix-multiplication": (
            "(const float* input_a, const float* input_b, float* output_c, size_t m, size_t n, size_t k)"
        ),
        "matrix-vector": "(const float* input_a, const float* input_b, float* output_c, size_t m, size_t k)",
        "softmax": "(const float* input, int dim, float* output, const size_t* shape, size_t ndim)",
        "sum-dim": "(const float* input, int dim, float* output, const size_t* shape, size_t ndim)",
        "cumsum": "(const float* input, float* output, size_t N)",
        "histogram": "(const float* image, int num_bins, float* histogram, size_t height, size_t width)",
        "layer-norm": (
            "(const float* X, const float* gamma, const float* beta, float* Y, "
            "size_t B, size_t F, size_t D1, size_t D2)"
        ),
        "conv-2d": "(const float* A, const float* B, float* C, size_t H, size_t W, size_t Kh, size_t Kw)",
        "array-sort": "(const int* a, int* b, size_t n)",
    }


@pytest.mark.parametrize("slug", ["vector-addition", "relu", "leaky-relu", "matrix-multiplication"])
def test_half_precision_is_offered(slug: str) -> None:
    """The element-wise problems and matrix multiplication take float16 too."""
    assert PROBLEMS[slug].dtypes == (Dtype.FLOAT32, Dtype.FLOAT16)
    assert "const __half*" in PROBLEMS[slug].declaration(Dtype.FLOAT16)


@pytest.mark.parametrize("slug", ["softmax", "sum-dim"])
def test_every_dimension_of_one_to_four_is_asked(slug: str) -> None:
    """A kernel that knows only the last dimension does not pass."""
    asked = {(c.size("ndim"), c.size("dim")) for c in PROBLEMS[slug].cases(Scale.CPU)}
    assert asked >= {(ndim, dim) for ndim in range(1, 5) for dim in range(ndim)}
