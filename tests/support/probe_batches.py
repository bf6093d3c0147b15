"""One-feature probes in batches: many in one source, each in its own namespace.

A compiler spends most of its time on HIP's headers, so a batch costs little more than one probe. Only probes
that include the same headers share a batch. A probe that a batch does not decide is compiled alone.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from warmfront.hip.trailer import SOURCE_NAME

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from tests.support.real_hip import Feature

_MENTION = re.compile(rf"\b{re.escape(SOURCE_NAME)}:(\d+)")


@dataclass(frozen=True)
class Batch:
    """Probes in one source."""

    features: tuple[Feature, ...]
    source: str
    first_lines: tuple[int, ...]  #: of each probe

    def at(self, line: int) -> Feature | None:
        """Return the probe that a line of the source belongs to; None for the lines before all of them."""
        inside = [f for f, first in zip(self.features, self.first_lines, strict=True) if first <= line]
        return inside[-1] if inside else None

    def mentioned(self, output: str) -> set[Feature]:
        """Return the probes whose lines the messages of a compiler mention."""
        return {feature for line in _MENTION.findall(output) if (feature := self.at(int(line)))}


def make_batches(
    features: Iterable[Feature], size: int, translate: Callable[[str], str] = lambda source: source
) -> Iterator[Batch]:
    """Yield batches of at most `size` probes, each changed by `translate` before they are joined."""
    by_headers: dict[tuple[str, ...], list[tuple[Feature, list[str]]]] = {}
    for feature in features:
        lines = translate(feature.source).rstrip("\n").split("\n")
        headers = tuple(itertools.takewhile(lambda line: line.startswith("#include"), lines))
        by_headers.setdefault(headers, []).append((feature, lines[len(headers) :]))
    for headers, group in by_headers.items():
        for start in range(0, len(group), size):
            yield _join(headers, group[start : start + size])


def _join(headers: tuple[str, ...], members: Sequence[tuple[Feature, list[str]]]) -> Batch:
    lines = list(headers)
    first_lines = []
    for number, (_, body) in enumerate(members):
        first_lines.append(len(lines) + 1)
        lines += [f"namespace probe_{number} {{", *body, "}"]
    return Batch(tuple(feature for feature, _ in members), "\n".join(lines) + "\n", tuple(first_lines))
