"""Reads what g++, clang, the assembler and the linker print, into messages with their places.

It only reads: what a message means to an author is `diagnose`'s to say.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum


class Severity(StrEnum):
    """How bad a message is, and who says it."""

    ERROR = "error"
    WARNING = "warning"
    ASSEMBLER = "assembler"  #: an error, from the assembler
    LINKER = "linker"  #: an error, from the linker or the loader


@dataclass(frozen=True)
class Place:
    """A position in a file, from 1; column 0 where none was given."""

    file: str
    line: int
    column: int = 0


@dataclass(frozen=True)
class Note:
    """What a compiler adds to a message."""

    place: Place
    text: str


@dataclass(frozen=True)
class Message:
    """One complaint, with the way that led to it and what was added."""

    severity: Severity
    text: str
    place: Place | None
    path: tuple[Place, ...] = ()  #: where templates were used and files included, the innermost first
    notes: list[Note] = field(default_factory=list)


_LOCATED = re.compile(r"^(?P<file>[^:\n]+):(?P<line>\d+):(?:(?P<column>\d+):)?\s+(?P<rest>.+)$")
_SEVERE = re.compile(
    r"^(?P<severity>fatal error|error|warning|note|Error|Warning|Fatal error): +(?P<text>.*)$"
)
_INCLUDED = re.compile(r"^(?:In file included|\s+)\s*from (?P<file>[^:\n]+):(?P<line>\d+)(?::\d+)?[,:]$")
_HEADING = re.compile(r"^[^:\n]+: (?:In|At) .*:$")
_LINKED = re.compile(r"undefined reference to|multiple definition of|undefined symbol|duplicate symbol")
_SEVERITIES = {
    "error": Severity.ERROR,
    "fatal error": Severity.ERROR,
    "warning": Severity.WARNING,
    "Error": Severity.ASSEMBLER,
    "Fatal error": Severity.ASSEMBLER,
    "Warning": Severity.WARNING,
}


#: An author can make a compiler print anything; nobody reads longer lines, and patterns must end.
_LONGEST_LINE = 2000


def parse_messages(output: str) -> list[Message]:
    """Every message in a compiler's output, in its order."""
    reader = _Reader()
    for line in output.splitlines():
        reader.read(line[:_LONGEST_LINE])
    return reader.messages


class _Reader:
    """Keeps what g++ says before a message until the message comes."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self._required: list[Place] = []
        self._included: list[Place] = []

    def read(self, line: str) -> None:
        """Take one line of output."""
        if included := _INCLUDED.match(line):
            if line.startswith("In"):
                self._included.clear()
            self._included.append(Place(included["file"], int(included["line"])))
        elif located := _LOCATED.match(line):
            place = Place(located["file"], int(located["line"]), int(located["column"] or 0))
            self._read_located(place, located["rest"])
        elif _LINKED.search(line):
            self.messages.append(Message(Severity.LINKER, line, None))
        elif _HEADING.match(line):
            self._required.clear()

    def _read_located(self, place: Place, rest: str) -> None:
        severe = _SEVERE.match(rest)
        if severe is None:
            if "required" in rest or "expansion of" in rest or "inlined from" in rest:
                self._required.append(place)
            elif _LINKED.search(rest):
                self.messages.append(Message(Severity.LINKER, rest, place))
        elif severe["severity"] == "note":
            if self.messages:
                self.messages[-1].notes.append(Note(place, severe["text"].strip()))
        else:
            path = (*self._required, *self._included)
            self._included.clear()
            severity = _SEVERITIES[severe["severity"]]
            self.messages.append(Message(severity, severe["text"], place, path))
