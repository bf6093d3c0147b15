"""Judge real kernels on the stub GPU: the times of honest ones, and the verdicts of attacks on the time.

Usage: python -m bench.stub [--all] [NAME...]

Everything except the GPU is real: compiler, boxes, guest, harness and judge. Time is virtual, and all kernels
take equally long, so the true time of an honest example with one launch is known, and no figure depends on
this machine. An attack is compared with its honest twin (see `bench.forgery`). The exit code is 1 if a time
misses the goal, or an attack is ACCEPTED below 0.9 of its true time.
"""

from __future__ import annotations

import argparse
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.forgery import GAINED
from bench.redteam import judge_source
from tests.support.attacks import Attack, all_attacks
from warmfront import problems, settings
from warmfront.hip.stub.stub_spec import StubSpec
from warmfront.hip.stub.stub_toolchain import StubToolchain
from warmfront.judge import Judge
from warmfront.judge_request import JudgeRequest
from warmfront.problems.spec import Dtype
from warmfront.sandbox import open_sandbox
from warmfront.verdicts import Endpoint

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warmfront.sandbox.base import Sandbox

EXAMPLES = Path(__file__).parent.parent / "examples"
#: Problems and examples whose `solution` launches one kernel and does nothing else.
HONEST = {
    "relu": "relu.hip",
    "vector-addition": "vector_addition.hip",
    "matrix-multiplication": "matmul.hip",
    "conv-2d": "conv_2d.hip",
}
COPY_GBPS = (2.0, 10.0, 25.0, 50.0)
GOAL_RATIO = (0.98, 1.02)
#: Attacks that leave out work, which `bench.forgery` does not time: they must be refused.
REFUSED = ("caches_by_pointer", "replays_output", "skips_every_other_call")
#: The duration of every kernel, and the time from its launch to its start.
KERNEL_US, LAUNCH_US = 500.0, 6.0
TRUE_MS = (KERNEL_US + LAUNCH_US) / 1e3


def main() -> None:
    """Judge honest kernels and attacks, and print ratios and verdicts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", action="store_true", help="include attacks that resemble another one")
    parser.add_argument("names", nargs="*", help="problems and attacks; all by default")
    options = parser.parse_args()
    attacks = [
        attack
        for attack in all_attacks()
        if attack.name in REFUSED or (attack.forges_time and (options.all or not attack.is_slow))
    ]
    honest = [slug for slug in HONEST if not options.names or slug in options.names]
    attacks = [attack for attack in attacks if not options.names or attack.name in options.names]
    with closing(open_sandbox()) as sandbox:
        missed = _print_honest(sandbox, honest) if honest else 0
        gained = _print_attacks(sandbox, attacks) if attacks else 0
    sys.exit(1 if missed or gained else 0)


def open_judge(sandbox: Sandbox, copy_gbps: float) -> Judge:
    """Return a judge with a stub GPU whose copies have this rate."""
    # A busy machine executes kernels slowly, which is not a reason to refuse one.
    environment = settings.load({"WARMFRONT_BUG_FINDER": "0", "WARMFRONT_CASE_TIMEOUT": "600"}, env_file=None)
    spec = f"copy_gbps={copy_gbps:g},kernel_us={KERNEL_US:g},launch_us={LAUNCH_US:g},bytes_per_thread=0"
    return Judge(StubToolchain(environment.cache_dir, StubSpec.parse(spec)), sandbox, environment)


def honest_ratios(judge: Judge, slug: str) -> list[float]:
    """Return the ratio of the reported to the true time of an example, per timed case."""
    request = JudgeRequest(
        source=(EXAMPLES / HONEST[slug]).read_text(),
        problem=problems.get(slug),
        dtype=Dtype.FLOAT32,
        endpoint=Endpoint.SUBMIT,
    )
    *_, verdict = [event.fields() for event in judge.judge(request)]
    if verdict["status"] != "ACCEPTED":
        raise SystemExit(f"{slug}: {verdict}")
    return [timing["runtime_ms"] / TRUE_MS for timing in verdict["benchmark_results"]]


def _print_honest(sandbox: Sandbox, slugs: Sequence[str]) -> int:
    """Print the ratios of honest kernels; return how many problems miss the goal."""
    print(f"Honest kernels: reported time relative to true time (goal: {GOAL_RATIO[0]} to {GOAL_RATIO[1]})\n")
    print(f"  {'problem':24}" + "".join(f"{f'{rate:g} GB/s':>10}" for rate in COPY_GBPS))
    missed = 0
    for slug in slugs:
        worst = [
            max(honest_ratios(open_judge(sandbox, rate), slug), key=lambda ratio: abs(ratio - 1))
            for rate in COPY_GBPS
        ]
        print(f"  {slug:24}" + "".join(f"{ratio:10.3f}" for ratio in worst), flush=True)
        missed += not all(GOAL_RATIO[0] <= ratio <= GOAL_RATIO[1] for ratio in worst)
    print(f"\n{len(slugs) - missed} of {len(slugs)} meet the goal\n")
    return missed


def _print_attacks(sandbox: Sandbox, attacks: Sequence[Attack]) -> int:
    """Print the results of attacks; return how many gain."""
    print(f"Attacks on the time: verdict, and time relative to the true time (goal: {GAINED} or more)\n")
    gained = 0
    for attack in attacks:
        verdict, ratio = _judge_attack(sandbox, attack)
        has_gained = ratio is not None and (ratio < GAINED or attack.name in REFUSED)
        claim = "no time" if ratio is None else f"{ratio:.2f}"
        print(f"  {attack.name:28} {verdict:20} {claim}{'  GAINED' if has_gained else ''}", flush=True)
        gained += has_gained
    print(f"\n{len(attacks) - gained} of {len(attacks)} gain nothing")
    return gained


def _judge_attack(sandbox: Sandbox, attack: Attack) -> tuple[str, float | None]:
    judge, attack = open_judge(sandbox, 10.0), replace(attack, endpoint=Endpoint.SUBMIT)
    event = judge_source(judge, attack, attack.source)[-1]
    if "avg_runtime_ms" not in event:
        return event["status"], None
    if not attack.forges_time:
        return event["status"], event["avg_runtime_ms"] / TRUE_MS
    twin: dict[str, Any] = judge_source(judge, attack, attack.honest_twin)[-1]
    if "avg_runtime_ms" not in twin:
        raise SystemExit(f"the twin of {attack.name} got {twin['status']}: {twin.get('message')}")
    return event["status"], event["avg_runtime_ms"] / twin["avg_runtime_ms"]


if __name__ == "__main__":
    main()
