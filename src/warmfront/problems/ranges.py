"""Ranges of the parameters of `solution`, from which the judge draws the hidden sizes of a check.

A range draws a value from anywhere, or near the value of a timed case. The generator is a `random.Random`
with the secret seed, because hidden sizes are drawn before NumPy is imported.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from warmfront.errors import BadProblemFile
from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping
    from random import Random

    Value = int | float | tuple[int, ...]
    Values = Mapping[str, Value]

#: The most steps between the value of a timed case and a value near it, in either direction.
MAX_OFFSET = 63

#: The most dimensions of a tensor.
MAX_DIMENSIONS = 8


@dataclass(frozen=True)
class Sizes:
    """The integers `low`, `low + step`, … up to `high`, for a SIZE or an `int`."""

    low: int
    high: int
    step: int = 1

    def __post_init__(self) -> None:
        if not 0 <= self.low <= self.high or self.step < 1:
            raise BadProblemFile(f"{self} is not a range; required: 0 <= low <= high and step >= 1")

    def anywhere(self, random: Random, drawn: Values) -> int:  # noqa: ARG002 - independent of other values
        """Draw from the whole range, log-uniformly, so that each power of two is equally likely."""
        steps = _log_uniform(random, 1, (self.high - self.low) // self.step + 1) - 1
        return self.low + self.step * steps

    def near(self, timed: Value, random: Random, drawn: Values) -> int:  # noqa: ARG002 - as above
        """Draw a value near that of a timed case. It may exceed `high`."""
        if not isinstance(timed, int):
            raise BadProblemFile(f"a timed case has the value {timed!r}; an integer is required")
        furthest = min(MAX_OFFSET, max(1, timed // (8 * self.step)))
        offset = self.step * random.randint(1, furthest) * random.choice((-1, 1))
        high = max(self.high, timed)
        if not self.low <= timed + offset <= high:
            offset = -offset
        return timed + offset if self.low <= timed + offset <= high else timed


@dataclass(frozen=True)
class Numbers:
    """The real numbers from `low` to `high`, for a `float`."""

    low: float
    high: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low <= self.high):
            raise BadProblemFile(f"{self} is not a range; required: finite numbers with low <= high")

    def anywhere(self, random: Random, drawn: Values) -> float:  # noqa: ARG002 - independent of other values
        """Draw uniformly from the range."""
        return random.uniform(self.low, self.high)

    def near(self, timed: Value, random: Random, drawn: Values) -> float:  # noqa: ARG002 - no size to be near to
        """Draw uniformly from the range."""
        return self.anywhere(random, drawn)


@dataclass(frozen=True)
class Shapes:
    """Shapes of 1 to `dimensions` extents with up to `max_elements` elements, for a SHAPE."""

    max_elements: int
    dimensions: int = 4

    def __post_init__(self) -> None:
        if self.max_elements < 1 or not 1 <= self.dimensions <= MAX_DIMENSIONS:
            raise BadProblemFile(
                f"{self} is not a range; required: max_elements >= 1 and 1 to {MAX_DIMENSIONS} dimensions"
            )

    def anywhere(self, random: Random, drawn: Values) -> tuple[int, ...]:  # noqa: ARG002 - independent
        """Draw the number of dimensions, then extents whose product is within the limit."""
        extents, left = [], self.max_elements
        for _ in range(random.randint(1, self.dimensions)):
            extents.append(_log_uniform(random, 1, left))
            left //= extents[-1]
        random.shuffle(extents)
        return tuple(extents)

    def near(self, timed: Value, random: Random, drawn: Values) -> tuple[int, ...]:
        """Draw a shape near that of a timed case, with at least one different extent."""
        if not isinstance(timed, tuple):
            raise BadProblemFile(f"a timed case has the value {timed!r}; a shape is required")
        changed = random.randrange(len(timed)) if timed else 0
        return tuple(
            Sizes(1, extent + MAX_OFFSET).near(extent, random, drawn)
            if axis == changed or random.random() >= KEPT
            else extent
            for axis, extent in enumerate(timed)
        )


@dataclass(frozen=True)
class DimensionsOf:
    """The number of dimensions of a shape, for a SIZE."""

    shape: str  #: name of the SHAPE parameter, which is drawn first

    def anywhere(self, random: Random, drawn: Values) -> int:  # noqa: ARG002 - the shape decides
        """Return the number of dimensions."""
        return len(_shape(drawn, self.shape))

    def near(self, timed: Value, random: Random, drawn: Values) -> int:  # noqa: ARG002 - as above
        """Return the number of dimensions."""
        return self.anywhere(random, drawn)


@dataclass(frozen=True)
class DimensionIn:
    """The index of one dimension of a shape, for a SIZE or an `int`."""

    shape: str  #: name of the SHAPE parameter, which is drawn first

    def anywhere(self, random: Random, drawn: Values) -> int:
        """Draw one of the dimensions."""
        return random.randrange(len(_shape(drawn, self.shape)))

    def near(self, timed: Value, random: Random, drawn: Values) -> int:  # noqa: ARG002 - stays the same
        """Return the dimension of the timed case."""
        return int(timed) if isinstance(timed, int) else 0


Range = Sizes | Numbers | Shapes | DimensionsOf | DimensionIn

#: The names of the ranges in the messages of a sandboxed problem.
KINDS: dict[str, type[Range]] = {
    kind.__name__: kind for kind in (Sizes, Numbers, Shapes, DimensionsOf, DimensionIn)
}

#: Probability that a parameter of a case near a timed case keeps the value of the timed case.
KEPT = 0.5


def draw_anywhere(ranges: Mapping[str, Range], random: Random) -> dict[str, Value]:
    """Draw a value for every parameter from its whole range."""
    drawn: dict[str, Value] = {}
    for name in _in_order(ranges):
        drawn[name] = ranges[name].anywhere(random, drawn)
    return drawn


def draw_near(ranges: Mapping[str, Range], timed: Values, random: Random) -> dict[str, Value]:
    """Draw the values of a case near a timed case, with at least one different size."""
    sizes = [name for name, bounds in ranges.items() if isinstance(bounds, Sizes | Shapes)]
    changed = random.choice(sizes) if sizes else ""
    drawn: dict[str, Value] = {}
    for name in _in_order(ranges):
        is_kept = name != changed and isinstance(ranges[name], Sizes | Numbers) and random.random() < KEPT
        drawn[name] = timed[name] if is_kept else ranges[name].near(timed[name], random, drawn)
    return drawn


def check_ranges(ranges: Mapping[str, Range], allowed: Mapping[str, tuple[type[Range], ...]]) -> None:
    """Validate the ranges of a problem.

    Args:
        ranges: the ranges by name of the parameter; may be empty.
        allowed: the kinds of ranges that each parameter passed by value can have.

    Raises:
        BadProblemFile: the ranges are invalid; the message describes the first error.
    """
    if not ranges:
        return
    if set(ranges) != set(allowed):
        raise BadProblemFile(f"it has ranges for {sorted(ranges)}; the signature needs {sorted(allowed)}")
    for name, bounds in ranges.items():
        if not isinstance(bounds, allowed[name]):
            kinds = ", ".join(kind.__name__ for kind in allowed[name])
            raise BadProblemFile(f"the range of {name!r} is {bounds!r}; allowed: {kinds}")
        if isinstance(bounds, DimensionsOf | DimensionIn) and not isinstance(
            ranges.get(bounds.shape), Shapes
        ):
            raise BadProblemFile(
                f"the range of {name!r} depends on {bounds.shape!r}, which has no range of shapes"
            )


def _in_order(ranges: Mapping[str, Range]) -> list[str]:
    """Return the names in the problem's order, except that those that depend on a shape come last."""
    return sorted(ranges, key=lambda name: isinstance(ranges[name], DimensionsOf | DimensionIn))


def _log_uniform(random: Random, low: int, high: int) -> int:
    drawn = math.exp(random.uniform(math.log(low), math.log(high + 1)))
    return min(high, max(low, int(drawn)))


def _shape(drawn: Values, name: str) -> tuple[int, ...]:
    value = drawn[name]
    if not isinstance(value, tuple) or not value:
        raise BadProblemFile(f"{name} is {value!r}, not a shape with dimensions")
    return value
