"""Translate inline assembly whose meaning is known to calls of the CPU runtime.

Waits, barriers, conversions, simple arithmetic, dense matrix instructions, and loads and stores with the
author's operands are supported. Any other statement is left unchanged, so that the compiler rejects it;
`unknown_instruction` returns the reason.
"""

from __future__ import annotations

import re
import struct
from typing import TYPE_CHECKING

from warmfront.hip.builtins import PREFIX, all_builtins
from warmfront.hip.source.edits import spell
from warmfront.hip.source.lexer import TokenKind
from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from warmfront.hip.source.edits import TokenEditor
    from warmfront.hip.source.lexer import Token

ASSEMBLY = frozenset({"asm", "__asm", "__asm__"})
HEADER = "hipcpu/builtins/assembly.h"

_QUALIFIERS = frozenset({"volatile", "__volatile__", "inline", "__inline__"})
_WITHOUT_EFFECT = frozenset(
    ("s_nop", "s_sleep", "s_setprio", "v_nop", "s_dcache_wb", "buffer_wbl2", "buffer_inv", "buffer_wbinvl1")
)
#: Instructions of one lane and the number of their sources.
_ARITHMETIC = {
    name: sources
    for sources, names in {
        0: "s_memtime s_memrealtime",
        1: "v_mov_b32 v_mov_b64 s_mov_b32 v_exp_f32 v_log_f32 v_rcp_f32 v_rsq_f32 v_sqrt_f32 v_floor_f32 "
           "v_cvt_f32_f16 v_cvt_f16_f32 v_cvt_f32_i32 v_cvt_f32_u32 v_cvt_i32_f32 v_cvt_u32_f32 "
           "v_cvt_f32_fp8 v_cvt_f32_bf8 v_cvt_f32_ubyte0 v_cvt_f32_ubyte1 v_cvt_f32_ubyte2 v_cvt_f32_ubyte3 "
           "v_not_b32 v_readfirstlane_b32",
        2: "v_add_f32 v_sub_f32 v_mul_f32 v_max_f32 v_min_f32 v_add_u32 v_sub_u32 v_mul_lo_u32 v_and_b32 "
           "v_or_b32 v_xor_b32 v_lshlrev_b32 v_lshrrev_b32 v_ashrrev_i32 v_max_i32 v_min_i32 v_max_u32 "
           "v_min_u32 v_fmac_f32 v_cvt_pkrtz_f16_f32 v_pk_add_f32 v_pk_mul_f32 v_pk_add_f16 v_pk_mul_f16 "
           "v_mbcnt_lo_u32_b32 v_mbcnt_hi_u32_b32 ds_bpermute_b32 ds_permute_b32 v_dot2c_f32_f16 "
           "v_add_f16 v_sub_f16 v_mul_f16 v_max_f16 v_min_f16 v_pk_max_f16 v_pk_min_f16 v_cvt_pk_fp8_f32 "
           "v_cvt_pk_bf8_f32 "
           + " ".join(f"v_cmp_{relation}_{kind}" for kind, relations in
                      {"f32": "lt le eq gt ge lg neq u o", "i32": "lt le eq gt ge ne",
                       "u32": "lt le eq gt ge ne"}.items() for relation in relations.split()),
        3: "v_fma_f32 v_max3_f32 v_med3_f32 v_pk_fma_f32 v_pk_fma_f16 v_lshl_add_u32 v_lshl_or_b32 "
           "v_and_or_b32 v_or3_b32 v_add3_u32 v_bfe_u32 v_bfi_b32 v_perm_b32 v_alignbit_b32 "
           "v_alignbyte_b32 v_dot2_f32_f16 v_dot4_i32_i8 v_cndmask_b32 v_fma_f16",
    }.items()
    for name in names.split()
}  # fmt: skip
_SIZES = {"b8": 1, "b16": 2, "b32": 4, "b64": 8, "b96": 12, "b128": 16}
_DWORDS = {"dword": 4, "dwordx2": 8, "dwordx3": 12, "dwordx4": 16}
_NARROW = {"ubyte": (1, "false"), "sbyte": (1, "true"), "ushort": (2, "false"), "sshort": (2, "true")}
_DS_NARROW = {"u8": (1, "false"), "i8": (1, "true"), "u16": (2, "false"), "i16": (2, "true")}
_CACHE_HINTS = frozenset({"glc", "slc", "sc0", "sc1", "nt"})
_LAMBDA_SAFE = re.compile(r"[\w\s+*()-]+")


class UnknownAssemblyError(Exception):
    """The statement is not supported; the message names the part."""


