"""Hidden cases and styles are drawn from the secret seed, and nothing else decides them."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import numpy as np
import pytest

from warmfront.judge.case_data import BasePair, CaseGenerator, CasePrefetcher
from warmfront.judge.mixed_inputs import mix
from warmfront.judge.output_check import is_correct
from warmfront.judge_request import JudgeRequest
from warmfront.problems import all_problems
from warmfront.problems.spec import Scale
from warmfront.verdicts import Endpoint

if TYPE_CHECKING:
    from collections.abc import Mapping

    from warmfront.problems.ranges import Range
    from warmfront.problems.spec import Case, Problem

PROBLEMS = {problem.slug: problem for problem in all_problems()}
every_problem = pytest.mark.parametrize("problem", PROBLEMS.values(), ids=list(PROBLEMS))
SEEDS = range(40)


def generator(problem: Problem, seed: int | None = 1, scale: Scale = Scale.CPU) -> CaseGenerator:
    """Return the generator of a check with this seed."""
    request = JudgeRequest(
        source="", problem=problem, dtype=problem.dtypes[0], endpoint=Endpoint.CHECKER, seed=seed
    )
    return CaseGenerator(request, scale)


def hidden_cases(problem: Problem, seed: int | None, scale: Scale = Scale.CPU) -> list[Case]:
    """Return the hidden cases of a check."""
    cases = generator(problem, seed, scale)
    return [case for number, case in enumerate(cases.cases, 1) if cases.is_hidden(number)]


@every_problem
@pytest.mark.parametrize("scale", Scale)
def test_a_check_has_a_hidden_case_next_to_each_timed_one_and_one_more(
    problem: Problem, scale: Scale
) -> None:
    """Sizes close to a timed case differ little from it; the last case needs no more work than the rest."""
    published = problem.cases(scale)
    timed = [case for case in published if case.benchmark]
    most = max(problem.flops(case) + problem.bytes_moved(case, problem.dtypes[0]) for case in published)
    for seed in SEEDS:
        *near, anywhere = hidden_cases(problem, seed, scale)
        assert len(near) == len(timed)
        for case, next_to in zip(near, timed, strict=True):
            assert case.values != next_to.values
            assert (
                0.5
                < problem.bytes_moved(case, problem.dtypes[0])
                / problem.bytes_moved(next_to, problem.dtypes[0])
                < 2
            )
        assert problem.flops(anywhere) + problem.bytes_moved(anywhere, problem.dtypes[0]) <= most


@every_problem
def test_hidden_sizes_cannot_be_predicted(problem: Problem) -> None:
    """Every seed gives other sizes and styles; the same seed gives the same ones; some sizes are awkward."""
    drawn = [hidden_cases(problem, seed) for seed in SEEDS]
    assert len({str([case.values for case in cases]) for cases in drawn}) == len(SEEDS)
    assert len({case.draw for cases in drawn for case in cases}) >= 3
    assert hidden_cases(problem, 7) == drawn[7]
    sizes = [problem.bytes_moved(cases[-1], problem.dtypes[0]) for cases in drawn]
    assert max(sizes) > 30 * min(sizes)
    assert hidden_cases(problem, None) != hidden_cases(problem, None)


@every_problem
def test_hidden_cases_come_last_and_their_names_reveal_nothing(problem: Problem) -> None:
    """The published cases keep their numbers; sizes and style are in the title, for a failure."""
    cases = generator(problem)
    published = list(problem.cases(Scale.CPU))
    assert list(cases.cases[: len(published)]) == published
    names = [case.name for case in cases.cases[len(published) :]]
    assert names == [f"hidden-{number}" for number in range(1, len(names) + 1)]
    assert not cases.generate(1).hidden
    hidden = cases.generate(len(cases.cases))
    assert hidden.hidden
    assert hidden.style in hidden.title
    for name, value in hidden.case.values.items():
        shown = "x".join(map(str, value)) if isinstance(value, tuple) else value
        assert f"{name} = {shown}" in hidden.title


@every_problem
def test_every_timed_sample_has_fresh_inputs_in_a_random_style(problem: Problem) -> None:
    """Samples of one timed case have its sizes, several styles, and no inputs in common."""
    cases = generator(problem)
    number = next(number for number, case in enumerate(cases.cases, 1) if case.benchmark)
    timed = cases.cases[number - 1]
    samples = [cases.generate(number, sample) for sample in range(1, 17)]
    assert all(sample.case.values == timed.values for sample in samples)
    styles = [sample.style for sample in samples]
    possible = problem.timed_styles(timed, problem.dtypes[0])
    assert len(set(styles)) >= 2
    assert set(styles) == set(possible), "every style occurs among the first samples"
    assert set(styles) <= set(problem.timed_styles(timed, problem.dtypes[0]))
    first, second = (next(iter(sample.inputs.values())) for sample in samples[:2])
    assert not np.array_equal(first, second)
    assert f"style {samples[0].style}" in samples[0].title


def test_a_problem_without_ranges_and_styles_is_judged_as_it_is() -> None:
    """It has no hidden cases, and its timed samples keep the style of the case."""

    class Plain(type(PROBLEMS["relu"])):  # type: ignore[misc]
        def ranges(self, _: Scale) -> Mapping[str, Range]:
            return {}

        def styles(self, *_: object) -> tuple[str, ...]:
            return ()

        timed_styles = styles

    cases = generator(Plain())
    assert list(cases.cases) == list(PROBLEMS["relu"].cases(Scale.CPU))
    assert cases.generate(len(cases.cases), sample=3).style == cases.cases[-1].draw


@pytest.mark.parametrize("seed", range(12))
def test_mixed_inputs_keep_the_tolerance_of_their_style(seed: int) -> None:
    """A product in float32 of inputs that were mixed from two sets is right by the tolerance of the style."""
    problem = PROBLEMS["matrix-multiplication"]
    cases = generator(problem, seed)
    number = next(number for number, case in enumerate(cases.cases, 1) if case.benchmark)
    for pair, base in enumerate(cases.generate_base_pairs(number)):
        mixed = mix(base.first, base.second, {"input_a": 0, "input_b": 1}, cases.mix_key(number, pair))
        data = cases.case_data(number, base.case, mixed)
        product = mixed["input_a"] @ mixed["input_b"]
        assert product.dtype == np.float32
        assert is_correct(product, data.expected["output_c"], data.tolerance), base.case.draw


class RecordingGenerator(CaseGenerator):
    """Records which thread generates base sets, and when all are there."""

    def __init__(self) -> None:
        problem = PROBLEMS["relu"]
        request = JudgeRequest(
            source="", problem=problem, dtype=problem.dtypes[0], endpoint=Endpoint.SUBMIT, seed=1
        )
        super().__init__(request, Scale.CPU)
        self.threads: list[threading.Thread] = []
        self.has_all = threading.Event()

    def generate_base_pairs(self, number: int) -> list[BasePair]:
        """Generate them."""
        pairs = super().generate_base_pairs(number)
        self.threads.append(threading.current_thread())
        if len(self.threads) == len(self.timed_numbers):
            self.has_all.set()
        return pairs


def test_base_sets_are_generated_ahead_and_are_the_same() -> None:
    """They are ready before they are requested, as soon as the cases are, and depend only on the seed."""
    generator = RecordingGenerator()
    prefetch = CasePrefetcher(generator, base_sets=True)
    assert generator.has_all.wait(60)
    assert len(list(prefetch)) == len(generator.cases)
    for number in generator.timed_numbers:
        taken = prefetch.take_base_pairs(number)
        expected = RecordingGenerator().generate_base_pairs(number)
        for ours, theirs in zip(taken, expected, strict=True):
            assert ours.case == theirs.case
            assert all(np.array_equal(ours.first[name], theirs.first[name]) for name in ours.first)
            assert all(np.array_equal(ours.second[name], theirs.second[name]) for name in ours.second)
    assert threading.current_thread() not in generator.threads


def test_base_sets_without_room_are_generated_when_they_are_taken() -> None:
    """While calls are timed, nothing is generated in the background."""
    generator = RecordingGenerator()
    prefetch = CasePrefetcher(generator, ahead_bytes=1, base_sets=True)
    assert next(iter(prefetch)).number == 1  # the others wait for room
    assert prefetch.take_base_pairs(generator.timed_numbers[0])
    assert generator.threads == [threading.current_thread()]


def test_a_check_without_timed_calls_generates_no_base_sets() -> None:
    """The CPU runtime and the checker do not need them."""
    generator = RecordingGenerator()
    prefetch = CasePrefetcher(generator)
    assert len(list(prefetch)) == len(generator.cases)
    assert prefetch.take_base_pairs(generator.timed_numbers[0])
    assert generator.threads == [threading.current_thread()]
