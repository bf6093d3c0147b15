"""Rank accepted submissions. A submission ranks ahead of another only if their intervals do not overlap.

This module makes no queries.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import Counter
from typing import TYPE_CHECKING, Any

from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from warmfront.submission import Submission


@dataclass(frozen=True, kw_only=True)
class RankedSubmission:
    """A submission and its place among others on the same GPU."""

    submission: Submission
    rank: int  #: 1 + the number of submissions that are certainly faster
    tied: bool  #: whether others have the same rank


def rank_submissions(submissions: Sequence[Submission]) -> list[RankedSubmission]:
    """Rank submissions by the intervals of their times, best rank first.

    The rank of a submission is 1 + the number of submissions whose interval is entirely below its own. So
    submissions whose intervals all overlap share a rank, and the median of a noisy time, whose interval is
    wide, does not decide its rank. Within a rank, noisy times come last.

    Args:
        submissions: submissions with times on the same GPU.
    """
    intervals = [_possible_ms(submission) for submission in submissions]
    upper_ends = sorted(high for _, high in intervals)
    ranks = [1 + bisect_left(upper_ends, low) for low, _ in intervals]
    shared = Counter(ranks)
    ranked = [
        RankedSubmission(submission=submission, rank=rank, tied=shared[rank] > 1)
        for submission, rank in zip(submissions, ranks, strict=True)
    ]
    return sorted(
        ranked, key=lambda each: (each.rank, each.submission.noisy, each.submission.avg_runtime_ms or 0.0)
    )


def mean_pct_of_floor(timings: Sequence[Mapping[str, Any]]) -> float | None:
    """Return the geometric mean of `pct_of_floor` over the cases of a stored verdict; None if unknown."""
    fractions: list[Any] = [timing.get("pct_of_floor") for timing in timings]
    if not fractions or not _positive(*fractions):
        return None
    return math.exp(sum(math.log(float(fraction)) for fraction in fractions) / len(fractions))


def _possible_ms(submission: Submission) -> tuple[float, float]:
    possible_ms = submission.possible_ms
    if possible_ms is None:
        raise ValueError(f"submission {submission.id} has no time to rank")
    return possible_ms


def _positive(*values: Any) -> bool:  # noqa: ANN401 - a stored event is untyped JSON
    return all(isinstance(value, int | float) and value > 0 for value in values)
