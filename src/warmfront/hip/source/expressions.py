"""Determine what the expressions of a kernel depend on: only the block, the thread, or memory.

All answers are conservative, because the meaning of a name is inferred only from its form.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from warmfront.hip.source.block_plan import Variable, VariableRole
from warmfront.hip.source.declarations import PURE_CALLS
from warmfront.hip.source.lexer import TokenKind

if TYPE_CHECKING:
    from warmfront.hip.source.edits import TokenEditor
    from warmfront.hip.source.file_facts import FileFacts, Kernel
    from warmfront.hip.source.kernel_statements import TokenRange

BARRIERS = frozenset({"__syncthreads", "__syncwarp"})
SHUFFLES = frozenset(f"__shfl{how}{sync}" for how in ("", "_up", "_down", "_xor") for sync in ("", "_sync"))
_UNIFORM_BUILTINS = frozenset({"blockIdx", "blockDim", "gridDim"})
_TYPES = """int unsigned signed long short char bool float double size_t const static_cast auto true false
int8_t uint8_t int16_t uint16_t int32_t uint32_t int64_t uint64_t"""
_TYPE_WORDS = frozenset(_TYPES.split())
_SYMBOLS = "+ - * / % ( ) < > <= >= == != && || ! & | ^ ~ << ? : . ,"
_OPERATORS = frozenset(_SYMBOLS.split())


class Purity(NamedTuple):
    """The dependencies of an expression without side effects."""

    uniform: bool
    by_x: bool
    needs: tuple[Variable, ...]


class Expressions:
    """An analysis of the expressions of one kernel."""

    def __init__(self, editor: TokenEditor, kernel: Kernel, facts: FileFacts) -> None:
        self._editor = editor
        self._kernel = kernel
        self._facts = facts

    def waits(self, tokens: TokenRange) -> bool:
        """Return whether a thread that evaluates the expression may wait for others."""
        return any(self._editor.text(i).startswith(self._facts.waiting_prefixes) for i in tokens)

    def is_call(self, index: int) -> bool:
        """Return whether the token is the name of a function that is called."""
        if self._editor.kind(index) is not TokenKind.NAME:
            return False
        after = self._editor.text(index + 1)
        if after == "<" and self._editor.text(index) not in _TYPE_WORDS:
            # A template's call; a comparison `a < b > (c)` is not written in kernels.
            return any(
                self._editor.text(i) == ">" and self._editor.text(i + 1) == "("
                for i in range(index, index + 12)
            )
        return after == "(" and self._editor.text(index) not in {"if", "for", "while", "switch", "return"}

    @staticmethod
    def is_pure_call(name: str) -> bool:
        """Return whether the function has no side effect and reads no built-in variable."""
        return name in PURE_CALLS or name in BARRIERS or name in SHUFFLES or name in _TYPE_WORDS

    def ends_operand(self, index: int) -> bool:
        """Return whether the token can be the last one of an operand."""
        kind = self._editor.kind(index)
        return kind in {TokenKind.NAME, TokenKind.NUMBER} or self._editor.text(index) in {")", "]"}

    def purity(self, tokens: TokenRange, scope: dict[str, Variable]) -> Purity | None:
        """Return what the expression depends on; None if it reads memory or could have an effect."""
        found = Purity(uniform=True, by_x=False, needs=())
        for index in tokens:
            part = self._purity_of_token(index, scope)
            if part is None:
                return None
            needs = {variable.number: variable for variable in (*found.needs, *part.needs)}
            found = Purity(found.uniform and part.uniform, found.by_x or part.by_x, tuple(needs.values()))
        return found if len(tokens) else None

    def _purity_of_token(  # noqa: PLR0911 - one per kind of token
        self, index: int, scope: dict[str, Variable]
    ) -> Purity | None:
        text, kind = self._editor.text(index), self._editor.kind(index)
        harmless = Purity(uniform=True, by_x=False, needs=())
        if kind is TokenKind.NUMBER:
            return harmless
        if kind is not TokenKind.NAME:
            is_unary = text in {"*", "&"} and not self.ends_operand(index - 1)
            return harmless if text in _OPERATORS and not is_unary else None
        if text == "threadIdx":
            return Purity(uniform=False, by_x=self._editor.text(index + 2) not in {"y", "z"}, needs=())
        variable = scope.get(text)
        if self._editor.text(index - 1) == ".":
            return harmless
        if variable is None:
            return harmless if self._is_constant(text, index) else None
        if variable.role is VariableRole.REPEATED:
            return Purity(uniform=False, by_x=variable.by_x, needs=(variable,))
        return harmless if variable.role is VariableRole.UNIFORM else None

    def _is_constant(self, name: str, index: int) -> bool:
        if self.is_call(index):
            return name in PURE_CALLS
        return (
            name in _UNIFORM_BUILTINS
            or name in self._kernel.parameters
            or name in self._kernel.template_names
            or name in self._facts.constants
            or name in _TYPE_WORDS
            or name in {"warpSize", "INFINITY"}
        )

    def is_affine(self, tokens: TokenRange | None, scope: dict[str, Variable]) -> bool:
        """Return whether an integer expression is a sum in which threadIdx.x occurs once, by itself."""
        if tokens is None:
            return False
        terms: list[list[int]] = [[]]
        signs = ["+"]
        index = tokens.first
        while index < tokens.end:
            text = self._editor.text(index)
            if text in {"+", "-"} and terms[-1]:
                terms.append([])
                signs.append(text)
            elif text in {
                "<",
                ">",
                "<=",
                ">=",
                "==",
                "!=",
                "&&",
                "||",
                "&",
                "|",
                "^",
                "<<",
                "?",
                ":",
                "~",
                "!",
            }:
                return False
            else:
                last = self._editor.partner(index) if text == "(" else index
                terms[-1] += range(index, (last or index) + 1)
                index = last or index
            index += 1
        varying = [number for number, term in enumerate(terms) if self._varies(term, scope)]
        if len(varying) != 1 or signs[varying[0]] != "+":
            return False
        texts = [self._editor.text(i) for i in terms[varying[0]]]
        if texts[:3] == ["(", "int", ")"]:
            texts = texts[3:]
        variable = scope.get(texts[0])
        return texts == ["threadIdx", ".", "x"] or (
            len(texts) == 1 and variable is not None and variable.affine
        )

    def _varies(self, term: list[int], scope: dict[str, Variable]) -> bool:
        for index in term:
            text = self._editor.text(index)
            variable = scope.get(text) if self._editor.text(index - 1) != "." else None
            if (variable and variable.by_x) or (
                text == "threadIdx" and self._editor.text(index + 2) not in {"y", "z"}
            ):
                return True
        return False
