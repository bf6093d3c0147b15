"""Compare the time that each attack on the time gets with its true time.

Usage: python -m bench.forgery [--record] [--rounds N] [NAME...]

The true time is that of the attack's honest twin, which does the same work (`// time: forged` in
tests/corpus/attacks). Attack and twin are judged alternately. The time that HIP events measure in the guest,
which used to be the time of the verdict, is printed beside it. The exit code is 1 if an attack is ACCEPTED
below 0.9 of its true time.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bench.redteam import judge_source, record
from bench.timing import BAR_WIDTH
from tests.support.attacks import Attack, all_attacks
from warmfront import settings
from warmfront.hip.cpu.cpu_toolchain import CpuToolchain
from warmfront.judge import Judge
from warmfront.sandbox import open_sandbox

if TYPE_CHECKING:
    from collections.abc import Sequence

#: An attack gains if it is accepted below this share of its true time; times vary by a few percent.
GAINED = 0.9

ROUNDS = 3
#: How often a round is repeated, on average, because the time of the twin was noisy.
REPEATS = 2


@dataclass(frozen=True, kw_only=True)
class Forgery:
    """The result of an attack on the time."""

    name: str
    verdict: str
    claimed_ms: float | None  #: by the judge; None if it got no time
    self_reported_ms: float | None  #: by HIP events in the guest
    true_ms: float

    @property
    def ratio(self) -> float | None:
        """The time that the attack got, relative to its true time."""
        return None if self.claimed_ms is None else self.claimed_ms / self.true_ms

    @property
    def self_reported_ratio(self) -> float | None:
        """The time that the guest reported, relative to the true time."""
        return None if self.self_reported_ms is None else self.self_reported_ms / self.true_ms

    @property
    def gained(self) -> bool:
        """Whether the attack was accepted with a time that is too short."""
        return self.ratio is not None and self.ratio < GAINED


def main() -> None:
    """Judge every attack on the time and its twin, and print the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--record", action="store_true", help="write docs/red-team.json")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="repetitions of attack and twin")
    parser.add_argument("names", nargs="*", help="attacks; by default all attacks on the time")
    options = parser.parse_args()
    attacks = [attack for attack in all_attacks() if attack.forges_time]
    attacks = [attack for attack in attacks if not options.names or attack.name in options.names]
    environment = settings.load({"WARMFRONT_BUG_FINDER": "0"}, env_file=None)
    sandbox = open_sandbox()
    judge = Judge(CpuToolchain(environment.cache_dir), sandbox, environment)
    print("attack: its time, and its time by HIP events in the guest, relative to the true time\n")
    forgeries = []
    try:
        for attack in attacks:
            forgeries.append(measure(judge, attack, options.rounds))
            _print(forgeries[-1])
    finally:
        sandbox.close()
    if options.record:
        record(times={forgery.name: _fields(forgery) for forgery in forgeries})
    sys.exit(_conclude(forgeries))


def measure(judge: Judge, attack: Attack, rounds: int) -> Forgery:
    """Judge attack and twin alternately; return the medians.

    A round whose twin got a noisy time is repeated, because it does not show the true time.
    """
    attacked: list[dict[str, Any]] = []
    honest: list[dict[str, Any]] = []
    for _ in range(rounds * (1 + REPEATS)):
        attacked.append(judge_source(judge, attack, attack.source)[-1])
        twin = judge_source(judge, attack, attack.honest_twin)[-1]
        honest += [] if twin.get("noisy") else [twin]
        if len(honest) == rounds:
            break
    if not honest:
        raise RuntimeError(f"every time of the twin of {attack.name} is noisy; the machine is too busy")
    for event in honest:
        if "avg_runtime_ms" not in event:
            raise RuntimeError(f"the twin of {attack.name} got {event['status']}: {event.get('message')}")
    accepted = [event for event in attacked if "avg_runtime_ms" in event]
    return Forgery(
        name=attack.name,
        verdict=" | ".join(sorted({event["status"] for event in attacked})),
        claimed_ms=statistics.median(event["avg_runtime_ms"] for event in accepted) if accepted else None,
        self_reported_ms=statistics.median(map(_self_reported_ms, accepted)) if accepted else None,
        true_ms=statistics.median(event["avg_runtime_ms"] for event in honest),
    )


def _self_reported_ms(event: dict[str, Any]) -> float:
    return float(event["benchmark_results"][0]["self_reported_ms"] or 0.0)


def _print(forgery: Forgery) -> None:
    ratio, reported = forgery.ratio, forgery.self_reported_ratio
    claims = "no time" if ratio is None else f"{ratio:5.2f}  (events: {reported:5.2f})"
    bar = "█" * max(1, round(BAR_WIDTH / 2 * min(ratio, 2.0))) if ratio is not None else ""
    print(f"  {forgery.name:28} {forgery.verdict:14} {claims:24} {bar}", flush=True)


def _fields(forgery: Forgery) -> dict[str, Any]:
    ratio, reported = forgery.ratio, forgery.self_reported_ratio
    return {
        "verdict": forgery.verdict,
        "ratio": None if ratio is None else round(ratio, 2),
        "self_reported_ratio": None if reported is None else round(reported, 2),
    }


def _conclude(forgeries: Sequence[Forgery]) -> int:
    gained = [forgery for forgery in forgeries if forgery.gained]
    fine = len(forgeries) - len(gained)
    print(f"\n{fine} of {len(forgeries)}: {len(gained) or 'none'} is ACCEPTED below {GAINED}")
    for forgery in gained:
        print(f"  {forgery.name} is accepted at {forgery.ratio:.2f} of its true time")
    return 1 if gained else 0


if __name__ == "__main__":
    main()
