"""The output of the program is shown with every verdict, by case."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import pytest

from warmfront.cli.terminal_view import TerminalView
from warmfront.client.result import ReceivedEvent, Result
from warmfront.events import CaseResult, Checked, Failed, Stamp
from warmfront.verdicts import Endpoint, Verdict

if TYPE_CHECKING:
    from warmfront.events import Event

BY_CASE = {"": "loading\n", "4 x 4": "i = 0\n", "5 x 7": "i = 1\x1b[2J\n"}

FAILURES = [
    Failed(
        verdict=verdict,
        code="X",
        message="It failed.",
        details={"output": "".join(BY_CASE.values()), "output_by_case": BY_CASE},
    )
    for verdict in (
        Verdict.WRONG_ANSWER,
        Verdict.RUNTIME_ERROR,
        Verdict.TIME_LIMIT_EXCEEDED,
        Verdict.MEMORY_LIMIT_EXCEEDED,
    )
]
CHECKED = Checked(
    test_results=tuple(
        CaseResult(test_id=number, name=name, status="PASSED", output=BY_CASE.get(name, ""))
        for number, name in enumerate(("4 x 4", "silent", "5 x 7"), 1)
    ),
    passed_tests=3,
    total_tests=3,
    simulated=True,
    output="".join(BY_CASE.values()),
)


@pytest.mark.parametrize("event", [*FAILURES, CHECKED], ids=lambda event: event.fields()["status"])
def test_the_output_is_shown_by_case(event: Event) -> None:
    """Each case has its own heading, and terminal escapes are not interpreted."""
    stream = io.StringIO()
    TerminalView("a.hip", Endpoint.CHECKER, stream).show(Stamp()(event))
    shown = stream.getvalue()
    assert "Output of the program:\nloading\n" in shown
    assert "Output of the program in case 4 x 4:\ni = 0\n" in shown
    assert "Output of the program in case 5 x 7:\ni = 1�[2J\n" in shown
    assert shown.count("Output of the program") == 3


@pytest.mark.parametrize("event", [*FAILURES, CHECKED], ids=lambda event: event.fields()["status"])
def test_the_sdk_has_the_output_by_case(event: Event) -> None:
    """Silent cases are left out."""
    fields = Stamp()(event)
    result = Result.from_events("sub_1", [ReceivedEvent(id=1, status=fields["status"], fields=fields)])
    assert result.output_by_case == BY_CASE


def test_output_without_cases_is_shown_as_a_whole() -> None:
    """The verdict of a benchmark has the output of all cases together."""
    failed = Failed(verdict=Verdict.RUNTIME_ERROR, code="X", message="m", details={"output": "hello\n"})
    stream = io.StringIO()
    TerminalView("a.hip", Endpoint.CHECKER, stream).show(Stamp()(failed))
    assert "Output of the program:\nhello\n" in stream.getvalue()
