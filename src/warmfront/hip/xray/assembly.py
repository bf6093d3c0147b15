"""Reads what the compiler wrote: each kernel's instructions with their lines and loops, and its figures.

It takes the compiler's text as it is and draws no conclusions. The author's file is the one that `#line`
named.
"""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from warmfront.hip.trailer import SOURCE_NAME

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


@dataclass(frozen=True)
class Instruction:
    """One instruction, and where it came from."""

    mnemonic: str
    operands: str
    line: int | None  #: the author's, None where the compiler knows none
    depth: int  #: how many loops it stands in
    loop: str | None  #: the label of the innermost of them
    block: int  #: which basic block of its function it is in, counted from 0
    note: str = ""  #: the compiler's own comment

    @property
    def text(self) -> str:
        """As the assembler reads it."""
        return f"{self.mnemonic} {self.operands}".rstrip()


@dataclass
class AssemblyFunction:
    """The code of one function."""

    symbol: str
    instructions: list[Instruction] = field(default_factory=list)
    labels: dict[str, int] = field(
        default_factory=dict
    )  #: label → index of the instruction that it stands at
    parents: dict[str, str | None] = field(default_factory=dict)  #: loop → the loop around it
    info: dict[str, int] = field(default_factory=dict)  #: the compiler's own summary, by its names


@dataclass(frozen=True)
class Assembly:
    """All functions of a file, and the metadata of those that are kernels."""

    functions: dict[str, AssemblyFunction]
    metadata: dict[str, dict[str, str]]  #: kernel's symbol → key without its dot → value

    def kernels(self) -> Iterator[tuple[AssemblyFunction, dict[str, str]]]:
        """Each kernel with its metadata, in the order of the file."""
        for symbol, function in self.functions.items():
            if symbol in self.metadata:
                yield function, self.metadata[symbol]


_BEGIN = re.compile(r"; -- Begin function (\S+)")
_LABEL = re.compile(r"^(?:(\.LBB\w+):|; %bb\.\d+:)\s*(?:;(.*))?$")
_LOC = re.compile(r"^\t\.loc\t\d+ (\d+) .*?;(.*)$")
_FRAME = re.compile(rf"(?:^|[\s/]){re.escape(SOURCE_NAME)}:(\d+):\d+")
_INSTRUCTION = re.compile(r"^\t([a-z]\w+)(?:[ \t]+([^;]*?))?\s*(?:;(.*))?$")
_HEADER = re.compile(r"=>\s*This (?:Inner )?Loop Header: Depth=(\d+)")
_INSIDE = re.compile(r"in Loop: Header=(BB\w+) Depth=(\d+)")
_PARENT = re.compile(r"Parent Loop (BB\w+) Depth=(\d+)")
_INFO = re.compile(r"^; (\w+)\s*[:=] (\d+)\b")


def read_assembly(text: str) -> Assembly:
    """The functions of an assembly file of LLVM's AMDGPU backend."""
    code, _, rest = text.partition("\t.amdgpu_metadata\n")
    reader = _AssemblyReader()
    for line in code.splitlines():
        reader.read(line)
    return Assembly(reader.functions, dict(_read_metadata(rest.partition("\t.end_amdgpu_metadata")[0])))


class _AssemblyReader:
    """Goes through the lines once, and remembers in which function, block, loop and source line it is."""

    def __init__(self) -> None:
        self.functions: dict[str, AssemblyFunction] = {}
        self._function: AssemblyFunction | None = None
        self._line: int | None = None
        self._block = 0
        self._depth = 0
        self._loop: str | None = None
        self._label: str | None = None
        self._around: list[str] = []  # the parents that the comments of a loop's header name

    def read(self, line: str) -> None:
        if begin := _BEGIN.search(line):
            self._function = self.functions.setdefault(begin[1], AssemblyFunction(begin[1]))
            self._line, self._block, self._depth, self._loop, self._label = None, 0, 0, None, None
        elif self._function is None:
            return
        elif line.startswith("\t"):
            self._read_inside(self._function, line)
        elif label := _LABEL.match(line):
            self._read_label(self._function, label[1], label[2] or "")
        elif line.lstrip().startswith(";"):
            self._read_comment(self._function, line)

    def _read_inside(self, function: AssemblyFunction, line: str) -> None:
        if line.startswith("\t.loc\t"):
            if loc := _LOC.match(line):
                self._line = _author_line(loc[2])
        elif line[1:2] not in {".", ";"} and (found := _INSTRUCTION.match(line)):
            function.instructions.append(
                Instruction(
                    mnemonic=found[1],
                    operands=found[2] or "",
                    line=self._line,
                    depth=self._depth,
                    loop=self._loop,
                    block=self._block,
                    note=(found[3] or "").strip(),
                )
            )

    def _read_label(self, function: AssemblyFunction, label: str | None, comment: str) -> None:
        self._block += 1
        self._depth, self._loop, self._around = 0, None, []
        self._label = label and label.removeprefix(".L")
        if self._label:
            function.labels[self._label] = len(function.instructions)
        self._read_loop(function, comment)

    def _read_comment(self, function: AssemblyFunction, line: str) -> None:
        if info := _INFO.match(line):
            function.info.setdefault(info[1], int(info[2]))
        else:
            self._read_loop(function, line)

    def _read_loop(self, function: AssemblyFunction, comment: str) -> None:
        if header := _HEADER.search(comment):
            if self._label:
                self._depth, self._loop = int(header[1]), self._label
                function.parents[self._label] = self._around[-1] if self._around else None
        elif parent := _PARENT.search(comment):
            self._around.append(parent[1])
        elif inside := _INSIDE.search(comment):
            self._depth, self._loop = int(inside[2]), inside[1]


def _author_line(frames: str) -> int | None:
    """The author's line in `file:line:col @[ caller:line:col ]`: the innermost, 0 being none."""
    found = _FRAME.search(frames)
    return int(found[1]) or None if found else None


def _read_metadata(text: str) -> Iterator[tuple[str, dict[str, str]]]:
    """The entries under `amdhsa.kernels`: as much of YAML as the compiler writes there."""
    lines = deque(text.partition("amdhsa.kernels:")[2].splitlines())
    entry: dict[str, str] = {}
    for line in lines:
        if line.startswith("  - ."):
            yield from _named(entry)
            entry = {}
        elif line and not line.startswith(" "):
            break
        if (found := re.match(r"^  [ -] \.(\w+):\s*(.*)$", line)) and found[2]:
            entry[found[1]] = found[2].strip("'")
    yield from _named(entry)


def _named(entry: dict[str, str]) -> Iterable[tuple[str, dict[str, str]]]:
    return [(entry["name"], entry)] if "name" in entry else []