@dataclass(frozen=True)
class _Statement:
    text: str
    outputs: list[tuple[str, str, str]]  #: name, constraint, expression
    inputs: list[tuple[str, str, str]]
    end: int  #: the token after the closing parenthesis


def translate_assembly(editor: TokenEditor, index: int) -> bool:
    """Translate the asm statement that begins at `index`; return whether it is supported."""
    if not editor.brackets.in_function[index]:
        return False
    try:
        statement = _parse(editor, index)
        code = _emit(statement)
    except UnknownAssemblyError:
        return False
    editor.replace(index, code)
    for used in range(index + 1, statement.end):
        editor.replace(used, "")
    return True


def unknown_instruction(editor: TokenEditor, index: int) -> str:
    """Return the unsupported part of the asm statement at `index`; empty if all of it is supported."""
    try:
        _emit(_parse(editor, index))
    except UnknownAssemblyError as error:
        return str(error)
    return ""


def _parse(editor: TokenEditor, index: int) -> _Statement:
    index += 1
    while editor.text(index) in _QUALIFIERS:
        index += 1
    close = editor.partner(index)
    if editor.text(index) != "(" or close is None:
        raise UnknownAssemblyError("the statement is not complete")
    sections: list[list[Token]] = [[]]
    depth = 0
    for token in editor.tokens[index + 1 : close]:
        depth += (token.text in {"(", "["}) - (token.text in {")", "]"})
        if depth == 0 and token.text in {":", "::"}:
            sections += [[] for _ in token.text]
        else:
            sections[-1].append(token)
    if any(
        token.kind is not TokenKind.STRING or token.text.startswith(("R", "L", "u", "U"))
        for token in sections[0]
    ):
        raise UnknownAssemblyError("the text is not a string")
    text = "".join(token.text[1:-1] for token in sections[0])
    text = text.replace("\\n", "\n").replace("\\t", " ").replace("\\\n", "")
    operands = [_operands(section) for section in (*sections[1:3], [], [])[:2]]
    return _Statement(text, operands[0], operands[1], close + 1)


def _operands(tokens: Sequence[Token]) -> list[tuple[str, str, str]]:
    """Return the operands in `[name] "=v"(expression), …`."""
    parts: list[list[Token]] = [[]]
    depth = 0
    for token in tokens:
        depth += (token.text in {"(", "[", "{"}) - (token.text in {")", "]", "}"})
        if depth == 0 and token.text == ",":
            parts.append([])
        else:
            parts[-1].append(token)
    operands = []
    for part in parts if tokens else []:
        name = ""
        if len(part) > 2 and part[0].text == "[":
            name, part = part[1].text, part[3:]  # noqa: PLW2901 - the rest of the operand
        if len(part) < 3 or part[0].kind is not TokenKind.STRING:
            raise UnknownAssemblyError("an operand is not a constraint with an expression")
        operands.append((name, part[0].text[1:-1], spell(part[1:])))
    return operands


