"""The audit of claimed times, when other load delays calls."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import Mock

import pytest

from warmfront.judge import case_timer
from warmfront.judge.case_timer import CaseTimer

if TYPE_CHECKING:
    from collections.abc import Callable

CALL_MS = 0.5


class BusyGuest:
    """A fake guest: every single call is delayed, and of longer runs the first one of each length."""

    def __init__(self, delay_ms: float) -> None:
        self._delay_ms = delay_ms
        self._runs: Counter[int] = Counter()

    def plan(self, layout: object) -> None:
        """Do nothing."""

    def run(self, *, calls: int) -> Mock:
        """Return the duration; nothing else is used."""
        self._runs[calls] += 1
        delay_ms = self._delay_ms * ((calls == 1) + (self._runs[calls] == 1) / 2)
        return Mock(outer_ms=CALL_MS * calls + delay_ms)


@pytest.fixture(name="audited_ms", params=[0, 20, 100, 200, 300])
def _audited_ms(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Callable[[float], float]:
    """Return a function from a claim to the audited time of a kernel that takes `CALL_MS`."""
    monkeypatch.setattr(case_timer, "BufferLayout", Mock())
    monkeypatch.setattr(case_timer, "check_call", Mock())
    guest: Any = BusyGuest(request.param)
    audited = CaseTimer(
        request=Mock(), toolchain=Mock(), guest=guest, data_file=Path(), case_generator=Mock(), budget_s=1.0
    )
    return lambda claimed_ms: audited._audit(1, claimed_ms)


def test_delayed_calls_do_not_hide_time(audited_ms: Callable[[float], float]) -> None:
    """Delays of single calls do not let a kernel get away with a claim of 0 ms."""
    assert audited_ms(0.0) > CALL_MS / 2


def test_delayed_calls_do_not_discredit_an_honest_claim(audited_ms: Callable[[float], float]) -> None:
    """An honest claim is accepted on a busy machine."""
    assert audited_ms(CALL_MS) <= case_timer.DOUBTED * CALL_MS
