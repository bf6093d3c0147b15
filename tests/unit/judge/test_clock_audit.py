"""The judge's clock: what its audit makes of calls that a busy machine held up."""

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
    """Every single call is held up; of longer runs, the first of each length."""

    def __init__(self, held_up_ms: float) -> None:
        self._held_up_ms = held_up_ms
        self._runs: Counter[int] = Counter()

    def plan(self, layout: object) -> None:
        """Nothing to do."""

    def run(self, *, calls: int) -> Mock:
        """Only how long it took is asked for."""
        self._runs[calls] += 1
        held_up_ms = self._held_up_ms * ((calls == 1) + (self._runs[calls] == 1) / 2)
        return Mock(outer_ms=CALL_MS * calls + held_up_ms)


@pytest.fixture(name="audited_ms", params=[0, 20, 100, 200, 300])
def _audited_ms(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Callable[[float], float]:
    """From a claim to what the audit says of a kernel that takes `CALL_MS`."""
    monkeypatch.setattr(case_timer, "BufferLayout", Mock())
    monkeypatch.setattr(case_timer, "check_call", Mock())
    guest: Any = BusyGuest(request.param)
    audited = CaseTimer(
        request=Mock(), toolchain=Mock(), guest=guest, data_file=Path(), case_generator=Mock(), budget_s=1.0
    )
    return lambda claimed_ms: audited._audit(1, claimed_ms)


def test_calls_that_were_held_up_hide_no_time(audited_ms: Callable[[float], float]) -> None:
    """However long single calls are held up, a kernel that claims to take no time takes its time."""
    assert audited_ms(0.0) > CALL_MS / 2


def test_calls_that_were_held_up_accuse_nobody(audited_ms: Callable[[float], float]) -> None:
    """An honest claim is not doubted because a machine is busy."""
    assert audited_ms(CALL_MS) <= case_timer.DOUBTED * CALL_MS
