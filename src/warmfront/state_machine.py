"""The building block of both state machines: a transition with the states in which it is allowed.

`warmfront.submission` and `warmfront.vm` declare their transitions with it; nothing else sets a state.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Generic, TypeVar

from warmfront.value_class import dataclass

StateT = TypeVar("StateT", bound=StrEnum)


class IllegalTransitionError(RuntimeError):
    """A transition was requested from a state that does not allow it: a bug in the caller."""


@dataclass(frozen=True)
class Transition(Generic[StateT]):
    """One transition of a state machine."""

    name: str
    sources: frozenset[StateT]  #: the states in which it is allowed
    target: StateT

    def allows(self, state: StateT) -> bool:
        """Return whether the transition may start from `state`."""
        return state in self.sources

    def apply(self, state: StateT, subject: str) -> StateT:
        """Return the state after the transition.

        Raises:
            IllegalTransitionError: `state` is not one of `sources`; `subject` is named in the message.
        """
        if state not in self.sources:
            allowed = ", ".join(sorted(self.sources)) or "no state"
            raise IllegalTransitionError(f"{self.name} of {subject} in state {state}; allowed from {allowed}")
        return self.target


def as_markdown(transitions: list[Transition[StateT]]) -> str:
    """Return the transitions as a Markdown table; a test compares it with the documentation."""
    rows = [
        f"| `{each.name}` | {', '.join(f'`{state}`' for state in sorted(each.sources)) or '(new)'} "
        f"| `{each.target}` |"
        for each in transitions
    ]
    return "\n".join(["| transition | from | to |", "| --- | --- | --- |", *rows])
