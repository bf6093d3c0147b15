"""Parser for assembly: functions, instructions with their kinds, source lines and loops, kernel metadata.

It only parses; other modules analyze the result. The author's file is the one named by `#line`.
"""

from __future__ import annotations

import functools
import re
from collections import deque
from dataclasses import field
from enum import StrEnum
from typing import TYPE_CHECKING

from warmfront.hip.trailer import SOURCE_NAME
from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


@dataclass(frozen=True)
class Instruction:
    """One instruction and its position in the source and the loops."""

    mnemonic: str
    operands: str
    line: int | None  #: in the author's source; None if the compiler gives none
    depth: int  #: number of enclosing loops
    loop: str | None  #: label of the innermost loop
    block: int  #: index of its basic block within the function
    note: str = ""  #: the compiler's own comment

    @property
    def text(self) -> str:
        """The instruction in assembler syntax."""
        return f"{self.mnemonic} {self.operands}".rstrip()


@dataclass
class AssemblyFunction:
    """One function of the assembly."""

    symbol: str
    instructions: list[Instruction] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)  #: the index of the next instruction, by label
    parents: dict[str, str | None] = field(default_factory=dict)  #: the enclosing loop, by loop
    info: dict[str, int] = field(default_factory=dict)  #: the compiler's summary, under the compiler's names


@dataclass(frozen=True)
class Assembly:
    """All functions of a file, and the metadata of the kernels among them."""

    functions: dict[str, AssemblyFunction]
    metadata: dict[str, dict[str, str]]  #: by a kernel's symbol, then by key without its leading dot

    def kernels(self) -> Iterator[tuple[AssemblyFunction, dict[str, str]]]:
        """Yield each kernel with its metadata, in file order."""
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
    """Parse an assembly file of LLVM's AMDGPU backend."""
    code, _, rest = text.partition("\t.amdgpu_metadata\n")
    reader = _AssemblyReader()
    for line in code.splitlines():
        reader.read(line)
    return Assembly(reader.functions, dict(_read_metadata(rest.partition("\t.end_amdgpu_metadata")[0])))


class _AssemblyReader:
    """A single-pass reader that tracks the current function, block, loop and source line."""

    def __init__(self) -> None:
        self.functions: dict[str, AssemblyFunction] = {}
        self._function: AssemblyFunction | None = None
        self._line: int | None = None
        self._block = 0
        self._depth = 0
        self._loop: str | None = None
        self._label: str | None = None
        self._enclosing: list[str] = []  # enclosing loops, as named by the comments of a loop header

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
        elif line[1:2] not in {".", ";"} and (parsed := _INSTRUCTION.match(line)):
            function.instructions.append(
                Instruction(
                    mnemonic=parsed[1],
                    operands=parsed[2] or "",
                    line=self._line,
                    depth=self._depth,
                    loop=self._loop,
                    block=self._block,
                    note=(parsed[3] or "").strip(),
                )
            )

    def _read_label(self, function: AssemblyFunction, label: str | None, comment: str) -> None:
        self._block += 1
        self._depth, self._loop, self._enclosing = 0, None, []
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
                function.parents[self._label] = self._enclosing[-1] if self._enclosing else None
        elif parent := _PARENT.search(comment):
            self._enclosing.append(parent[1])
        elif inside := _INSIDE.search(comment):
            self._depth, self._loop = int(inside[2]), inside[1]


def _author_line(frames: str) -> int | None:
    """Return the innermost author line in `file:line:col @[ caller:line:col ]`; line 0 means none."""
    frame = _FRAME.search(frames)
    return int(frame[1]) or None if frame else None


