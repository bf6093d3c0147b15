"""Check the attributes of a source: none may be ignored if hipcc's clang gives it a meaning.

g++ ignores an attribute that it does not know, with a warning that no author sees. So every attribute is
looked up by its name: those that g++ honors are kept, hints to clang's optimizer and warnings are removed,
and every other attribute raises `RewriteError`. `vector_types` rewrites the attributes that make vectors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from warmfront.hip.source.edits import RewriteError
from warmfront.hip.source.lexer import TokenKind, match_brackets, split_macro
from warmfront.hip.source.vector_types import VECTOR_ATTRIBUTES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from warmfront.hip.source.edits import LineIndex, TokenEditor
    from warmfront.hip.source.lexer import Brackets, Directive, Token

GNU_ATTRIBUTE = frozenset({"__attribute__", "__attribute"})


def _names(names: str) -> frozenset[str]:
    return frozenset(names.split())


#: The attributes that g++ 12 honors, with the meaning that clang gives them.
HONORED = _names(
    "access alias aligned alloc_align alloc_size always_inline artificial assume_aligned cleanup cold "
    "common const constructor copy deprecated designated_init destructor error externally_visible "
    "fallthrough flatten format format_arg gcc_struct gnu_inline hot ifunc init_priority leaf malloc "
    "may_alias mode ms_abi ms_struct no_caller_saved_registers no_icf no_instrument_function "
    "no_profile_instrument_function no_reorder no_sanitize no_sanitize_address no_sanitize_thread "
    "no_sanitize_undefined no_stack_protector noclone nocommon noinline noipa nonnull nonstring noplt "
    "noreturn nothrow optimize packed pure retain returns_nonnull returns_twice scalar_storage_order "
    "section sentinel simd stack_protect symver sysv_abi target target_clones tls_model "
    "transparent_union unavailable uninitialized unused used visibility warn_if_not_aligned warn_unused "
    "warn_unused_result warning weak weakref zero_call_used_regs abi_tag"
)
#: The standard attributes of `[[...]]` that g++ 12 honors.
_STANDARD = _names("noreturn nodiscard maybe_unused likely unlikely fallthrough deprecated no_unique_address")
#: Attributes of clang that change neither values nor layouts: for its optimizer and its warnings.
HINTS = _names(
    "amdgpu_flat_work_group_size amdgpu_waves_per_eu amdgpu_num_sgpr amdgpu_num_vgpr "
    "amdgpu_max_num_work_groups host device global launch_bounds convergent noconvergent noduplicate "
    "nomerge optnone minsize opencl_unroll_hint loop_unroll unroll annotate annotate_type assume atomic "
    "availability no_builtin nodebug standalone_debug musttail not_tail_called disable_tail_calls "
    "noescape lifetimebound noderef align_value noalias code_align diagnose_if internal_linkage "
    "exclude_from_explicit_instantiation lto_visibility_public type_visibility trivial_abi no_destroy "
    "overloadable preferred_name preferred_type maybe_undef loader_uninitialized "
    "require_constant_initialization flag_enum enum_extensibility reinitializes suppress "
    "min_vector_width speculative_load_hardening no_speculative_load_hardening preserve_most "
    "preserve_all carries_dependency nonblocking nonallocating blocking allocating counted_by sized_by "
    "type_tag_for_datatype argument_with_type_tag pointer_with_type_tag unsafe_buffer_usage "
    "using_if_exists guarded_by capability lockable scoped_lockable acquire_capability "
    "release_capability no_thread_safety_analysis"
)
#: What to write in place of an attribute that g++ would ignore.
_INSTEAD = {
    "shared": "Write __shared__.",
    "constant": "Write __constant__.",
    "managed": "Write __managed__.",
    "enable_if": "Write a template with a requires clause.",
    "pass_object_size": "Pass the size as a parameter.",
    "pass_dynamic_object_size": "Pass the size as a parameter.",
    "matrix_type": "Write an array, or ext_vector_type.",
    "neon_vector_type": "Write ext_vector_type.",
    "bitwidth": "Write _BitInt, or an integer with a mask.",
    "randomize_layout": "Order the members as they are stored.",
    **dict.fromkeys(
        ("opencl_local", "opencl_global", "opencl_constant", "opencl_private", "opencl_generic"),
        "Write __attribute__((address_space(N))), or a plain pointer.",
    ),
    "address_space": "Write __attribute__((address_space(N))), or a plain pointer.",
}
_UNKNOWN_HINT = "Remove it if the result does not depend on it; docs/cpu-runtime.md lists the attributes."


class _Attribute(NamedTuple):
    """One attribute of a list: `name`, `scope::name`, and its arguments."""

    name: int  #: the token of the name
    first: int  #: its first token, which differs from `name` after `scope::`
    last: int  #: its last token
    scope: str  #: `clang` of `[[clang::name]]`; `__attribute__` for the syntax of GNU; otherwise empty


class _Specifier(NamedTuple):
    """`__attribute__((...))` or `[[...]]`."""

    first: int
    last: int
    attributes: tuple[_Attribute, ...]


#: The parameters of each macro, in order, and its body.
_Macros = dict[str, tuple[list[str], list["Token"]]]


class AttributeChecker:
    """The attributes of one file."""

    def __init__(self, code: Sequence[Token], directives: Sequence[Directive], lines: LineIndex) -> None:
        self._macros = _find_macros(directives)
        self._lines = lines
        self._texts = [list(code), *(split_macro(d.tokens)[1] for d in directives if d.name == "define")]

    def check_pragmas(self, directives: Sequence[Directive]) -> None:
        """Raise `RewriteError` for an attribute that `#pragma clang attribute` applies to declarations."""
        for directive in directives:
            if directive.name != "pragma" or [t.text for t in directive.tokens[:2]] != ["clang", "attribute"]:
                continue
            for token in directive.tokens[2:]:
                name = _plain(token.text)
                if token.kind is TokenKind.NAME and (name in HONORED or name in _INSTEAD):
                    raise self._error(token, "is applied by a pragma that only clang has",
                                      "Write the attribute at each declaration.")  # fmt: skip

    def translate(self, editor: TokenEditor, index: int) -> None:
        """Check the attributes that begin at the token `index`, if any, and remove hints."""
        specifier = _find_specifier(editor, index)
        if specifier is None:
            return
        hints = [each for each in specifier.attributes if self._is_hint(editor, each)]
        whole = hints and len(hints) == len(specifier.attributes)
        removed = (
            [range(specifier.first, specifier.last + 1)]
            if whole
            else [range(h.first, h.last + 1) for h in hints]
        )
        for part in removed:
            for i in part:
                editor.replace(i, "")

    def _is_hint(self, editor: TokenEditor, attribute: _Attribute) -> bool:
        """Return whether an attribute can be removed.

        Raises:
            RewriteError: it would be ignored, but has a meaning or is unknown.
        """
        token = editor.tokens[attribute.name]
        if editor.text(attribute.name + 1) == "##" or editor.text(attribute.name - 1) == "##":
            raise self._error(token, "is formed by ##, so its meaning is unknown", "Write its whole name.")
        names = [token]
        if token.text in editor.parameters or token.text in self._macros:
            names = list(self._expand(token, editor.parameters, depth=4))
        are_hints = [self._check_name(name, attribute.scope) for name in names]
        return all(are_hints) and names == [token]

    def _check_name(self, token: Token, scope: str) -> bool:
        """Return whether an attribute with this name is a hint; see `_is_hint`."""
        name = _plain(token.text)
        if token.text in VECTOR_ATTRIBUTES or (name == "address_space" and scope == "__attribute__"):
            return False  # rewritten by `vector_types`; defined by a header
        if name in HINTS or (scope == "clang" and name in {"always_inline", "noinline", "fallthrough"}):
            return True
        if name in (
            _STANDARD if scope == "" else HONORED if scope in {"__attribute__", "gnu", "__gnu__"} else ()
        ):
            return False
        if name in _INSTEAD:
            raise self._error(token, "would be ignored by g++, with wrong results", _INSTEAD[name])
        raise self._error(token, "is an attribute that g++ would ignore", _UNKNOWN_HINT)

    def _expand(self, token: Token, parameters: frozenset[str], depth: int) -> Iterator[Token]:
        """Yield the first tokens of the possible expansions of a macro, or of a macro's parameter."""
        if depth == 0:
            return
        if token.text in parameters:
            for argument in self._arguments(token, parameters):
                yield from self._expand(argument, frozenset(), depth - 1)
        elif token.text in self._macros:
            for following in self._macros[token.text][1][:1]:
                yield from self._expand(following, frozenset(), depth - 1)
        else:
            yield token

    def _arguments(self, parameter: Token, parameters: frozenset[str]) -> Iterator[Token]:
        """Yield the first tokens of the arguments for a parameter, at every use of its macro."""
        for name, (ordered, body) in self._macros.items():
            if frozenset(ordered) != parameters or parameter not in body:
                continue
            position = ordered.index(parameter.text)
            for tokens in self._texts:
                brackets = match_brackets(tokens)
                for index, token in enumerate(tokens[:-1]):
                    if token.text == name and tokens[index + 1].text == "(":
                        yield from _nth_argument(tokens, brackets, index + 1, position)

    def _error(self, token: Token, what: str, hint: str) -> RewriteError:
        line, column = self._lines.position(token.start)
        return RewriteError(line, column, f"'{token.text}' {what}", hint=hint)


