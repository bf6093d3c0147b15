"""Every attempt ends with a verdict, and its events are printable and bounded, whatever the judge does."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

from warmfront.events import Compiling, Event, Failed
from warmfront.judge.cancellation import CancellationToken, JudgeCancelled
from warmfront.listener import attempt_events
from warmfront.listener.attempt_registry import AttemptRegistry
from warmfront.listener.event_fields import MAX_EVENT_BYTES, EventTooLarge, clean_fields
from warmfront.listener.protocol import ExecuteRequest
from warmfront.verdicts import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

COMPILING = Compiling(compiler="c++", toolchain="cpu", sandbox="none")
ATTEMPT = ExecuteRequest(
    id="a1", source="//", file_name="a.hip", problem="relu", dtype="float32", endpoint="checker"
)


class Judge:
    """A judge that compiles, then does what the test specifies."""

    def __init__(self, then: Callable[[], Event | None]) -> None:
        self._then = then

    def events(
        self,
        _attempt: ExecuteRequest,
        *,
        run_slot: AbstractContextManager[None],
        cancellation: CancellationToken,
    ) -> Iterator[Event]:
        """Yield one event, then what `then` returns."""
        del run_slot, cancellation
        yield COMPILING
        event = self._then()
        if event is not None:
            yield event


def judged(then: Callable[[], Event | None]) -> list[dict[str, Any]]:
    """Return the lines of an attempt with this judge; they are numbered without gaps."""

    async def main() -> list[dict[str, Any]]:
        registry = AttemptRegistry(Judge(then))
        execution = registry.start(ATTEMPT)
        body = b"".join([part async for part in registry.follow(execution)])
        await execution.ended.wait()
        return [json.loads(line) for line in body.split(b"\n") if line]

    lines = asyncio.run(main())
    assert [line["seq"] for line in lines] == list(range(1, len(lines) + 1))
    assert lines[0]["status"] == "COMPILING"
    return lines


def raising(error: BaseException) -> Callable[[], Event | None]:
    """Return a function that raises this."""

    def then() -> Event | None:
        raise error

    return then


def recurse() -> Event | None:
    """Recurse without end."""
    return recurse()


def failed(message: str = "", **details: Any) -> Failed:
    """Return a verdict with these details."""
    return Failed(verdict=Verdict.WRONG_ANSWER, code="WRONG", message=message, details=details)


def nested(depth: int) -> list[Any]:
    """Return lists in lists."""
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    "then",
    [
        recurse,
        raising(MemoryError()),
        raising(KeyboardInterrupt()),
        raising(SystemExit(3)),
        raising(GeneratorExit()),
        raising(UnicodeEncodeError("utf-8", "\ud800", 0, 1, "surrogates not allowed")),
        raising(StopIteration()),
        lambda: failed(deep=nested(50)),
        lambda: failed(deep=nested(sys.getrecursionlimit() * 2)),
        lambda: failed(long=[0] * 200_000),
        lambda: failed(large={str(n): "x" * 500 for n in range(20_000)}),
        lambda: None,
    ],
)
def test_an_attempt_ends_with_error_whatever_is_raised(then: Callable[[], Event | None]) -> None:
    """The verdict is ERROR, with a code and a message."""
    *_, last = judged(then)
    assert (last["status"], last["code"]) == ("ERROR", "INTERNAL")
    assert last["message"]


def test_a_failure_to_report_a_failure_still_gives_a_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without memory even the report of the failure cannot be made."""

    def fail(_message: str) -> Failed:
        raise MemoryError

    monkeypatch.setattr(attempt_events, "_internal_error", fail)
    lines: list[tuple[int, dict[str, Any], bool]] = []
    with pytest.raises(MemoryError):
        attempt_events.send_until_verdict(
            [COMPILING], lambda *line: lines.append(line), attempt=ATTEMPT, cancellation=CancellationToken()
        )
    assert [(seq, fields["status"], last) for seq, fields, last in lines] == [
        (1, "COMPILING", False),
        (2, "ERROR", True),
    ]


@pytest.mark.parametrize("error", [JudgeCancelled(), MemoryError()])
def test_a_cancelled_attempt_is_cancelled(error: BaseException) -> None:
    """Destroying its boxes can cause any failure; the verdict is CANCELLED nevertheless."""
    lines: list[str] = []
    cancellation = CancellationToken()
    cancellation.cancel()
    events = Judge(raising(error)).events(ATTEMPT, run_slot=None, cancellation=cancellation)  # type: ignore[arg-type]  # not used
    attempt_events.send_until_verdict(
        events,
        lambda _seq, fields, _last: lines.append(fields["status"]),
        attempt=ATTEMPT,
        cancellation=cancellation,
    )
    assert lines == ["COMPILING", "CANCELLED"]


def test_nothing_follows_the_verdict() -> None:
    """An exception after the verdict, as in a cleanup, does not change it."""

    def events() -> Iterator[Event]:
        yield failed("first")
        yield failed("second")
        raise MemoryError

    lines: list[dict[str, Any]] = []
    attempt_events.send_until_verdict(
        events(),
        lambda _seq, fields, _last: lines.append(fields),
        attempt=ATTEMPT,
        cancellation=CancellationToken(),
    )
    assert [line["message"] for line in lines] == ["first"]


def test_text_is_printable() -> None:
    """Terminal escapes, NUL, lone surrogates and bidirectional overrides are removed; line breaks stay."""
    hostile = "a\x1b[2Jb\x00c\ud800d\u202ee\r\n\tü…\x9b"
    last = judged(lambda: failed(hostile, output=hostile, **{"k\x1b": [hostile]}))[-1]
    clean = "a[2Jbcde\n\tü…"
    assert (last["status"], last["message"], last["output"]) == ("WRONG_ANSWER", clean, clean)
    assert last["details"] == {"k": [clean]}


def test_megabytes_are_cut() -> None:
    """A message of 50 MB, or many long ones, become an event that can be stored."""
    last = judged(lambda: failed("x" * 50_000_000))[-1]
    assert last["status"] == "WRONG_ANSWER"
    assert last["message"].endswith("x… (cut)")
    many = clean_fields({"status": "X", "texts": ["y" * 100_000] * 200})
    assert len(json.dumps(many)) < MAX_EVENT_BYTES
    assert many["texts"][0].startswith("yyy")


def test_values_that_are_not_json_become_text() -> None:
    """A bug of the judge does not prevent the verdict."""
    values = {"nan": float("nan"), "huge": 10**5000, "object": {1, 2}, "pair": (1, 2), 3: None, "yes": True}
    assert clean_fields(values) == {  # type: ignore[arg-type]  # deliberately
        "nan": "nan",
        "huge": "a number out of range",
        "object": "{1, 2}",
        "pair": [1, 2],
        "3": None,
        "yes": True,
    }


def test_an_event_that_is_too_deep_is_refused() -> None:
    """It cannot be stored or parsed safely."""
    with pytest.raises(EventTooLarge, match="nested too deeply"):
        clean_fields({"deep": nested(20)})