class _Emitter:
    """A writer that emits the instructions of one statement as calls."""

    def __init__(self, statement: _Statement) -> None:
        self._statement = statement
        self._names = {}
        for number, (name, constraint, _) in enumerate((*statement.outputs, *statement.inputs)):
            variable = f"hipcpu_{number}"
            if constraint.isdigit():  # the same register as that output
                variable = f"hipcpu_{int(constraint)}"
            self._names[f"%{number}"] = variable
            if name:
                self._names[f"%[{name}]"] = variable

    def declarations(self) -> str:
        code = []
        outputs = len(self._statement.outputs)
        for number, (_, _, expression) in enumerate(self._statement.outputs):
            reference = "" if _is_element(expression) else "&"
            code.append(f"auto{reference} hipcpu_{number} = {expression};")
        for number, (_, constraint, expression) in enumerate(self._statement.inputs, outputs):
            if constraint.isdigit():
                code.append(f"::hipcpu::gcn::tie(hipcpu_{int(constraint)}, {expression});")
            elif constraint in {"n", "I", "J"}:  # clang accepts "i" for any value that it can compute
                code.append(f"constexpr auto hipcpu_{number} = {expression};")
            else:
                code.append(f"const auto hipcpu_{number} = {expression};")
        return " ".join(code)

    def results(self) -> str:
        """Return the assignments to outputs that are not references."""
        return " ".join(
            f"{expression} = hipcpu_{number};"
            for number, (_, _, expression) in enumerate(self._statement.outputs)
            if _is_element(expression)
        )

    def operand(self, word: str, *, literal: str = "") -> str:
        """Return a register operand as the name of a variable, or a literal as its bits."""
        if word in self._names:
            return self._names[word]
        if literal and re.fullmatch(r"-?(?:0x[0-9a-fA-F]+|\d+)", word):
            return f"::hipcpu::gcn::Bits({int(word, 0) & 0xFFFFFFFF}u)"
        if literal == "f32" and re.fullmatch(r"-?\d+\.\d*", word):
            bits = int.from_bytes(struct.pack("<f", float(word)), "little")
            return f"::hipcpu::gcn::Bits({bits}u)"
        raise UnknownAssemblyError(f"the operand {word}")

    def number(self, text: str) -> str:
        """Return a constant expression of numbers and constant operands, such as `%2` or `1*512+256`."""
        code = re.sub(r"%\[\w+\]|%\d+", lambda found: self.operand(found.group()), text)
        if not _LAMBDA_SAFE.fullmatch(code):
            raise UnknownAssemblyError(f"the number {text}")
        return f"({code})"

    def instruction(self, line: str) -> str:
        mnemonic, _, rest = line.partition(" ")
        mnemonic = re.sub(r"_e(?:32|64)$", "", mnemonic)
        if mnemonic == "s_waitcnt":
            return self._wait(rest)
        if mnemonic == "s_barrier":
            return "::hipcpu::bare_barrier(__LINE__);"
        if mnemonic in _WITHOUT_EFFECT:
            return ""
        words = [word for word in re.split(r"\s*,\s*|\s+", rest.strip()) if word]
        if mnemonic in _ARITHMETIC:
            if len(words) != _ARITHMETIC[mnemonic] + 1:
                raise UnknownAssemblyError(f"{mnemonic} with these operands")
            kind = mnemonic.rpartition("_")[2]
            literal = "" if "_pk_" in mnemonic else kind
            sources = (self.operand(word, literal=literal) for word in words[1:])
            return f"::hipcpu::gcn::{mnemonic}({', '.join((self.operand(words[0]), *sources))});"
        if builtin := matrix_builtin(mnemonic):
            return self._matrix(mnemonic, builtin, words)
        return self._memory(mnemonic, words)

    def _matrix(self, mnemonic: str, builtin: str, words: list[str]) -> str:
        modifiers = {"cbsz": "0", "abid": "0", "blgp": "0"}
        operands = []
        for word in words:
            name, _, value = word.partition(":")
            if name in modifiers and value:
                modifiers[name] = self.number(value)
            else:
                operands.append("::hipcpu::gcn::Bits(0u)" if word == "0" else self.operand(word))
        if len(operands) != 4:
            raise UnknownAssemblyError(f"{mnemonic} with these operands")
        return f"::hipcpu::gcn::v_mfma({builtin}, {', '.join((*operands, *modifiers.values()))}, __LINE__);"

    def _wait(self, rest: str) -> str:
        counts = {"vmcnt": "::hipcpu::kNoWait", "lgkmcnt": "::hipcpu::kNoWait", "expcnt": ""}
        if re.fullmatch(r"\s*(?:0|0x0)\s*", rest):
            return "::hipcpu::wait_for_memory(0, 0);"
        for counter, count in re.findall(r"(\w+)\s*\(([^()]*)\)", rest):
            if counter not in counts:
                raise UnknownAssemblyError(f"s_waitcnt {counter}")
            counts[counter] = self.number(count)
        if re.sub(r"\w+\s*\([^()]*\)|[&,\s]", "", rest):
            raise UnknownAssemblyError(f"s_waitcnt {rest.strip()}")
        return f"::hipcpu::wait_for_memory({counts['vmcnt']}, {counts['lgkmcnt']});"

    def _memory(self, mnemonic: str, words: list[str]) -> str:
        offset = "0"
        operands = []
        offen = False
        for word in words:
            if word.startswith("offset:"):
                offset = self.number(word.removeprefix("offset:"))
            elif word == "offen":
                offen = True
            elif word not in _CACHE_HINTS:
                operands.append(word)
        space, _, what = mnemonic.partition("_")
        action, _, size = what.partition("_")
        if space == "ds" and action in {"read2", "read2st64", "write2", "write2st64"}:
            return self._two_words_of_lds(mnemonic, operands)
        if space == "ds" and len(operands) == 2:
            return self._lds(mnemonic, action, size, operands, offset)
        if space == "global" and len(operands) == 3:
            return self._global(mnemonic, action, size, operands, offset)
        if space == "buffer" and len(operands) == 4 and offen:
            return self._buffer(mnemonic, action, size, operands, offset)
        raise UnknownAssemblyError(f"the instruction {mnemonic}")

    def _lds(self, mnemonic: str, action: str, size: str, words: list[str], offset: str) -> str:
        if action == "read" and (size in _SIZES or size in _DS_NARROW) and size not in {"b8", "b16"}:
            wide, is_signed = _DS_NARROW.get(size, (_SIZES.get(size, 0), "false"))
            return (f"::hipcpu::gcn::ds_read<{wide}, {is_signed}>({self.operand(words[0])}, "
                    f"{self.operand(words[1])}, {offset});")  # fmt: skip
        if action == "write" and size in _SIZES:
            return (f"::hipcpu::gcn::ds_write<{_SIZES[size]}>({self.operand(words[0])}, "
                    f"{self.operand(words[1])}, {offset});")  # fmt: skip
        raise UnknownAssemblyError(f"the instruction {mnemonic}")

    def _two_words_of_lds(self, mnemonic: str, words: list[str]) -> str:
        """Return an access at two offsets, which count elements, or 64 elements with `st64`."""
        action, _, size = mnemonic.removeprefix("ds_").partition("_")
        is_read = action.startswith("read")
        offsets = {"offset0": "0", "offset1": "0"}
        operands = []
        for word in words:
            name, _, value = word.partition(":")
            if name in offsets and value:
                offsets[name] = self.number(value)
            else:
                operands.append(self.operand(word))
        if size not in {"b32", "b64"} or len(operands) != (2 if is_read else 3):
            raise UnknownAssemblyError(f"the instruction {mnemonic}")
        stride = _SIZES[size] * (64 if action.endswith("st64") else 1)
        places = (f"{offset} * {stride}" for offset in offsets.values())
        name = "ds_read2" if is_read else "ds_write2"
        return f"::hipcpu::gcn::{name}<{_SIZES[size]}>({', '.join((*operands, *places))});"

    def _global(self, mnemonic: str, action: str, size: str, words: list[str], offset: str) -> str:
        base = "nullptr" if words[2] == "off" else self.operand(words[2])
        if action == "load" and (size in _DWORDS or size in _NARROW):
            wide, is_signed = _NARROW.get(size, (_DWORDS.get(size, 0), "false"))
            return (f"::hipcpu::gcn::global_load<{wide}, {is_signed}>({self.operand(words[0])}, "
                    f"{self.operand(words[1])}, {base}, {offset});")  # fmt: skip
        sizes = {**_DWORDS, "byte": 1, "short": 2}
        if action == "store" and size in sizes:
            return (f"::hipcpu::gcn::global_store<{sizes[size]}>({self.operand(words[0])}, "
                    f"{self.operand(words[1])}, {base}, {offset});")  # fmt: skip
        raise UnknownAssemblyError(f"the instruction {mnemonic}")

    def _buffer(self, mnemonic: str, action: str, size: str, words: list[str], offset: str) -> str:
        scalar = "0" if words[3] in {"0", "off"} else self.operand(words[3])
        if action in {"load", "store"} and size in _DWORDS:
            return (f"::hipcpu::gcn::buffer_{action}<{_DWORDS[size]}>({self.operand(words[0])}, "
                    f"{self.operand(words[1])}, {self.operand(words[2])}, {scalar}, {offset});")  # fmt: skip
        raise UnknownAssemblyError(f"the instruction {mnemonic}")


