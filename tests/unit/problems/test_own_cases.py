"""An author's own cases are validated against the problem before anything runs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from warmfront.errors import BadRequest, InvalidCase
from warmfront.judge.case_data import CaseGenerator
from warmfront.judge_request import JudgeRequest
from warmfront.problems import all_problems, get
from warmfront.problems.own_cases import MAX_OWN_CASES, parse_own_cases, to_json, validate_own_cases
from warmfront.problems.spec import Case, Dtype, Problem, Scale
from warmfront.verdicts import Endpoint

LEAKY_RELU = get("leaky-relu")
SUM_DIM = get("sum-dim")


def validate(problem: Problem, **values: Any) -> Case:
    """Return one case of these values, at the scale of the CPU."""
    [case] = validate_own_cases([{"values": values}], problem, problem.dtypes[0], Scale.CPU)
    return case


@pytest.mark.parametrize("problem", all_problems(), ids=lambda problem: problem.slug)
@pytest.mark.parametrize("scale", Scale)
def test_every_published_case_can_be_repeated_as_an_own_one(problem: Problem, scale: Scale) -> None:
    """Its sizes and style are valid, and survive the way to the VM."""
    for case in problem.cases(scale):
        for dtype in problem.dtypes:
            if case.draw not in problem.styles(case, dtype):
                continue
            declared = {"values": dict(case.values), "style": case.draw}
            [own] = validate_own_cases([declared], problem, dtype, scale)
            assert (own.values, own.draw) == (case.values, case.draw)
            assert parse_own_cases(to_json([own]), problem, dtype, scale) == (own,)


def test_the_number_of_dimensions_follows_from_the_shape() -> None:
    """It may be left out, and must match if it is given."""
    case = validate(SUM_DIM, shape=[2, 3, 4], dim=1)
    assert case.values == {"shape": (2, 3, 4), "dim": 1, "ndim": 3}
    with pytest.raises(InvalidCase, match=r"own_cases\[0\].values.ndim is 2; allowed: 3"):
        validate(SUM_DIM, shape=[2, 3, 4], dim=1, ndim=2)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"n": 0, "m": 3, "alpha": 0.1}, r"values.n is 0; allowed: a whole number from 1 to 1100"),
        ({"n": -5, "m": 3, "alpha": 0.1}, r"values.n is -5; allowed"),
        ({"n": 1.5, "m": 3, "alpha": 0.1}, r"values.n is 1.5; allowed"),
        ({"n": True, "m": 3, "alpha": 0.1}, r"values.n is True; allowed"),
        ({"n": 10**30, "m": 3, "alpha": 0.1}, r"values.n is 10+; allowed"),
        ({"n": "3", "m": 3, "alpha": 0.1}, r"values.n is '3'; allowed"),
        ({"n": [3], "m": 3, "alpha": 0.1}, r"values.n is \[3\]; allowed"),
        ({"n": 3, "m": 3, "alpha": 3.0}, r"values.alpha is 3.0; allowed: a number from 0 to 2"),
        ({"n": 3, "m": 3, "alpha": float("nan")}, r"values.alpha is nan; allowed"),
        ({"n": 3, "alpha": 0.1}, r"values.m is missing"),
        ({"n": 3, "m": 3, "alpha": 0.1, "k": 1}, r"has 'k'; leaky-relu has alpha, n, m"),
    ],
)
def test_an_invalid_value_is_named(values: dict[str, Any], message: str) -> None:
    """The error has the field, the value and what is allowed."""
    with pytest.raises(InvalidCase, match=message):
        validate(LEAKY_RELU, **values)


@pytest.mark.parametrize(
    "shape", [[], [0], [2, -1], [1, 1, 1, 1, 1, 1, 1, 1, 1], [10**6, 10**6], "2x3", None]
)
def test_an_invalid_shape_is_named(shape: object) -> None:
    """A shape has a few dimensions, without zeros, and a bounded number of elements."""
    with pytest.raises(InvalidCase, match=r"own_cases\[0\].values.shape"):
        validate(SUM_DIM, shape=shape, dim=0)


def test_sizes_that_need_too_much_memory_are_rejected() -> None:
    """Each size is in its range, but together they need more than four times the largest published case."""
    problem = get("layer-norm")
    sizes = {"B": 64, "F": 32, "D1": 64, "D2": 64}
    with pytest.raises(InvalidCase, match=r"needs [\d,]+ bytes of tensors; the limit is [\d,]+") as error:
        validate(problem, **sizes)
    assert error.value.field == "own_cases[0].values"


def test_an_unknown_style_is_named() -> None:
    """The error lists the styles of the problem."""
    declared = {"values": {"n": 3, "m": 3, "alpha": 0.1}, "style": "chaos"}
    with pytest.raises(InvalidCase, match=r"own_cases\[0\].style is 'chaos'; allowed: normal"):
        validate_own_cases([declared], LEAKY_RELU, Dtype.FLOAT32, Scale.CPU)


def test_the_number_of_cases_is_limited_and_none_is_repeated() -> None:
    """Nine cases are too many, and two equal ones have the same name in the results."""
    cases = [{"values": {"n": n, "m": 3, "alpha": 0.1}} for n in range(1, MAX_OWN_CASES + 2)]
    with pytest.raises(InvalidCase, match="own_cases has 9 cases; the limit is 8"):
        validate_own_cases(cases, LEAKY_RELU, Dtype.FLOAT32, Scale.CPU)
    with pytest.raises(InvalidCase, match=r"own_cases\[1\] is the same as an earlier one"):
        validate_own_cases([cases[0], cases[0]], LEAKY_RELU, Dtype.FLOAT32, Scale.CPU)


@pytest.mark.parametrize("text", ["{", "{}", "[1]", '[{"values": 3}]', '[{"values": {}}]'])
def test_json_that_is_not_a_list_of_cases_is_rejected(text: str) -> None:
    """A listener validates what it receives."""
    with pytest.raises(InvalidCase, match="own_cases"):
        parse_own_cases(text, LEAKY_RELU, Dtype.FLOAT32, Scale.CPU)


@pytest.mark.parametrize("endpoint", [Endpoint.BENCHMARK, Endpoint.SUBMIT])
def test_own_cases_never_count_for_a_timed_verdict(endpoint: Endpoint) -> None:
    """The judge has no request that times them or accepts them."""
    case = validate(LEAKY_RELU, n=3, m=3, alpha=0.1)
    with pytest.raises(BadRequest, match="checker"):
        JudgeRequest(source="", problem=LEAKY_RELU, dtype=Dtype.FLOAT32, endpoint=endpoint, own_cases=(case,))


def test_own_cases_are_checked_first_and_marked() -> None:
    """The published and the hidden cases follow, with the same data as without own cases."""
    case = validate(LEAKY_RELU, n=3, m=5, alpha=0.1)
    plain = JudgeRequest(
        source="", problem=LEAKY_RELU, dtype=Dtype.FLOAT32, endpoint=Endpoint.CHECKER, seed=1
    )
    with_own = JudgeRequest(
        source="",
        problem=LEAKY_RELU,
        dtype=Dtype.FLOAT32,
        endpoint=Endpoint.CHECKER,
        seed=1,
        own_cases=(case,),
    )
    others, generator = CaseGenerator(plain, Scale.CPU), CaseGenerator(with_own, Scale.CPU)
    assert generator.cases == [case, *others.cases]
    first, second = generator.generate(1), generator.generate(2)
    assert (first.own, first.hidden, second.own, second.hidden) == (True, False, False, False)
    assert first.inputs["input"].shape == (5, 3)
    assert np.isfinite(first.inputs["input"]).all()
    assert [generator.is_hidden(n + 1) for n in range(1, len(others.cases) + 1)] == [
        others.is_hidden(n) for n in range(1, len(others.cases) + 1)
    ]