def _read_metadata(text: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the entries under `amdhsa.kernels`; parses only the subset of YAML that the compiler emits."""
    lines = deque(text.partition("amdhsa.kernels:")[2].splitlines())
    entry: dict[str, str] = {}
    for line in lines:
        if line.startswith("  - ."):
            yield from _named_entry(entry)
            entry = {}
        elif line and not line.startswith(" "):
            break
        if (pair := re.match(r"^  [ -] \.(\w+):\s*(.*)$", line)) and pair[2]:
            entry[pair[1]] = pair[2].strip("'")
    yield from _named_entry(entry)


def _named_entry(entry: dict[str, str]) -> Iterable[tuple[str, dict[str, str]]]:
    return [(entry["name"], entry)] if "name" in entry else []


class InstructionKind(StrEnum):
    """Kinds of instructions, in an author's terms."""

    VALU = "vector ALU"
    MFMA = "matrix (MFMA)"
    SALU = "scalar ALU"
    SCALAR_LOAD = "scalar load"
    GLOBAL_LOAD = "global load"
    GLOBAL_STORE = "global store"
    GLOBAL_ATOMIC = "global atomic"
    LDS_READ = "LDS read"
    LDS_WRITE = "LDS write"
    LDS_ATOMIC = "LDS atomic"
    SHUFFLE = "shuffle"  #: between lanes, through the LDS crossbar
    SCRATCH = "scratch"  #: private memory of a thread, which is located in global memory
    BRANCH = "branch"
    CALL = "call"
    WAIT = "wait"
    BARRIER = "barrier"
    OTHER = "other"


#: The first match decides.
_KINDS = (
    (r"v_mfma_|v_smfmac_", InstructionKind.MFMA),
    (r"v_", InstructionKind.VALU),
    (r"s_waitcnt|s_wait_", InstructionKind.WAIT),
    (r"s_barrier", InstructionKind.BARRIER),
    (r"s_swappc|s_setpc|s_call", InstructionKind.CALL),
    (r"s_cbranch|s_branch|s_endpgm", InstructionKind.BRANCH),
    (r"s_load_|s_buffer_load_|s_scratch_load_", InstructionKind.SCALAR_LOAD),
    (
        r"s_nop|s_sleep|s_setprio|s_trap|s_sendmsg|s_icache|s_dcache|s_code_end|s_inst_prefetch",
        InstructionKind.OTHER,
    ),
    (r"s_", InstructionKind.SALU),
    (r"scratch_", InstructionKind.SCRATCH),
    (r"(?:global|flat|buffer)_atomic_", InstructionKind.GLOBAL_ATOMIC),
    (r"(?:global|flat|buffer)_load_", InstructionKind.GLOBAL_LOAD),
    (r"(?:global|flat|buffer)_store_", InstructionKind.GLOBAL_STORE),
    (r"ds_(?:b?permute|swizzle|bpermute)", InstructionKind.SHUFFLE),
    (r"ds_(?:read|load)", InstructionKind.LDS_READ),
    (r"ds_(?:write|store)", InstructionKind.LDS_WRITE),
    (r"ds_nop|buffer_(?:wbl2|inv|gl)", InstructionKind.OTHER),
    (r"ds_", InstructionKind.LDS_ATOMIC),
)
_PATTERN = re.compile("|".join(f"(?P<k{i}>{names})" for i, (names, _) in enumerate(_KINDS)))

#: gfx90a accesses scratch through a buffer whose descriptor is always in the first four scalar registers.
_SCRATCH_BUFFER = re.compile(r"\bs\[0:3\]")

_WIDTHS = (
    (re.compile(r"dwordx4|b128"), 16),
    (re.compile(r"dwordx3|b96"), 12),
    (re.compile(r"dwordx2|b64|u64|i64|f64|_x2|2_b32|2st64_b32|pk_add_f16|pk_add_bf16"), 8),
    (re.compile(r"byte|_[ui]8|_b8"), 1),
    (re.compile(r"short|_[ui]16|_b16|d16"), 2),
)


def kind_of(mnemonic: str, operands: str = "") -> InstructionKind:
    """Return the kind of an instruction."""
    kind = _kind_by_mnemonic(mnemonic)
    if mnemonic.startswith("buffer_") and kind in {InstructionKind.GLOBAL_LOAD, InstructionKind.GLOBAL_STORE}:
        return InstructionKind.SCRATCH if _SCRATCH_BUFFER.search(operands) else kind
    return kind


@functools.cache  # a few hundred mnemonics exist, and a kernel uses some of them thousands of times
def _kind_by_mnemonic(mnemonic: str) -> InstructionKind:
    match = _PATTERN.match(mnemonic)
    return _KINDS[int((match.lastgroup or "k0")[1:])][1] if match else InstructionKind.OTHER


@functools.cache
def width_of(mnemonic: str) -> int:
    """Return the bytes that a load or store moves per lane."""
    if "2_b64" in mnemonic or "2st64_b64" in mnemonic:
        return 16
    return next((width for pattern, width in _WIDTHS if pattern.search(mnemonic)), 4)
