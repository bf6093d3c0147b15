"""Honest kernels pass in every style and at every hidden size; shortcuts fail for every seed.

Kernels are modeled in NumPy, so that hundreds of checks are quick.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.support.numpy_kernels import HONEST, ORDERS, sequential, strided
from warmfront.judge.case_data import CaseData, CaseGenerator
from warmfront.judge.output_check import mismatches
from warmfront.judge_request import JudgeRequest
from warmfront.problems import all_problems
from warmfront.problems.spec import Case, Dtype, Problem, Scale
from warmfront.verdicts import Endpoint

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    Array = np.ndarray[Any, Any]
    Tensors = Mapping[str, Array]
    Kernel = Callable[[Case, Tensors], Array]

PROBLEMS = {problem.slug: problem for problem in all_problems()}
EVERY_DTYPE = [(slug, dtype) for slug, problem in PROBLEMS.items() for dtype in problem.dtypes]

#: Models need memory for every term.
MAX_FLOPS = 3_000_000

#: Larger cases take too long for a test of every style.
MAX_BYTES = 1_000_000

#: The judge takes at least about this many timed samples.
SAMPLES = 40


def generator(problem: Problem, dtype: Dtype, seed: int) -> CaseGenerator:
    """Return the generator of a check with this seed."""
    request = JudgeRequest(source="", problem=problem, dtype=dtype, endpoint=Endpoint.SUBMIT, seed=seed)
    return CaseGenerator(request, Scale.CPU)


def is_small(problem: Problem, case: Case) -> bool:
    """Return whether a test in every style is quick."""
    return problem.flops(case) <= MAX_FLOPS and problem.bytes_moved(case, problem.dtypes[0]) <= MAX_BYTES


def is_wrong(case_data: CaseData, output: Array, dtype: Dtype) -> bool:
    """Return whether the judge rejects an output, after rounding it to the dtype."""
    (expected,) = case_data.expected.values()
    with np.errstate(over="ignore"):
        rounded = output.astype(dtype.value).reshape(expected.shape)
    return bool(mismatches(rounded, expected, case_data.tolerance).any())


def samples(cases: CaseGenerator) -> Iterator[CaseData]:
    """Yield the data of a whole attempt: every case, and samples of the timed ones."""
    timed = [number for number, case in enumerate(cases.cases, 1) if case.benchmark]
    for number in reversed(range(1, len(cases.cases) + 1)):
        yield cases.generate(number)
    for sample in range(1, SAMPLES + 1):
        for number in timed:
            yield cases.generate(number, sample)


def is_caught(problem: Problem, kernel: Kernel, seed: int) -> bool:
    """Return whether an attempt with this kernel gets WRONG_ANSWER."""
    cases = generator(problem, problem.dtypes[0], seed)
    with np.errstate(all="ignore"):
        return any(
            is_wrong(data, kernel(data.case, data.inputs), problem.dtypes[0]) for data in samples(cases)
        )


@pytest.mark.parametrize(("slug", "dtype"), EVERY_DTYPE)
def test_honest_kernels_pass_in_every_style(slug: str, dtype: Dtype) -> None:
    """Hidden sizes in every style, with every order of summation."""
    problem = PROBLEMS[slug]
    for seed in range(8):
        case = generator(problem, dtype, seed).cases[-1]
        if is_small(problem, case):
            for style in problem.styles(case, dtype):
                _assert_passes(problem, replace(case, draw=style), dtype, seed)


@pytest.mark.slow
@pytest.mark.parametrize(("slug", "dtype"), EVERY_DTYPE)
def test_honest_kernels_pass_for_many_seeds(slug: str, dtype: Dtype) -> None:
    """Two hundred hidden sizes, each in every style, with every order of summation."""
    problem = PROBLEMS[slug]
    for seed in range(100, 300):
        case = generator(problem, dtype, seed).cases[-1]
        if problem.flops(case) <= MAX_FLOPS:
            for style in problem.styles(case, dtype):
                _assert_passes(problem, replace(case, draw=style), dtype, seed)


def _assert_passes(problem: Problem, case: Case, dtype: Dtype, seed: int) -> None:
    inputs = problem.inputs(case, dtype, np.random.default_rng(seed))
    expected = problem.reference(case, inputs)
    data = CaseData(
        number=1, case=case, inputs=inputs, expected=expected, tolerance=problem.tolerance(case, dtype)
    )
    for name, total in ORDERS.items():
        output = HONEST[problem.slug](case, inputs, total)
        assert not is_wrong(data, output, dtype), (case.values, case.draw, name, seed)


@pytest.mark.parametrize(("slug", "dtype"), EVERY_DTYPE)
def test_a_kernel_that_reads_only_some_of_its_input_fails_in_every_timed_style(
    slug: str, dtype: Dtype
) -> None:
    """The outputs show that a quarter of an input was replaced by values that resemble the rest."""
    problem = PROBLEMS[slug]
    for case in [case for case in problem.cases(Scale.CPU) if case.benchmark]:
        # Inputs that are all equal may be guessed; the other styles detect a kernel that does this.
        styles = [style for style in problem.timed_styles(case, dtype) if style != "equal"]
        for seed, style in enumerate(styles):
            styled = replace(case, draw=style)
            inputs = dict(problem.inputs(styled, dtype, np.random.default_rng(seed)))
            expected = problem.reference(styled, inputs)
            data = CaseData(
                number=1,
                case=styled,
                inputs=inputs,
                expected=expected,
                tolerance=problem.tolerance(styled, dtype),
            )
            name, tensor = max(inputs.items(), key=lambda item: item[1].size)
            unread = tensor.copy().reshape(-1)
            quarter = unread.size // 4
            if style in {"sparse", "outliers", "steps"}:
                # The few special elements may all be elsewhere; such a kernel fails for other seeds.
                values, counts = np.unique(unread, return_counts=True)
                unread[...] = values[counts.argmax()]
            else:
                unread[:quarter] = unread[quarter : 2 * quarter]
            guessed = problem.reference(styled, {**inputs, name: unread.reshape(tensor.shape)})
            (output,) = guessed.values()
            assert is_wrong(data, output, dtype), (case.name, style)


def _softmax_without_maximum(case: Case, tensors: Tensors) -> Array:
    weights = np.exp(tensors["input"])
    return weights / strided(weights, case.size("dim"))


def _one_pass_variance(_: Case, tensors: Tensors) -> Array:
    x = tensors["X"].reshape(len(tensors["X"]), -1)
    n = np.float32(x.shape[1])
    mean = strided(x, 1) / n
    variance = np.maximum(strided(x * x, 1) / n - mean * mean, 0)
    normal = (x - mean) / np.sqrt(variance + np.float32(1e-5))
    return (normal * tensors["gamma"].ravel() + tensors["beta"].ravel()).reshape(tensors["X"].shape)


def _truncated_scan(_: Case, tensors: Tensors) -> Array:
    """Add the sums of at most 64 preceding blocks of 1024."""
    x = tensors["input"]
    sums = x.cumsum(dtype="float64")
    reach = 64 * 1024
    return np.concatenate([sums[:reach], sums[reach:] - sums[:-reach]]) if x.size > reach else sums


def _reference(slug: str) -> Kernel:
    return lambda case, tensors: next(iter(PROBLEMS[slug].reference(case, tensors).values()))


def _only_published(slug: str) -> Kernel:
    """Correct for the published sizes only; leaves zeros for others."""
    published = [case.values for case in PROBLEMS[slug].cases(Scale.CPU)]

    def kernel(case: Case, tensors: Tensors) -> Array:
        output = _reference(slug)(case, tensors)
        return output if case.values in published else np.zeros_like(output)

    return kernel


def _wrong_at_timed_size(slug: str, wrong: Kernel) -> Kernel:
    """Use a shortcut for timed sizes, and compute correctly for others."""
    timed = [case.values for case in PROBLEMS[slug].cases(Scale.CPU) if case.benchmark]
    return lambda case, tensors: (wrong if case.values in timed else _reference(slug))(case, tensors)


def _first_stands_for_all(slug: str, name: str) -> Kernel:
    """If the first two elements are equal, assume that all are."""

    def kernel(case: Case, tensors: Tensors) -> Array:
        x = tensors[name].reshape(-1)
        if x.size > 1 and x[0] == x[1]:
            guessed = np.full(tensors[name].shape, x[0], x.dtype)
            return _reference(slug)(case, {**tensors, name: guessed})
        return _reference(slug)(case, tensors)

    return kernel


def _looks_at_a_few(slug: str, name: str) -> Kernel:
    """If a thousand elements all over the input are equal, assume that all are."""

    def kernel(case: Case, tensors: Tensors) -> Array:
        x = tensors[name].reshape(-1)
        seen = x[:: max(1, x.size // 1000)]
        if (seen == seen[0]).all():
            guessed = np.full(tensors[name].shape, x[0], x.dtype)
            return _reference(slug)(case, {**tensors, name: guessed})
        return _reference(slug)(case, tensors)

    return kernel


def _uniform_softmax(case: Case, tensors: Tensors) -> Array:
    return np.full(tensors["input"].shape, 1 / case.shape("shape")[case.size("dim")])


def _mean_times_length(case: Case, tensors: Tensors) -> Array:
    """Estimate each sum from a sixteenth of its terms."""
    x, dim = tensors["input"], case.size("dim")
    some = np.take(x, range(0, x.shape[dim], 16), axis=dim)
    return np.asarray(some.mean(axis=dim, keepdims=True, dtype="float64") * x.shape[dim])


def _zeros(slug: str) -> Kernel:
    return lambda case, tensors: np.zeros_like(_reference(slug)(case, tensors))


def _subset_statistics(_: Case, tensors: Tensors) -> Array:
    """Take mean and variance from every 64th value of a sample."""
    x = tensors["X"].reshape(len(tensors["X"]), -1)
    some = x[:, ::64].astype("float64")
    normal = (x - some.mean(axis=1, keepdims=True)) / np.sqrt(some.var(axis=1, keepdims=True) + 1e-5)
    return np.asarray(
        (normal * tensors["gamma"].ravel() + tensors["beta"].ravel()).reshape(tensors["X"].shape)
    )


def _sixteen_bit_sort(_: Case, tensors: Tensors) -> Array:
    """Sort by the upper 16 bits only, as a radix sort with two passes left out does."""
    a = tensors["a"]
    return np.asarray(a[np.argsort(a >> 16, kind="stable")])


def _half_precision_product(_: Case, tensors: Tensors) -> Array:
    a, b = (tensors[name].astype("float16").astype("float32") for name in ("input_a", "input_b"))
    return np.asarray(a @ b)


#: Wrong algorithms that pass some checks: name, problem, kernel.
SHORTCUTS: dict[str, tuple[str, Kernel]] = {
    "softmax without the maximum": ("softmax", _softmax_without_maximum),
    "softmax without the maximum where it is timed": (
        "softmax",
        _wrong_at_timed_size("softmax", _softmax_without_maximum),
    ),
    "softmax that is 1/n where it is timed": ("softmax", _wrong_at_timed_size("softmax", _uniform_softmax)),
    "softmax that takes one value for all": ("softmax", _first_stands_for_all("softmax", "input")),
    "variance in one pass": ("layer-norm", _one_pass_variance),
    "variance in one pass where it is timed": (
        "layer-norm",
        _wrong_at_timed_size("layer-norm", _one_pass_variance),
    ),
    "statistics of a subset": ("layer-norm", _wrong_at_timed_size("layer-norm", _subset_statistics)),
    "scan that looks back too little": ("cumsum", _truncated_scan),
    "scan that guesses from two values": ("cumsum", _first_stands_for_all("cumsum", "input")),
    "scan that guesses from a thousand values": ("cumsum", _looks_at_a_few("cumsum", "input")),
    "sums that guess from a thousand values": ("sum-dim", _looks_at_a_few("sum-dim", "input")),
    "sums of a sixteenth where they are timed": (
        "sum-dim",
        _wrong_at_timed_size("sum-dim", _mean_times_length),
    ),
    "matrix-vector product that guesses": ("matrix-vector", _looks_at_a_few("matrix-vector", "input_a")),
    "matrix product in half precision where it is timed": (
        "matrix-multiplication",
        _wrong_at_timed_size("matrix-multiplication", _half_precision_product),
    ),
    "sort by 16 bits where it is timed": (
        "array-sort",
        _wrong_at_timed_size("array-sort", _sixteen_bit_sort),
    ),
    "convolution that guesses from two pixels": ("conv-2d", _first_stands_for_all("conv-2d", "A")),
    **{f"only the published sizes of {slug}": (slug, _only_published(slug)) for slug in PROBLEMS},
    **{
        f"zeros for {slug} where it is timed": (slug, _wrong_at_timed_size(slug, _zeros(slug)))
        for slug in PROBLEMS
    },
}


@pytest.mark.parametrize("name", SHORTCUTS)
def test_a_shortcut_is_caught_for_every_seed(name: str) -> None:
    """The hidden cases, or the styles of timed samples, show it."""
    slug, kernel = SHORTCUTS[name]
    assert all(is_caught(PROBLEMS[slug], kernel, seed) for seed in range(3))


@pytest.mark.slow
@pytest.mark.parametrize("name", SHORTCUTS)
def test_a_shortcut_is_caught_for_many_seeds(name: str) -> None:
    """The same, for more seeds. A kernel that guesses from many elements may pass once by chance."""
    slug, kernel = SHORTCUTS[name]
    missed = [seed for seed in range(100, 140) if not is_caught(PROBLEMS[slug], kernel, seed)]
    assert len(missed) <= (1 if "guess" in name else 0), missed


@pytest.mark.parametrize("slug", PROBLEMS)
def test_an_honest_kernel_passes_a_whole_attempt(slug: str) -> None:
    """Honest models are accepted by the same function that catches the shortcuts."""
    total = sequential if slug == "cumsum" else strided
    kernel: Kernel = lambda case, tensors: HONEST[slug](case, tensors, total)  # noqa: E731 - as in the table
    if slug in {"matrix-multiplication", "conv-2d", "fp8-matmul", "attention"}:
        kernel = _reference(slug)  # their models need memory for every term
    assert not is_caught(PROBLEMS[slug], kernel, seed=11)
