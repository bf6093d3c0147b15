"""References compared with definitions in plain Python, and tolerances with float32 results of NumPy."""

from __future__ import annotations

from itertools import product
from math import exp, fsum, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from warmfront.problems import all_problems
from warmfront.problems.spec import Case, Dtype, Problem, Scale

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Array = np.ndarray[Any, Any]
    Tensors = Mapping[str, Array]
    Solve = Callable[[Case, Tensors], Array]

PROBLEMS = {problem.slug: problem for problem in all_problems()}

#: Definitions in plain Python are too slow for more steps.
SLOW_STEPS = 100_000


def slices(case: Case, x: Array) -> list[Array]:
    """Return the slices along the dimension of the case."""
    moved = np.moveaxis(x, case.size("dim"), -1)
    return list(moved.reshape(-1, moved.shape[-1]))


def unslice(case: Case, rows: list[list[float]]) -> Array:
    """Invert `slices`, for rows of any equal length."""
    extents = list(case.shape("shape"))
    dim = case.size("dim")
    rest = [extent for axis, extent in enumerate(extents) if axis != dim]
    return np.moveaxis(np.array(rows).reshape([*rest, len(rows[0])]), -1, dim)


def softmax_of(row: Array) -> list[float]:
    """Return the softmax of one row."""
    weights = [exp(float(value) - float(max(row))) for value in row]
    return [weight / fsum(weights) for weight in weights]


def dot(a: Array, b: Array) -> float:
    """Return a dot product with a single rounding."""
    return fsum(float(x) * float(y) for x, y in zip(a, b, strict=True))


def layer_norm_of(sample: Array, gamma: Array, beta: Array) -> list[float]:
    """Normalize one sample."""
    values = [float(value) for value in sample.ravel()]
    mean = fsum(values) / len(values)
    deviation = sqrt(fsum((value - mean) ** 2 for value in values) / len(values) + 1e-5)
    return [
        (value - mean) / deviation * float(g) + float(b)
        for value, g, b in zip(values, gamma.ravel(), beta.ravel(), strict=True)
    ]


def correlate(image: Array, kernel: Array, i: int, j: int) -> float:
    """Compute one output pixel."""
    (height, width), (rows, columns) = image.shape, kernel.shape
    terms = []
    for p, q in product(range(rows), range(columns)):
        y, x = i + p - rows // 2, j + q - columns // 2
        if 0 <= y < height and 0 <= x < width:
            terms.append(float(image[y, x]) * float(kernel[p, q]))
    return fsum(terms)


def decoded(code: int) -> float:
    """Return the value of a code of e4m3 fnuz."""
    exponent, mantissa = code >> 3 & 15, code & 7
    value = (8 + mantissa) * 2.0 ** (exponent - 11) if exponent else mantissa * 2.0**-10
    return -value if code & 0x80 else value


