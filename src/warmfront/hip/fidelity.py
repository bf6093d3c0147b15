"""Determine from the names in a source whether the CPU runtime computes the same bits as a GPU.

A source is approximate if it uses an operation whose last bits a GPU may compute differently: the builtins
that `builtins.py` lists as such, mathematical functions, hipCUB, rocPRIM and rocWMMA. All other operations
give the same bits.
"""

from __future__ import annotations

import re

from warmfront.hip.builtins import Fidelity, all_builtins
from warmfront.hip.source.inline_assembly import matrix_builtins
from warmfront.hip.source.lexer import LexError, Token, TokenKind, tokenize
from warmfront.value_class import dataclass

_MAX_NAMES = 3
_FUNCTIONS = re.compile(
    r"(?:__)?(?:exp(?:2|10|m1)?|log(?:2|10|1p)?|a?(?:sin|cos|tan)h?|atan2|sincos(?:pi)?|sinpi|cospi|pow|cbrt|"
    r"rcbrt|rsqrt|erf(?:c|cx|inv|cinv)?|[lt]gamma|hypot|rhypot|normcdf(?:inv)?)f?|"
    r"h2?(?:exp(?:2|10)?|log(?:2|10)?|sin|cos|rsqrt|rcp)"
)
_LAST_BIT = "the C library's result can differ from a GPU's in the last bit"
_ORDER = "on a GPU, the library adds floating-point numbers in another order"
_MATRICES = "it uses matrix instructions, whose sums a GPU rounds differently"


@dataclass(frozen=True)
class SourceFidelity:
    """The fidelity of a source: whether a GPU computes the same bits, and which operations differ."""

    level: Fidelity
    reason: str = ""


def assess_fidelity(source: str) -> SourceFidelity:
    """Return the fidelity of a source on the CPU runtime. Names in dead code count as well."""
    try:
        tokens = tokenize(source)
    except LexError:  # the compiler explains it
        return SourceFidelity(Fidelity.EXACT)
    by_reason: dict[str, dict[str, None]] = {}  # the names in the order of the source
    for line in (tokens.code, *(directive.tokens for directive in tokens.directives)):
        for index, token in enumerate(line):
            assembly = matrix_builtins(token.text) if token.kind is TokenKind.STRING else ()
            for name in (token.text,) if token.kind is TokenKind.NAME else assembly:
                if reason := _reason(name, line, index):
                    by_reason.setdefault(reason, {})[name] = None
    if not by_reason:
        return SourceFidelity(Fidelity.EXACT)
    reasons = (f"{_enumerate([*names])}: {reason}" for reason, names in by_reason.items())
    return SourceFidelity(Fidelity.APPROXIMATE, "; ".join(reasons) + ".")


def _reason(name: str, line: list[Token], index: int) -> str:
    """Return why the name at `index` makes a result approximate; empty if it does not."""
    builtin = all_builtins().get(name)
    if builtin:
        return builtin.note if builtin.fidelity is Fidelity.APPROXIMATE else ""
    if name == "rocwmma":
        return _MATRICES
    if name in {"hipcub", "rocprim"}:
        return _ORDER
    is_called = index + 1 < len(line) and line[index + 1].text == "("
    is_member = index > 0 and line[index - 1].text in {".", "->"}
    return _LAST_BIT if is_called and not is_member and _FUNCTIONS.fullmatch(name) else ""


def _enumerate(names: list[str]) -> str:
    more = len(names) - _MAX_NAMES
    return ", ".join(names[:_MAX_NAMES]) + (f" and {more} more" if more > 0 else "")
