"""Read the attack corpus. The first comment lines of each file state the verdict that it must get."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ATTACKS = Path(__file__).parents[1] / "corpus" / "attacks"


@dataclass(frozen=True, kw_only=True)
class Attack:
    """One kernel and the verdict that it must get."""

    name: str
    source: str
    verdicts: frozenset[str]  #: more than one only if it is random which limit is reached first
    codes: frozenset[str]  #: empty: any code
    endpoint: str
    says: tuple[str, ...]  #: texts that must be in the message or hint
    never: tuple[str, ...]  #: texts that must not be in any event


def read(path: Path) -> Attack:
    """Read one attack."""
    source = path.read_text()

    def lines(key: str) -> list[str]:
        return re.findall(rf"^// {key}: (.+)$", source, re.MULTILINE)

    return Attack(
        name=path.stem,
        source=source,
        verdicts=frozenset(" | ".join(lines("verdict")).split(" | ")),
        codes=frozenset(code for line in lines("code") for code in line.split(" | ")),
        endpoint=(lines("endpoint") or ["checker"])[0],
        says=tuple(lines("says")),
        never=tuple(lines("never")),
    )


def all_attacks() -> list[Attack]:
    """Return all attacks, sorted by name."""
    return [read(path) for path in sorted(ATTACKS.glob("*.hip"))]
