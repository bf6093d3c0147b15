"""Recognize declarations of local variables, and the names that an expression or a statement can change.

All functions work on tokens and are conservative: only a clear declaration counts as one, and a name that may
be changed counts as changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from warmfront.hip.source.kernel_statements import TokenRange, Unsupported
from warmfront.hip.source.lexer import TokenKind

if TYPE_CHECKING:
    from warmfront.hip.source.edits import TokenEditor

ASSIGNMENTS = frozenset({"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<="})
_FUNDAMENTAL = frozenset({"unsigned", "signed", "long", "short", "int", "float", "double", "char", "bool"})
_QUALIFIERS = frozenset({"const", "constexpr", "static", "__restrict__", "__restrict"})
_CASTS = frozenset({"static_cast", "reinterpret_cast"})
_KEYWORDS = frozenset(
    {
        "return",
        "else",
        "delete",
        "new",
        "throw",
        "sizeof",
        "using",
        "typedef",
        "struct",
        "class",
        "enum",
        "union",
    }
    | {"break", "continue", "operator", "template", "typename"}
)

_MATH = """
exp exp2 exp10 expm1 log log2 log10 log1p pow sqrt rsqrt cbrt sin cos tan asin acos atan atan2
sinh cosh tanh asinh acosh atanh erf erfc erfinv erfcinv tgamma lgamma fma fmax fmin fabs fmod
floor ceil round trunc rint nearbyint copysign hypot max min abs ldexp
"""
_OTHER = """
__ldg __fdividef __frcp_rn __fsqrt_rn __fmaf_rn __fadd_rn __fmul_rn __fsub_rn __fdiv_rn
__float2half __half2float __float2bfloat16 __bfloat162float __float2int_rn __int2float_rn
__float_as_int __int_as_float __float_as_uint __uint_as_float __popc __popcll __clz __ffs __brev
make_float2 make_float3 make_float4 make_int2 make_int4 isnan isinf isfinite int float double
unsigned bool char short long size_t static_cast reinterpret_cast const_cast sizeof alignof
decltype
"""

#: Functions without side effects that use no built-in variable: the order of threads does not matter to them.
PURE_CALLS = frozenset(
    [f"{prefix}{name}{suffix}" for name in _MATH.split() for prefix in ("", "__") for suffix in ("", "f")]
) | frozenset(_OTHER.split())


class Declarator(NamedTuple):
    """One variable of a declaration."""

    name: str
    type_text: str  #: of the alias `using t = …`, without qualifiers that forbid an assignment
    array_text: str  #: such as `[4][4]`; empty for other variables
    init: TokenRange | None  #: the tokens after `=`
    is_constant: bool  #: declared `const` or `constexpr`


class Declaration(NamedTuple):
    """A declaration of local variables."""

    variables: tuple[Declarator, ...]
    is_constexpr: bool


def parse_declaration(editor: TokenEditor, tokens: TokenRange) -> Declaration | None:
    """Return the declaration in `tokens`, which end with its semicolon; None if it is not a declaration.

    Raises:
        Unsupported: it looks like a declaration that is not understood.
    """
    index = tokens.first
    words: list[str] = []
    has_type = False
    while index < tokens.end:
        text = editor.text(index)
        if text in _QUALIFIERS:
            words.append(text)
        elif text in _FUNDAMENTAL or text == "auto":
            has_type = True
            words.append(text)
        elif not has_type and editor.kind(index) is TokenKind.NAME and text not in _KEYWORDS:
            index, spelled = _type_name(editor, index, tokens.end)
            has_type = True
            words.append(spelled)
        else:
            break
        index += 1
    follows = editor.text(index)
    if not has_type or not (editor.kind(index) is TokenKind.NAME or follows in {"*", "&", "("}):
        return None
    is_certain = bool(_FUNDAMENTAL & set(words) or set(words) & {"const", "constexpr", "auto"})
    variables = _declarators(editor, TokenRange(index, tokens.end), words, is_certain=is_certain)
    if variables is None:
        return None
    return Declaration(tuple(variables), "constexpr" in words)


def _type_name(editor: TokenEditor, index: int, end: int) -> tuple[int, str]:
    """Return the last token of `a::b<c>` and its text."""
    spelled = editor.text(index)
    while index + 1 < end:
        text = editor.text(index + 1)
        if text == "::" and editor.kind(index + 2) is TokenKind.NAME:
            spelled += f"::{editor.text(index + 2)}"
            index += 2
        elif text == "<":
            close = closing_angle(editor, index + 1, end)
            if close is None:
                break
            spelled += " ".join(editor.text(i) for i in range(index + 1, close + 1))
            index = close
        else:
            break
    return index, spelled


def closing_angle(editor: TokenEditor, index: int, end: int) -> int | None:
    """Return the `>` that closes the `<` at `index`; None if it may be a comparison."""
    depth = 0
    while index < end:
        text = editor.text(index)
        depth += (text == "<") - (text == ">")
        if depth == 0:
            return index
        if text in {"(", "["}:
            index = editor.partner(index) or end
        elif text in {";", "{", "}", "&&", "||", ")", "]"}:
            return None
        index += 1
    return None


def _declarators(
    editor: TokenEditor, tokens: TokenRange, words: list[str], *, is_certain: bool
) -> list[Declarator] | None:
    found: list[Declarator] = []
    index = tokens.first
    while True:
        pointer = []
        while editor.text(index) in {"*", "const", "__restrict__", "__restrict"}:
            pointer.append(editor.text(index))
            index += 1
        name = editor.text(index)
        if editor.kind(index) is not TokenKind.NAME or name in _KEYWORDS:
            if is_certain:
                raise Unsupported  # a reference, a structured binding, a function
            return None
        index += 1
        array = ""
        while editor.text(index) == "[":
            close = editor.partner(index) or index
            array += "".join(f"{editor.text(i)} " for i in range(index, close + 1))
            index = close + 1
        init = None
        if editor.text(index) == "=":
            last = _end_of_initializer(editor, index + 1, tokens.end)
            init = TokenRange(index + 1, last)
            index = last
        elif editor.text(index) not in {",", ";"}:
            if is_certain or editor.text(index) == "{":
                raise Unsupported
            return None
        found.append(_declarator(name, words, pointer, array, init))
        if editor.text(index) == ";":
            return found
        index += 1


def _declarator(
    name: str, words: list[str], pointer: list[str], array: str, init: TokenRange | None
) -> Declarator:
    stars = list(pointer)
    while stars and stars[-1] != "*":
        stars.pop()
    dropped = {"static", "constexpr"} if stars else _QUALIFIERS
    type_text = " ".join([*(word for word in words if word not in dropped), *stars])
    is_constant = "constexpr" in words or ("const" in words if not stars else pointer[-1] == "const")
    return Declarator(name, type_text, array, init, is_constant)


def _end_of_initializer(editor: TokenEditor, index: int, end: int) -> int:
    """Return the comma or semicolon after an initializer."""
    while index < end:
        text = editor.text(index)
        if text in {",", ";"}:
            return index
        if text in {"(", "[", "{"}:
            index = editor.partner(index) or end
        elif text == "<" and (close := closing_angle(editor, index, end)) and editor.text(close + 1) == "(":
            index = close
        index += 1
    raise Unsupported


def is_changed(editor: TokenEditor, name: str, tokens: TokenRange) -> bool:
    """Return whether `tokens` may assign to the variable `name`, or take its address or a reference."""
    return any(editor.text(index) == name and _is_change(editor, index) for index in tokens)


def _is_change(editor: TokenEditor, index: int) -> bool:
    before, after = editor.text(index - 1), editor.text(index + 1)
    if before in {".", "->", "::"}:
        return False
    while after == "." and editor.kind(index + 2) is TokenKind.NAME:  # a component of a vector
        index += 2
        after = editor.text(index + 1)
    if after in ASSIGNMENTS or after in {"++", "--"} or before in {"++", "--"}:
        return True
    if after == ">" and editor.text(index + 2) == ">=":  # `>>=` is two tokens
        return True
    if before == "&" and not _is_operand_end(editor, index - 2):
        return True
    if before == "=" and editor.text(index - 3) == "&":  # T& r = name
        return True
    return before in {"(", ","} and after in {")", ","} and not _is_pure_argument(editor, index)


def _is_operand_end(editor: TokenEditor, index: int) -> bool:
    return (editor.kind(index) in {TokenKind.NAME, TokenKind.NUMBER} and editor.text(index) != "return") or (
        editor.text(index) in {")", "]"}
    )


def _is_pure_argument(editor: TokenEditor, index: int) -> bool:
    """Return whether the name at `index` is in parentheses, or an argument that cannot be changed."""
    while index > 0:
        index -= 1
        text = editor.text(index)
        if text in {")", "]", "}"}:
            index = editor.partner(index) or 0
        elif text in {"(", "{", "["}:
            break
    callee = index - 1
    if editor.text(index) != "(":
        return False
    if editor.text(callee) == ">":
        return any(editor.text(i) in _CASTS for i in range(max(0, callee - 8), callee))
    if editor.kind(callee) is not TokenKind.NAME:
        return True
    name = editor.text(callee)
    return name in PURE_CALLS or name.startswith(("__shfl", "atomic", "if", "while", "for"))