def _plain(name: str) -> str:
    """Return a name without the underscores of `__name__`."""
    return name[2:-2] if len(name) > 4 and name.startswith("__") and name.endswith("__") else name


def _find_macros(directives: Sequence[Directive]) -> _Macros:
    macros: _Macros = {}
    for directive in directives:
        if directive.name == "define" and directive.tokens:
            parameters, body = split_macro(directive.tokens)
            ordered = [t.text for t in directive.tokens[1:] if t.text in parameters][: len(parameters)]
            macros[directive.tokens[0].text] = (ordered, body)
    return macros


def _find_specifier(editor: TokenEditor, index: int) -> _Specifier | None:
    """Return the attributes that begin at a token; None if there are none."""
    is_gnu = editor.text(index) in GNU_ATTRIBUTE
    inner = index + 2 if is_gnu else index + 1
    opening = "(" if is_gnu else "["
    last = editor.partner(index + 1 if is_gnu else index)
    end = editor.partner(inner)
    if editor.text(inner) != opening or editor.text(inner - 1) != opening or end is None or last != end + 1:
        return None
    attributes = tuple(_split_list(editor, inner + 1, end, "__attribute__" if is_gnu else ""))
    return _Specifier(index, last, attributes)


def _split_list(editor: TokenEditor, first: int, end: int, scope: str) -> Iterator[_Attribute]:
    """Yield the attributes of a list, whose closing bracket is `end`."""
    if editor.text(first) == "using" and editor.text(first + 2) == ":":
        scope, first = editor.text(first + 1), first + 3
    while first < end:
        if editor.kind(first) is not TokenKind.NAME:
            first += 1
            continue
        has_scope = editor.text(first + 1) == "::"
        name = first + 2 if has_scope else first
        last = editor.partner(name + 1) if editor.text(name + 1) == "(" else name
        last = name if last is None or last >= end else last
        yield _Attribute(name, first, last, editor.text(first) if has_scope else scope)
        first = last + 1
        while first < end and editor.text(first) != ",":
            first += 1


def _nth_argument(
    tokens: Sequence[Token], brackets: Brackets, opening: int, position: int
) -> Iterator[Token]:
    """Yield the first token of an argument of a macro's use."""
    partner: Mapping[int, int] = brackets.partner
    end = partner.get(opening, opening)
    index, number, is_first = opening + 1, 0, True
    while index < end:
        if tokens[index].text == ",":
            number, is_first = number + 1, True
        elif is_first:
            is_first = False
            if number == position:
                yield tokens[index]
                return
        index = max(index, partner.get(index, index)) + 1