def scaled_products(tensors: Tensors, i: int, j: int) -> float:
    """Compute one output of a product of codes with scales."""
    rows = (tensors["a"].view("uint8")[i], tensors["b"].view("uint8")[j])
    scales = tensors["a_scale"][i], tensors["b_scale"][j // 128]
    return fsum(
        decoded(int(x)) * decoded(int(y)) * float(scales[0][k // 128]) * float(scales[1][k // 128])
        for k, (x, y) in enumerate(zip(*rows, strict=True))
    )


def attended(q: Array, k: Array, v: Array) -> list[float]:
    """Compute the output of one query."""
    scores = [dot(q, key) / sqrt(len(q)) for key in k]
    weights = [exp(score - max(scores)) for score in scores]
    return [
        fsum(w * float(x) for w, x in zip(weights, column, strict=True)) / fsum(weights) for column in v.T
    ]


DEFINITIONS: dict[str, Solve] = {
    "vector-addition": lambda _, t: np.array(
        [float(x) + float(y) for x, y in zip(t["d_input1"], t["d_input2"], strict=True)]
    ),
    "relu": lambda _, t: np.array([[max(float(x), 0.0) for x in row] for row in t["input"]]),
    "leaky-relu": lambda c, t: np.array(
        [[float(x) if x > 0 else c.c_float("alpha") * float(x) for x in row] for row in t["input"]]
    ),
    "matrix-multiplication": lambda _, t: np.array(
        [[dot(row, column) for column in t["input_b"].T] for row in t["input_a"]]
    ),
    "matrix-vector": lambda _, t: np.array([dot(row, t["input_b"]) for row in t["input_a"]]),
    "softmax": lambda c, t: unslice(c, [softmax_of(row) for row in slices(c, t["input"])]),
    "sum-dim": lambda c, t: unslice(c, [[fsum(map(float, row))] for row in slices(c, t["input"])]),
    "cumsum": lambda c, t: np.array([fsum(map(float, t["input"][: i + 1])) for i in range(c.size("N"))]),
    "histogram": lambda c, t: np.array(
        [sum(1 for pixel in t["image"].ravel() if pixel == b) for b in range(c.size("num_bins"))]
    ),
    "layer-norm": lambda _, t: np.array(
        [layer_norm_of(sample, t["gamma"], t["beta"]) for sample in t["X"]]
    ).reshape(t["X"].shape),
    "conv-2d": lambda _, t: np.array(
        [[correlate(t["A"], t["B"], i, j) for j in range(t["A"].shape[1])] for i in range(t["A"].shape[0])]
    ),
    "array-sort": lambda _, t: np.array(sorted(int(value) for value in t["a"])),
    "fp8-matmul": lambda _, t: np.array(
        [[scaled_products(t, i, j) for j in range(len(t["b"]))] for i in range(len(t["a"]))]
    ),
    "attention": lambda _, t: np.array(
        [[attended(row, k, v) for row in q] for q, k, v in zip(t["q"], t["k"], t["v"], strict=True)]
    ),
}


def steps(problem: Problem, case: Case) -> int:
    """Estimate the steps that the definition takes."""
    if problem.slug == "histogram":
        return case.size("num_bins") * case.size("height") * case.size("width")
    if problem.slug == "cumsum":
        return case.size("N") ** 2
    return problem.flops(case)


def last_sum(terms: Array, axis: int) -> Array:
    """Sum along an axis sequentially in float32, from the end."""
    sums: Array = np.flip(terms, axis).cumsum(axis=axis, dtype=np.float32)
    return sums.take([-1], axis=axis)


def softmax_in_float32(case: Case, tensors: Tensors) -> Array:
    """Compute softmax in three float32 passes."""
    x, dim = tensors["input"], case.size("dim")
    weights: Array = np.exp(x - x.max(axis=dim, keepdims=True))
    return weights / last_sum(weights, dim)


def layer_norm_in_float32(_: Case, tensors: Tensors) -> Array:
    """Compute layer normalization in two float32 passes."""
    x = tensors["X"].reshape(len(tensors["X"]), -1)
    n = np.float32(x.shape[1])
    centered = x - last_sum(x, 1) / n
    normal = centered / np.sqrt(last_sum(centered**2, 1) / n + np.float32(1e-5))
    return (normal * tensors["gamma"].ravel() + tensors["beta"].ravel()).reshape(tensors["X"].shape)


def matmul_in_float32(_: Case, tensors: Tensors) -> Array:
    """Add up outer products in float32, from the end."""
    a, b = tensors["input_a"].astype("float32"), tensors["input_b"].astype("float32")
    total = np.zeros((a.shape[0], b.shape[1]), "float32")
    for index in reversed(range(a.shape[1])):
        total += np.outer(a[:, index], b[index])
    return total


def conv_in_float32(_: Case, tensors: Tensors) -> Array:
    """Add up one kernel element after the other in float32, from the end."""
    (height, width), (rows, columns) = tensors["A"].shape, tensors["B"].shape
    padded = np.pad(tensors["A"], ((rows // 2, rows // 2), (columns // 2, columns // 2)))
    total = np.zeros((height, width), "float32")
    for p, q in reversed(list(product(range(rows), range(columns)))):
        total += tensors["B"][p, q] * padded[p : p + height, q : q + width]
    return total


def histogram_in_float32(case: Case, tensors: Tensors) -> Array:
    """Count in float32."""
    counts = np.zeros(case.size("num_bins"), "float32")
    np.add.at(counts, tensors["image"].astype(int).ravel(), np.float32(1))
    return counts


def fp8_matmul_in_float32(_: Case, tensors: Tensors) -> Array:
    """Add up scaled blocks in float32, from the end."""
    table = np.array([decoded(code) for code in range(256)], "float32")
    a, b = (table[tensors[name].view("uint8")] for name in ("a", "b"))
    total = np.zeros((len(a), len(b)), "float32")
    for block in reversed(range(tensors["a_scale"].shape[1])):
        part = np.zeros_like(total)
        for k in reversed(range(128 * block, min(a.shape[1], 128 * block + 128))):
            part += np.outer(a[:, k], b[:, k])
        columns = tensors["b_scale"][:, block].repeat(128)[: len(b)]
        total += part * tensors["a_scale"][:, block, None] * columns
    return total


def attention_in_float32(_: Case, tensors: Tensors) -> Array:
    """Compute the scores and sums in float32, with weights rounded to float16."""
    q, k, v = (tensors[name].astype("float32") for name in ("q", "k", "v"))
    scores = q @ k.transpose(0, 2, 1) / np.float32(sqrt(q.shape[2]))
    weights = np.exp(scores - scores.max(axis=2, keepdims=True))
    rounded = weights.astype("float16").astype("float32")
    return np.asarray(rounded @ v / last_sum(weights, 2))


#: Correct solutions in a kernel's precision, with an unfavorable order of summation.
IN_FLOAT32: dict[str, Solve] = {
    "vector-addition": lambda _, t: t["d_input1"] + t["d_input2"],
    "relu": lambda _, t: np.maximum(t["input"], 0),
    "leaky-relu": lambda c, t: np.where(
        t["input"] > 0, t["input"], t["input"] * t["input"].dtype.type(c.values["alpha"])
    ),
    "matrix-multiplication": matmul_in_float32,
    "matrix-vector": lambda _, t: last_sum(t["input_a"] * t["input_b"], 1)[:, 0],
    "softmax": softmax_in_float32,
    "sum-dim": lambda c, t: last_sum(t["input"], c.size("dim")),
    "cumsum": lambda _, t: t["input"].cumsum(dtype=np.float32),
    "histogram": histogram_in_float32,
    "layer-norm": layer_norm_in_float32,
    "conv-2d": conv_in_float32,
    "array-sort": lambda _, t: np.sort(t["a"][::-1], kind="stable"),
    "fp8-matmul": fp8_matmul_in_float32,
    "attention": attention_in_float32,
}


def draw(problem: Problem, case: Case, dtype: Dtype, seed: int) -> tuple[Tensors, Array]:
    """Return inputs and the only output of the reference."""
    inputs = problem.inputs(case, dtype, np.random.default_rng(seed))
    (expected,) = problem.reference(case, inputs).values()
    return inputs, expected


def rejected_share(problem: Problem, case: Case, dtype: Dtype, output: Array, expected: Array) -> float:
    """Return the share of elements that the tolerance rejects."""
    tolerance = problem.tolerance(case, dtype)
    error = np.abs(output.astype(dtype.value).astype("float64") - expected)
    return float(np.mean(~(error <= tolerance.atol + tolerance.rtol * np.abs(expected))))


@pytest.mark.parametrize("slug", PROBLEMS)
def test_references_agree_with_definitions(slug: str) -> None:
    """The reference and the definition in plain Python agree on every small case."""
    problem = PROBLEMS[slug]
    small = [case for case in problem.cases(Scale.CPU) if steps(problem, case) <= SLOW_STEPS]
    assert len(small) >= 3
    for case in small:
        inputs, expected = draw(problem, case, problem.dtypes[0], seed=3)
        np.testing.assert_allclose(expected, DEFINITIONS[slug](case, inputs), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("slug", "dtype"), [(slug, dtype) for slug, problem in PROBLEMS.items() for dtype in problem.dtypes]
)
def test_a_correct_solution_with_another_order_is_accepted(slug: str, dtype: Dtype, seed: int) -> None:
    """Sequential summation in the kernel's precision stays within the tolerance."""
    problem = PROBLEMS[slug]
    for case in problem.cases(Scale.CPU):
        inputs, expected = draw(problem, case, dtype, seed)
        assert rejected_share(problem, case, dtype, IN_FLOAT32[slug](case, inputs), expected) == 0, case.name


def test_a_variance_from_the_mean_of_squares_is_rejected() -> None:
    """E[x^2] - E[x]^2 has no correct digits where the mean is large."""
    problem = PROBLEMS["layer-norm"]
    for case in [case for case in problem.cases(Scale.CPU) if case.draw == "far"]:
        inputs, expected = draw(problem, case, Dtype.FLOAT32, seed=5)
        x = inputs["X"]
        mean = x.mean(axis=(1, 2, 3), keepdims=True)
        variance = np.abs((x**2).mean(axis=(1, 2, 3), keepdims=True) - mean**2)
        output = (x - mean) / np.sqrt(variance + np.float32(1e-5)) * inputs["gamma"] + inputs["beta"]
        assert rejected_share(problem, case, Dtype.FLOAT32, output, expected) > 0.1


def test_a_softmax_without_the_maximum_is_rejected() -> None:
    """For large values, e^x overflows or underflows."""
    problem = PROBLEMS["softmax"]
    for case in [case for case in problem.cases(Scale.CPU) if case.draw in {"far", "wide"}]:
        inputs, expected = draw(problem, case, Dtype.FLOAT32, seed=5)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            weights = np.exp(inputs["input"])
            output = weights / weights.sum(axis=case.size("dim"), keepdims=True)
        assert rejected_share(problem, case, Dtype.FLOAT32, output, expected) > 0.4


def test_sums_in_half_precision_are_rejected() -> None:
    """A float16 matrix product with float16 sums is rejected."""
    problem = PROBLEMS["matrix-multiplication"]
    case = next(case for case in problem.cases(Scale.CPU) if case.benchmark)
    inputs, expected = draw(problem, case, Dtype.FLOAT16, seed=5)
    output = np.zeros(expected.shape, "float16")
    for index in range(case.size("k")):
        output += np.outer(inputs["input_a"][:, index], inputs["input_b"][index])
    assert rejected_share(problem, case, Dtype.FLOAT16, output, expected) > 0.1


def test_products_of_rounded_inputs_are_rejected() -> None:
    """A float32 product of inputs rounded to float16, as matrix units may do it, is rejected."""
    problem = PROBLEMS["matrix-multiplication"]
    case = next(case for case in problem.cases(Scale.CPU) if case.benchmark)
    inputs, expected = draw(problem, case, Dtype.FLOAT32, seed=5)
    a, b = (inputs[name].astype("float16").astype("float32") for name in ("input_a", "input_b"))
    assert rejected_share(problem, case, Dtype.FLOAT32, a @ b, expected) > 0.9


def test_the_reference_of_large_products_is_precise_enough() -> None:
    """The error of the sliced reference is much smaller than the tolerance."""
    problem = PROBLEMS["matrix-multiplication"]
    case = Case(name="tall and long", values={"m": 512, "n": 256, "k": 66_000})
    inputs, expected = draw(problem, case, Dtype.FLOAT32, seed=5)
    exact = inputs["input_a"].astype("float64") @ inputs["input_b"].astype("float64")
    error = np.abs(expected - exact).max()
    assert 0 < error < problem.tolerance(case, Dtype.FLOAT32).atol / 20
