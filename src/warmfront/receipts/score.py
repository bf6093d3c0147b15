"""Recompute the score of a receipt from its raw windows, with the judge's own functions."""

from __future__ import annotations

import dataclasses
import math
import warnings
from typing import TYPE_CHECKING, Any

from warmfront.errors import ReceiptRefused
from warmfront.events import Window
from warmfront.judge.statistics import CallTime, geometric_mean, mean_interval, time_per_call

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Relative differences that another build of NumPy may cause: in a time, by the order of additions; in the
#: ends of an interval, by different random numbers for the bootstrap.
_TIME_TOLERANCE = 1e-9
_INTERVAL_TOLERANCE = 0.01

_WINDOW_FIELDS = frozenset(field.name for field in dataclasses.fields(Window))


def check_score(body: Mapping[str, Any]) -> None:
    """Compare every stated time with the time recomputed from the raw windows.

    Raises:
        ReceiptRefused: They differ, or there are no windows from which to compute a time.
    """
    try:
        _check_score(body)
    except (ArithmeticError, LookupError, TypeError, ValueError, Warning) as error:
        raise ReceiptRefused(f"The score cannot be computed from its windows: {error!r}.") from None


def _check_score(body: Mapping[str, Any]) -> None:
    timed = {case["test_id"] for case in body["cases"] if case["timed"]}
    if not timed or sorted(timed) != sorted(timing["test_id"] for timing in body["timings"]):
        raise ReceiptRefused("Its timings do not match its timed cases.")
    computed = [_check_timing(timing) for timing in body["timings"]]
    average = CallTime(
        pairs_ms=(),
        median_ms=geometric_mean([time.median_ms for time in computed]),
        interval_ms=mean_interval([time.interval_ms for time in computed]),
        noisy=any(time.noisy for time in computed),
    )
    _compare("The average", body["avg_runtime_ms"], body["avg_ci"], average, noisy=body["noisy"])


def _check_timing(timing: Mapping[str, Any]) -> CallTime:
    windows = [_window(fields) for fields in timing["windows"]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # NumPy only warns about the median of an empty array
        computed = time_per_call(windows, timing["overhead_ms"], timing.get("reference_ms"))
    title = f"The time of {str(timing['name'])[:200]!r}"
    _compare(title, timing["runtime_ms"], timing["ci"], computed, noisy=timing["noisy"])
    return computed


def _window(fields: Mapping[str, Any]) -> Window:
    return Window(**{name: value for name, value in fields.items() if name in _WINDOW_FIELDS})


def _compare(
    title: str, time_ms: float, interval_ms: list[float], computed: CallTime, *, noisy: bool
) -> None:
    if not math.isclose(time_ms, computed.median_ms, rel_tol=_TIME_TOLERANCE):
        raise ReceiptRefused(
            f"{title} is given as {time_ms:.6g} ms, but its windows yield {computed.median_ms:.6g} ms."
        )
    slack_ms = _INTERVAL_TOLERANCE * computed.median_ms
    for stated, end in zip(interval_ms, computed.interval_ms, strict=True):
        if not abs(stated - end) <= slack_ms:
            low, high = computed.interval_ms
            raise ReceiptRefused(
                f"{title} has the interval {interval_ms}, but its windows yield [{low:.6g}, {high:.6g}]."
            )
    if noisy is not computed.noisy:
        raise ReceiptRefused(
            f"{title} is marked {'noisy' if noisy else 'not noisy'}, but its windows disagree."
        )
