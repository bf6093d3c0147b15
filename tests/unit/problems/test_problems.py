"""Properties of every problem: case sizes, shapes of tensors, and errors that the tolerance rejects."""

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
    """Return a generator with a fixed seed."""
    return np.random.default_rng(seed)


def timed_cases(problem: Problem) -> list[Case]:
    """Return the benchmarked CPU cases: random values, large enough for every kind of error."""
    return [case for case in problem.cases(Scale.CPU) if case.benchmark]


def extents(problem: Problem, case: Case) -> Iterator[int]:
    """Yield every size of the case, including the extents of shapes."""
    for parameter in problem.signature:
        if parameter.kind is Kind.SIZE and parameter.name != "ndim":
            yield case.size(parameter.name)
        if parameter.kind is Kind.SHAPE:
            yield from case.shape(parameter.name)


def is_prime(number: int) -> bool:
    """Return whether a number is prime."""
    return number > 1 and all(number % divisor for divisor in range(2, isqrt(number) + 1))


def is_accepted(problem: Problem, case: Case, dtype: Dtype, output: Array, expected: Array) -> bool:
    """Return whether the tolerance accepts `output` after rounding it to the dtype."""
    tolerance = problem.tolerance(case, dtype)
    error = np.abs(output.astype(dtype.value).astype("float64") - expected)
    return bool(np.all(error <= tolerance.atol + tolerance.rtol * np.abs(expected)))


def only_output(tensors: Any) -> Array:
    """Return the only output."""
    (tensor,) = tensors.values()
    return np.asarray(tensor)


@every_problem
@pytest.mark.parametrize("scale", Scale)
def test_cases_have_sizes_that_break_kernels(problem: Problem, scale: Scale) -> None:
    """Each problem has a case of size 1, one with a prime, and one just over a block."""
    sizes = [list(extents(problem, case)) for case in problem.cases(scale)]
    assert any(set(case) == {1} for case in sizes)
    assert any(is_prime(size) for case in sizes for size in case if size > 2)
    assert any(size in {257, 1025} for case in sizes for size in (*case, prod(case)))


@every_problem
def test_both_scales_share_the_small_cases(problem: Problem) -> None:
    """The small cases are the same on CPU and GPU."""
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
    """Every case moves at least the bytes of its outputs, and its FLOPs are not negative."""
    for case in problem.cases(scale):
        written = sum(prod(shape) for shape in problem.output_shapes(case).values())
        assert problem.bytes_moved(case, problem.dtypes[0]) >= written * problem.dtypes[0].size
        assert problem.flops(case) >= 0


@every_problem
def test_tensors_match_the_signature(problem: Problem) -> None:
    """Inputs and outputs have the names, dtypes and shapes that the signature declares."""
    input_names = {p.name for p in problem.signature if p.kind is Kind.INPUT}
    output_names = {p.name for p in problem.signature if p.kind is Kind.OUTPUT}
    for dtype in problem.dtypes:
        for case in problem.cases(Scale.CPU):
            inputs = problem.inputs(case, dtype, rng())
            assert set(inputs) == input_names
            assert {name: tensor.dtype.name for name, tensor in inputs.items()} == {
                p.name: (p.dtype or dtype).value for p in problem.signature if p.kind is Kind.INPUT
            }
            assert all(tensor.flags["C_CONTIGUOUS"] for tensor in inputs.values())
            outputs = problem.reference(case, inputs)
            assert set(outputs) == output_names
            shapes = {name: tensor.shape for name, tensor in outputs.items()}
            assert shapes == dict(problem.output_shapes(case))
            assert all(np.isfinite(tensor).all() for tensor in (*inputs.values(), *outputs.values()))


@every_problem
def test_a_reference_does_not_change_its_inputs(problem: Problem) -> None:
    """The inputs are unchanged, because the judge compares them after the call."""
    for case in problem.cases(Scale.CPU):
        inputs = problem.inputs(case, problem.dtypes[0], rng())
        before = {name: tensor.copy() for name, tensor in inputs.items()}
        problem.reference(case, inputs)
        assert all(np.array_equal(before[name], inputs[name]) for name in before)


@every_problem
def test_inputs_depend_on_the_seed_only(problem: Problem) -> None:
    """The same seed gives the same inputs; another seed gives different inputs."""
    for case in timed_cases(problem):
        first = problem.inputs(case, problem.dtypes[0], rng(1))
        again = problem.inputs(case, problem.dtypes[0], rng(1))
        other = problem.inputs(case, problem.dtypes[0], rng(2))
        assert all(np.array_equal(first[name], again[name]) for name in first)
        assert not any(np.array_equal(first[name], other[name]) for name in first)


@every_problem
def test_an_ignored_input_element_is_rejected(problem: Problem) -> None:
    """An output computed without one typical input element is rejected."""
    for dtype in problem.dtypes:
        for case in timed_cases(problem):
            inputs = dict(problem.inputs(case, dtype, rng()))
            expected = only_output(problem.reference(case, inputs))
            name, tensor = next(iter(inputs.items()))
            flat = tensor.ravel().copy()
            positive = np.flatnonzero(flat > 0)
            typical = positive[np.argsort(flat[positive], kind="stable")[positive.size // 2]]
            flat[typical] = 0
            output = only_output(problem.reference(case, {**inputs, name: flat.reshape(tensor.shape)}))
            assert not is_accepted(problem, case, dtype, output, expected)


@every_problem
def test_a_shifted_output_is_rejected(problem: Problem) -> None:
    """An output that is shifted by one element is rejected."""
    for dtype in problem.dtypes:
        for case in timed_cases(problem):
            expected = only_output(problem.reference(case, problem.inputs(case, dtype, rng())))
            assert is_accepted(problem, case, dtype, expected, expected)
            assert not is_accepted(problem, case, dtype, np.roll(expected, 1), expected)


@every_problem
def test_the_statement_explains_every_parameter(problem: Problem) -> None:
    """The statement has a formula and mentions every parameter."""
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
    """Argument names and orders are fixed, because published kernels depend on them."""
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
        "attention": (
            "(const __half* q, const __half* k, const __half* v, __half* output, "
            "size_t heads, size_t n, size_t d)"
        ),
        "fp8-matmul": (
            "(const int* a, const int* b, const float* a_scale, const float* b_scale, float* c, "
            "size_t m, size_t n, size_t words)"
        ),
    }


@pytest.mark.parametrize("slug", ["vector-addition", "relu", "leaky-relu", "matrix-multiplication"])
def test_float16_is_supported(slug: str) -> None:
    """The element-wise problems and matrix multiplication also support float16."""
    assert PROBLEMS[slug].dtypes == (Dtype.FLOAT32, Dtype.FLOAT16)
    assert "const __half*" in PROBLEMS[slug].declaration(Dtype.FLOAT16)


@pytest.mark.parametrize("slug", ["softmax", "sum-dim"])
def test_every_dimension_of_one_to_four_is_tested(slug: str) -> None:
    """The cases contain every dimension of tensors with one to four dimensions."""
    tested = {(case.size("ndim"), case.size("dim")) for case in PROBLEMS[slug].cases(Scale.CPU)}
    assert tested >= {(ndim, dim) for ndim in range(1, 5) for dim in range(ndim)}