def matrix_builtin(mnemonic: str) -> str:
    """Return the builtin of a dense matrix instruction in either spelling; empty if it is none.

    Since gfx940 the assembler has `v_mfma_f32_32x32x1_2b_f32` for `v_mfma_f32_32x32x1f32`, the name that
    the builtin keeps.
    """
    if not mnemonic.startswith("v_mfma_"):
        return ""
    name = re.sub(r"_\d+b_", "_", mnemonic.removeprefix("v_"))
    joined = re.sub(r"(x\d+)_(?=b?f\d+$|i8$)", r"\1", name)
    names = (f"{PREFIX}{form}" for form in (name, joined, f"{joined}_1k"))
    return next((known for known in names if known in all_builtins()), "")


def matrix_builtins(text: str) -> Iterator[str]:
    """Yield the builtins of the matrix instructions that a string of assembly names."""
    return filter(None, map(matrix_builtin, re.findall(r"\bv_mfma_\w+", text)))


def _is_element(expression: str) -> bool:
    """Return whether an output may be the element of a vector, to which no reference can be bound."""
    return expression.endswith("])") and "++" not in expression and "--" not in expression


def _emit(statement: _Statement) -> str:
    """Return the statement as a block of calls, without its semicolon."""
    lines = [re.sub(r"(?:;|//).*", "", line).strip() for line in statement.text.split("\n")]
    emitter = _Emitter(statement)
    calls = " ".join(filter(None, (emitter.instruction(line) for line in lines if line)))
    if not calls:
        return "do { } while (0)"
    return f"do {{ {emitter.declarations()} {calls} {emitter.results()} }} while (0)"
