"""Parse the output of g++, clang, the assembler and the linker into messages with positions.

The module `diagnose` explains the messages to an author.
"""

from __future__ import annotations

import re
from dataclasses import field
from enum import StrEnum

from warmfront.value_class import dataclass


class Severity(StrEnum):
    """The severity of a message, and the program that printed it."""

    ERROR = "error"
    WARNING = "warning"
    ASSEMBLER = "assembler"  #: an error, from the assembler
    LINKER = "linker"  #: an error, from the linker or the loader


@dataclass(frozen=True)
class Place:
    """A position in a file; lines and columns begin at 1. Column 0 means that none was printed."""

    file: str
    line: int
    column: int = 0


@dataclass(frozen=True)
class Note:
    """A note that a compiler adds to a message."""

    place: Place
    text: str


@dataclass(frozen=True)
class Message:
    """One error or warning, with the path of instantiations and includes that led to it, and its notes."""

    severity: Severity
    text: str
    place: Place | None
    path: tuple[Place, ...] = ()  #: where templates were instantiated and files included, innermost first
    notes: list[Note] = field(default_factory=list)


_LOCATED = re.compile(r"^(?P<file>[^:\n]+):(?P<line>\d+):(?:(?P<column>\d+):)?\s+(?P<rest>.+)$")
_SEVERE = re.compile(
    r"^(?P<severity>fatal error|error|warning|note|Error|Warning|Fatal error): +(?P<text>.*)$"
)
_INCLUDED = re.compile(r"^(?:In file included|\s+)\s*from (?P<file>[^:\n]+):(?P<line>\d+)(?::\d+)?[,:]$")
_HEADING = re.compile(r"^[^:\n]+: (?:In|At) .*:$")
_LINKED = re.compile(
    r"undefined reference to|multiple definition of|undefined (?:hidden |protected )?symbol|duplicate symbol"
)
_SEVERITIES = {
    "error": Severity.ERROR,
    "fatal error": Severity.ERROR,
    "warning": Severity.WARNING,
    "Error": Severity.ASSEMBLER,
    "Fatal error": Severity.ASSEMBLER,
    "Warning": Severity.WARNING,
}


#: An author can make a compiler print anything; the limit bounds the time that the patterns take.
_MAX_LINE_CHARS = 2000


def parse_messages(output: str) -> list[Message]:
    """Return every message in a compiler's output, in order."""
    parser = _Parser()
    for line in output.splitlines():
        parser.parse_line(line[:_MAX_LINE_CHARS])
    return parser.messages


class _Parser:
    """A parser that collects messages, and keeps the context lines that g++ prints before a message."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self._required: list[Place] = []
        self._included: list[Place] = []

    def parse_line(self, line: str) -> None:
        """Parse one line of output."""
        if included := _INCLUDED.match(line):
            if line.startswith("In"):
                self._included.clear()
            self._included.append(Place(included["file"], int(included["line"])))
        elif located := _LOCATED.match(line):
            place = Place(located["file"], int(located["line"]), int(located["column"] or 0))
            self._parse_located(place, located["rest"])
        elif _LINKED.search(line):
            self.messages.append(Message(Severity.LINKER, line, None))
        elif _HEADING.match(line):
            self._required.clear()

    def _parse_located(self, place: Place, rest: str) -> None:
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
