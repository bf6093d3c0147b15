"""The ranks of a leaderboard, which only separate intervals decide."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from warmfront.api.leaderboard_ranking import mean_pct_of_floor, rank_submissions
from warmfront.submission import Submission, SubmissionState


def _submission(
    name: str, ms: float, ci: tuple[float, float] | None = None, *, noisy: bool = False
) -> Submission:
    low_ms, high_ms = ci or (None, None)
    return Submission(
        id=name,
        owner=name,
        problem="relu",
        gpu="MI300X",
        dtype="float32",
        language="hip",
        endpoint="submit",
        file_name="solution.hip",
        code_sha256="",
        state=SubmissionState.DONE,
        created_at=0.0,
        avg_runtime_ms=ms,
        avg_ci_low_ms=low_ms,
        avg_ci_high_ms=high_ms,
        noisy=noisy,
    )


def _places(*submissions: Submission) -> list[tuple[str, int, bool]]:
    return [(each.submission.id, each.rank, each.tied) for each in rank_submissions(submissions)]


def test_separate_intervals_have_different_ranks() -> None:
    """The fastest is first, in whatever order the submissions are."""
    assert _places(_submission("b", 2.0, (1.9, 2.1)), _submission("a", 1.0, (0.9, 1.1))) == [
        ("a", 1, False),
        ("b", 2, False),
    ]


def test_overlapping_intervals_share_a_rank() -> None:
    """The next rank counts all entries that are certainly faster."""
    assert _places(
        _submission("a", 1.0, (0.98, 1.02)),
        _submission("b", 1.01, (0.99, 1.03)),
        _submission("c", 5.0, (4.9, 5.1)),
    ) == [("a", 1, True), ("b", 1, True), ("c", 3, False)]


def test_a_chain_of_overlaps_is_not_one_tie() -> None:
    """The last overlaps its neighbor but not the first, which is certainly faster."""
    chain = [_submission(str(ms), ms, (ms - 0.06, ms + 0.06)) for ms in (1.0, 1.1, 1.2)]
    assert _places(*chain) == [("1.0", 1, True), ("1.1", 1, True), ("1.2", 2, False)]


def test_a_noisy_time_does_not_win_by_its_median() -> None:
    """A lucky median within a wide interval gives a tie, listed after the others."""
    assert _places(
        _submission("lucky", 0.7, (0.6, 1.4), noisy=True), _submission("a", 1.0, (0.99, 1.01))
    ) == [("a", 1, True), ("lucky", 1, True)]


def test_a_noisy_time_can_be_certainly_faster() -> None:
    """The interval decides, not the mark."""
    assert _places(_submission("a", 4.0, (3.9, 4.1)), _submission("n", 1.0, (0.5, 2.0), noisy=True)) == [
        ("n", 1, False),
        ("a", 2, False),
    ]


def test_an_unknown_interval_is_not_separate_within_ten_percent() -> None:
    """A result of an older release is ranked as if its interval reached 10% to either side."""
    assert _places(_submission("old", 1.0), _submission("new", 1.09, (1.08, 1.1))) == [
        ("old", 1, True),
        ("new", 1, True),
    ]
    assert _places(_submission("old", 1.0), _submission("new", 1.2, (1.18, 1.22)))[1] == ("new", 2, False)


@given(st.lists(st.tuples(st.floats(0.1, 10), st.floats(0.001, 0.5)), min_size=1, max_size=12))
def test_a_rank_counts_who_is_certainly_faster(times: list[tuple[float, float]]) -> None:
    """It is 1 + the number of intervals that lie entirely below."""
    submissions = [
        _submission(str(number), ms, (ms * (1 - width), ms * (1 + width)))
        for number, (ms, width) in enumerate(times)
    ]
    intervals = {each.id: each.possible_ms or (0.0, 0.0) for each in submissions}
    for each in rank_submissions(submissions):
        low_ms, _ = intervals[each.submission.id]
        assert each.rank == 1 + sum(high_ms < low_ms for _, high_ms in intervals.values())


def test_the_fraction_of_the_floor_is_a_geometric_mean() -> None:
    """It requires a value for every case; the CPU runtime has none."""
    assert mean_pct_of_floor([{"pct_of_floor": 90.0}, {"pct_of_floor": 40.0}]) == pytest.approx(60.0)
    assert mean_pct_of_floor([{"pct_of_floor": 90.0}, {"pct_of_floor": None}]) is None
    assert mean_pct_of_floor([]) is None
