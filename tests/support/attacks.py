"""Read the attack corpus.

The first comment lines of each file are its header:

- `verdict`: the verdict that it must get; several, separated by ` | `, only if it is random which one
- `code`: the error code that it must get (optional)
- `family`: one of `FAMILIES`
- `first seen`: where the idea is from
- `control`: an honest file that looks similar and must pass
- `problem`, `endpoint`: the problem and the endpoint of its submission; by default `relu` and `checker`
- `says`, `never`: text that must be in the message or hint; text that must not be in any event
- `sandbox: matters`: it attacks the sandbox, so the quick tests judge it in Docker as well
- `tests: slow`: another file tries the same in another way, and the quick tests judge that one
- `caught: no`: a known gap, which docs/judge.md explains; `verdict` is the verdict that it gets
- `time: forged`: it computes correctly and claims a shorter time. Compiled with ATTACK=0 it is its honest
  twin, which does the same work; `python -m bench.forgery` compares the two.

The comment after the header says in a sentence what the file does.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from warmfront.verdicts import Endpoint, is_terminal

if TYPE_CHECKING:
    from collections.abc import Sequence

ATTACKS = Path(__file__).parents[1] / "corpus" / "attacks"

#: The family of controls.
HONEST = "honest-control"

#: Reading and writing the megabytes of a timed case takes longer on every CPU.
FASTEST_POSSIBLE_MS = 0.02

#: What the attacks of each family try to do.
FAMILIES = {
    "call-skipping": "Does no work in some timed calls, for example when the output is no longer poison.",
    "skipped-work": "Writes nothing, or values that a careless comparison accepts.",
    "slots": "Uses the memory of other calls: computes them in advance, reads or changes them.",
    "buffers": "Changes, truncates, grows or unmaps the memory that it shares with the judge.",
    "event-records": "Writes to the heap records of HIP events, so that they report a shorter time.",
    "hooks": "Replaces functions of the guest: machine code, GOT, .init_array, ifunc, vtables, names.",
    "protocol": "Uses the judge's protocol itself, with the nonce from the stack, or breaks the channel.",
    "late-work": "Answers or returns first, and computes while the judge reads: threads, timers, signals.",
    "time-values": "Reports times that break arithmetic: NaN, infinities, 0, denormal and negative numbers.",
    "window-shaping": "Burns time, sleeps or competes for the CPU in chosen windows to lower the slope.",
    "host-code": "Computes on the host instead of the GPU: always, or in timed calls only.",
    "shape-keyed": "Is correct for the published sizes only, or uses an algorithm that works only for them.",
    "evaluator-mode": "Behaves differently for the judge, the bug finder or the timed calls.",
    "cpu-runtime-or-gpu": "Is different code on the CPU runtime and on a GPU.",
    "caches": "Returns earlier results, keyed by shape, pointer or a hash of the inputs.",
    "allocator-zeroing": "Relies on outputs that are zero before the call.",
    "input-structure": "Guesses the structure of the inputs from a few elements.",
    "cheap-statistic": "Writes a value that is close to the output on average.",
    "graph-capture": "Records the work while the library is loaded, and replays it.",
    "probing": "Tries to learn the hidden sizes.",
    "fault-reports": "Sends reports that break a parser: deep, mistyped, huge, with escapes or surrogates.",
    "forged-text": "Prints text that looks like events or markers of the judge.",
    "resource-exhaustion": "Uses memory, processes, threads, files, output or time without limit.",
    "early-end": "Ends, stops or abandons the process before the judge has its result.",
    "escape": "Looks for files, sockets, secrets or other processes outside of its box.",
    "faults": "Makes an ordinary mistake: out-of-bounds access, overflow of a stack, division by zero.",
    "unusable-source": "Does not compile, or has no usable solution().",
    HONEST: "An honest kernel that looks like an attack, and must pass.",
}


@dataclass(frozen=True, kw_only=True)
class Attack:
    """One kernel and the verdict that it must get."""

    name: str
    source: str
    summary: str  #: what it does, in a sentence
    verdicts: frozenset[str]  #: more than one only if it is random which limit is reached first
    codes: frozenset[str]  #: empty: any code
    problem: str
    endpoint: str
    says: tuple[str, ...]  #: texts that must be in the message or hint
    never: tuple[str, ...]  #: texts that must not be in any event
    family: str
    first_seen: str
    control: str  #: name of an honest file
    needs_each_sandbox: bool  #: whether its verdict depends on the kind of sandbox
    is_gap: bool  #: whether the judge does not catch it yet
    is_slow: bool  #: whether only the slow tests judge it
    forges_time: bool  #: whether it computes correctly and claims a shorter time

    @property
    def is_honest(self) -> bool:
        """Whether it is a control."""
        return self.family == HONEST

    @property
    def honest_twin(self) -> str:
        """The source of the twin of an attack on the time: the same work without the attack."""
        return f"#define ATTACK 0\n{self.source}"


def read(path: Path) -> Attack:
    """Read one attack."""
    source = path.read_text()

    def lines(key: str) -> list[str]:
        return re.findall(rf"^// {key}: (.+)$", source, re.MULTILINE)

    def first(key: str, default: str = "") -> str:
        return (lines(key) or [default])[0]

    return Attack(
        name=path.stem,
        source=source,
        summary=_summary(source),
        verdicts=frozenset(" | ".join(lines("verdict")).split(" | ")),
        codes=frozenset(code for line in lines("code") for code in line.split(" | ")),
        problem=first("problem", "relu"),
        endpoint=first("endpoint", "checker"),
        says=tuple(lines("says")),
        never=tuple(lines("never")),
        family=first("family"),
        first_seen=first("first seen"),
        control=first("control"),
        needs_each_sandbox=first("sandbox") == "matters",
        is_gap=first("caught") == "no",
        is_slow=first("tests") == "slow",
        forges_time=first("time") == "forged",
    )


def _summary(source: str) -> str:
    """Return the comment between the header and the code."""
    lines = source.partition("\n#")[0].splitlines()
    text = [line.removeprefix("// ") for line in lines if not re.match(r"// [a-z ]+: \S", line)]
    return " ".join(text).strip()


def all_attacks() -> list[Attack]:
    """Return all attacks, sorted by name."""
    return [read(path) for path in sorted(ATTACKS.glob("*.hip"))]


def mistakes(attack: Attack, events: Sequence[dict[str, Any]]) -> list[str]:
    """Return the differences between the events of an attack and its header; none if the judge caught it."""
    last, text = events[-1], json.dumps(events, ensure_ascii=False)
    explanation = f"{last.get('message')} {last.get('hint')}"
    terminal = [event for event in events if is_terminal(event["status"], Endpoint(attack.endpoint))]
    found = [f"`{words}` is not in: {explanation}" for words in attack.says if words not in explanation]
    found += [f"`{words}` is in the events" for words in attack.never if words in text]
    if last["status"] not in attack.verdicts:
        found.append(f"the verdict is {last['status']}: {explanation}")
    if attack.codes and last.get("code") not in attack.codes:
        found.append(f"the code is {last.get('code')}: {explanation}")
    if last.get("avg_runtime_ms", FASTEST_POSSIBLE_MS) < FASTEST_POSSIBLE_MS:
        found.append(f"the time is impossible: {last['avg_runtime_ms']:g} ms")
    if terminal != [last]:
        found.append(f"{len(terminal)} verdicts")
    return found
