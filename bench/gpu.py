"""A warm submission of every problem at the scale of a GPU, on a modeled MI300X.

The seconds are the modeled time of the GPU and of copies, plus the CPU time of the judge divided by two
cores. The compiler is left out. The reported time is compared with the true one for several rates of copies.
Only the CPU time depends on the load of this machine, and grows a little with it.
"""

from __future__ import annotations

import argparse
import random
import time
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from unittest.mock import patch

from bench.modeled_gpu import ModeledGpu, ModeledSandbox, ModeledToolchain
from warmfront import gpus, problems, settings
from warmfront.events import Accepted, Event
from warmfront.judge import Judge
from warmfront.judge.case_data import CaseGenerator
from warmfront.judge.case_memory import DeviceMemory
from warmfront.judge_request import JudgeRequest
from warmfront.verdicts import Endpoint

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from warmfront.judge.buffer_layout import BufferLayout
    from warmfront.judge.case_data import CaseData
    from warmfront.problems.spec import Case, Problem, Tensors

COPY_GBPS = (2.0, 10.0, 25.0, 50.0)
#: The rate for which the seconds are printed.
USUAL_GBPS = 10.0
CORES = 2
GOAL_S, GOAL_RATIO = 10.0, (0.98, 1.02)
#: A good kernel takes this many times the roofline floor, plus a launch.
ABOVE_FLOOR, LAUNCH_S = 1.3, 6e-6
SORT_PASSES = 8


@dataclass(frozen=True, kw_only=True)
class Figures:
    """The figures of one problem at one rate of copies."""

    modeled_s: float  #: GPU and copies
    judge_cpu_s: float
    ratios: tuple[float, ...]  #: reported over true time, per timed case
    samples: tuple[int, ...]  #: pairs of windows, per timed case
    widths: tuple[float, ...]  #: half the interval over the time, per timed case

    @property
    def total_s(self) -> float:
        """The seconds of the submission."""
        return self.modeled_s + self.judge_cpu_s / CORES


def main() -> None:
    """Judge all problems, or the named ones, and print the figures beside the goals."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("problems", nargs="*", help="slugs; all problems by default")
    parser.add_argument(
        "--seed", type=int, default=1, help="seed of the inputs, and of the noise of the model"
    )
    options = parser.parse_args()
    print(f"Goals: each at most {GOAL_S:g} s; reported / true time {GOAL_RATIO[0]} to {GOAL_RATIO[1]}.\n")
    rates = "".join(f"{f'{rate:g} GB/s':>10}" for rate in COPY_GBPS)
    print(f"{'problem':22}{'total s':>9}{'GPU s':>8}{'CPU s':>8}{rates}{'samples':>9}{'interval':>10}")
    failures = 0
    for problem in problems.all_problems():
        if not options.problems or problem.slug in options.problems:
            failures += not print_problem(problem, options.seed)
    print(f"\nProblems that miss a goal: {failures}.")


def print_problem(problem: Problem, seed: int) -> bool:
    """Judge one problem at every rate; return whether it meets the goals."""
    by_rate = {rate: judge(problem, rate, seed) for rate in COPY_GBPS}
    usual = by_rate[USUAL_GBPS]
    worst = [max(figures.ratios, key=lambda ratio: abs(ratio - 1)) for figures in by_rate.values()]
    ratios = "".join(f"{ratio:10.3f}" for ratio in worst)
    print(
        f"{problem.slug:22}{usual.total_s:9.1f}{usual.modeled_s:8.2f}{usual.judge_cpu_s:8.2f}{ratios}"
        f"{min(usual.samples):9}{f'±{max(usual.widths):.1%}':>10}",
        flush=True,
    )
    is_right = all(GOAL_RATIO[0] <= ratio <= GOAL_RATIO[1] for ratio in worst)
    return is_right and usual.total_s <= GOAL_S


def true_time_s(problem: Problem, case: Case) -> float:
    """Return how long the modeled kernel takes."""
    dtype = problem.dtypes[0]
    floor_ms = problem.floor_ms(case, dtype, gpus.MI300X)
    passes = SORT_PASSES if problem.slug == "array-sort" else 1
    return passes * ABOVE_FLOOR * floor_ms / 1e3 + LAUNCH_S


def judge(problem: Problem, copy_gbps: float, seed: int) -> Figures:
    """Judge a correct kernel on a GPU with this rate of copies."""
    gpu = ModeledGpu(
        copy_gbps=copy_gbps,
        call_s=lambda case: true_time_s(problem, case),
        flops=problem.flops,
        rng=random.Random(seed),  # noqa: S311 - noise
    )
    request = JudgeRequest(
        source="// none", problem=problem, dtype=problem.dtypes[0], endpoint=Endpoint.SUBMIT, seed=seed
    )
    started_s = time.process_time()
    with recorded(gpu):
        *_, verdict = Judge(
            ModeledToolchain(gpu), ModeledSandbox(gpu), replace(settings.load(), bug_finder=False)
        ).judge(request)
    cpu_s = time.process_time() - started_s - gpu.not_judge_s
    return figures_of(problem, verdict, modeled_s=gpu.now_s, judge_cpu_s=cpu_s)


def figures_of(problem: Problem, verdict: Event, *, modeled_s: float, judge_cpu_s: float) -> Figures:
    """Compare the reported times with the true ones."""
    if not isinstance(verdict, Accepted):
        raise SystemExit(f"{problem.slug}: {verdict.fields()}")
    by_name = {case.name: case for case in problem.cases(ModeledToolchain.scale)}
    timings = verdict.benchmark_results
    return Figures(
        modeled_s=modeled_s,
        judge_cpu_s=judge_cpu_s,
        ratios=tuple(
            timing.runtime_ms / 1e3 / true_time_s(problem, by_name[timing.name]) for timing in timings
        ),
        samples=tuple(len(timing.runs) for timing in timings),
        widths=tuple((timing.ci[1] - timing.ci[0]) / 2 / timing.runtime_ms for timing in timings),
    )


@contextmanager
def recorded(gpu: ModeledGpu) -> Iterator[None]:
    """Pass the data that the judge generates and uploads to the modeled GPU, so that its outputs are right.

    The judge also sees an idle machine, because the modeled one is idle.
    """
    by_inputs: dict[int, CaseData] = {}
    generate, upload = CaseGenerator.case_data, DeviceMemory.fill

    def case_data(
        generator: CaseGenerator, number: int, case: Case, inputs: Tensors, *, sample: int = 0
    ) -> CaseData:
        gpu.case = case
        data = generate(generator, number, case, inputs, sample=sample)
        by_inputs[id(data.inputs)] = data
        return data

    def fill(memory: DeviceMemory, layout: BufferLayout, sets: Sequence[Tensors]) -> None:
        gpu.filled = layout, by_inputs.pop(id(sets[0]))
        upload(memory, layout, sets)

    with (
        patch.object(CaseGenerator, "case_data", case_data),
        patch.object(DeviceMemory, "fill", fill),
        patch("warmfront.judge.guest.machine_load", return_value=0.0),  # that of the modeled machine
    ):
        yield


if __name__ == "__main__":
    main()
