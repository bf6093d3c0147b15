"""No box is prepared while an attempt is timed; used boxes are replaced between attempts."""

from __future__ import annotations

from typing import Any

from warmfront.listener.warm_sandbox import WarmSandbox


class CountingSandbox:
    """Records which boxes are prepared, and when they are waited for."""

    name = detail = "counting"

    def __init__(self) -> None:
        self.calls: list[str] = []

    def prepare(self, template: str) -> None:
        """Record the template."""
        self.calls.append(template)

    def settle(self) -> None:
        """Record the wait."""
        self.calls.append("settle")

    def take(self, template: str) -> Any:
        """Return nothing: no box is used."""


def warm_sandbox() -> tuple[CountingSandbox, WarmSandbox]:
    """Return a sandbox with one prepared box of two kinds."""
    counting = CountingSandbox()
    warm = WarmSandbox(counting)  # type: ignore[arg-type]  # what is used
    for template in ("compile", "run"):
        warm.prepare(template)  # type: ignore[arg-type]  # templates are only compared
    counting.calls.clear()
    return counting, warm


def test_boxes_are_prepared_between_turns() -> None:
    """A box that the next attempt requests while this one is timed is created afterwards."""
    counting, warm = warm_sandbox()
    with warm.turn() as turn:
        warm.take("run")  # type: ignore[arg-type]
        turn.hold()
        assert counting.calls == ["settle"], "boxes under way are started before the clock is"
        warm.prepare("run")  # type: ignore[arg-type]
        assert counting.calls == ["settle"]
    assert counting.calls == ["settle", "run"]


def test_the_end_of_one_turn_does_not_disturb_the_next() -> None:
    """An attempt that ends while another is already timed replaces its boxes when that one ends."""
    counting, warm = warm_sandbox()
    first = warm.turn()
    first.__enter__().hold()
    warm.take("compile")  # type: ignore[arg-type]
    with warm.turn() as second:
        second.hold()
        counting.calls.clear()
        first.__exit__(None, None, None)
        assert counting.calls == []
    assert counting.calls == ["compile"]
