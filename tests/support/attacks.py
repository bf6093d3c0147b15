"""What a redteam fixture says of itself: its first comment lines name the verdict it must get."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ATTACKS = Path(__file__).parents[1] / "corpus" / "attacks"


@dataclass(frozen=True, kw_only=True)
class Attack:
    """One kernel, and what must become of it."""

    name: str
    source: str
    verdicts: frozenset[str]  #: more than one only where a race decides which limit is met first
    codes: frozenset[str]  #: empty: any
    endpoint: str
    says: tuple[str, ...]  #: what its author must read in the message
    never: tuple[str, ...]  #: what must not be anywhere in its events


def read(path: Path) -> Attack:
    """The attack in a file."""
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
    """Every attack, by name."""
    return [read(path) for path in sorted(ATTACKS.glob("*.hip"))]
