"""Turns HIP's own syntax into plain C++ for the CPU runtime: launches, and shared memory of a launch's size.

Every line of the source stays on its line, so that a compiler speaks of the author's own. It judges
nothing: what it does not understand it leaves to the compiler, or raises `RewriteError` at the place.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, NamedTuple

from warmfront.hip.cpu.lexer import Brackets, Kind, LexError, Source, Token, match_brackets, tokenize

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

#: Names whose presence means that threads of a block may have to wait for each other.
_WAITING = (
    "__syncthreads",
    "__syncwarp",
    "__shfl",
    "__ballot",
    "__any",
    "__all",
    "__activemask",
    "__match_",
    "__reduce_",
    "__builtin_amdgcn_",
    "cooperative_groups",
)
#: Names that can stand before a kernel's name without being a part of it.
_STATEMENTS = frozenset({"return", "else", "do", "co_return", "co_yield", "case", "throw"})
_CONTROLS = frozenset({"if", "for", "while", "switch", "constexpr"})
_ALIGNMENTS = frozenset({"alignas", "__align__", "__attribute__", "__declspec"})
_ASSEMBLY = frozenset({"asm", "__asm", "__asm__"})


class RewriteError(Exception):
    """The source cannot be translated; `line` and `column` begin at 1."""

    def __init__(self, line: int, column: int, message: str) -> None:
        self.line = line
        self.column = column
        self.message = message
        super().__init__(f"{line}:{column}: {message}")


class Edit(NamedTuple):
    """A token's text replaced. A compiler's complaint about the new text belongs at `anchor`."""

    start: int
    end: int
    text: str
    anchor: int


@dataclass(frozen=True)
class Translation:
    """Plain C++ with the author's line numbers, and what was noticed on the way."""

    text: str
    launches: int
    plain: bool  #: no operation in it makes a thread wait for another
    assembly: tuple[int, ...] = ()  #: lines with an asm statement
    main_line: int | None = None  #: where `main` is defined
    edits: tuple[Edit, ...] = field(default=(), repr=False)  #: in the order of the source


def rewrite(source: str) -> Translation:
    """Translate one file of HIP."""
    lines = Lines(source)
    try:
        tokens = tokenize(source)
    except LexError as error:
        raise RewriteError(*lines.position(error.offset), error.message) from error
    everything = [*tokens.code, *(t for d in tokens.directives for t in d.tokens)]
    plain = not _may_wait(everything)
    stretches = list(_stretches(tokens, lines, launcher="launch_plain" if plain else "launch"))
    for stretch in stretches:
        stretch.rewrite()
    edits = sorted(edit for stretch in stretches for edit in stretch.edits)
    main = _find_main(stretches[0])
    return Translation(
        text=_apply(source, edits),
        launches=sum(stretch.launches for stretch in stretches),
        plain=plain,
        assembly=tuple(sorted(lines.position(t.start)[0] for t in everything if t.text in _ASSEMBLY)),
        main_line=lines.position(main.start)[0] if main else None,
        edits=tuple(edits),
    )


class Lines:
    """Where the lines of a text begin."""

    def __init__(self, text: str) -> None:
        self._starts = [0, *accumulate(len(line) for line in text.split("\n")[:-1])]
        # Each line is followed by a newline that `split` took away.
        self._starts = [start + number for number, start in enumerate(self._starts)]

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of `offset`, both from 1."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    def offset(self, line: int, column: int) -> int:
        """The offset of a line and a column, both from 1."""
        return self._starts[min(line, len(self._starts)) - 1] + column - 1


def _may_wait(tokens: Sequence[Token]) -> bool:
    """Whether a barrier or a wave operation is named, or could be pasted together by a macro."""
    return any(t.kind is Kind.NAME and t.text.startswith(_WAITING) for t in tokens) or any(
        token.text == "##" and following.text != "__VA_ARGS__" for token, following in pairwise(tokens)
    )


def _apply(source: str, edits: Iterable[Edit]) -> str:
    pieces: list[str] = []
    position = 0
    for edit in edits:
        pieces += (source[position : edit.start], edit.text)
        position = edit.end
    pieces.append(source[position:])
    return "".join(pieces)


def _stretches(tokens: Source, lines: Lines, *, launcher: str) -> Iterator[_Stretch]:
    """The code as a whole, then the body of each macro."""
    yield _Stretch(tokens.code, match_brackets(tokens.code, tokens.directives), lines, launcher)
    for directive in tokens.directives:
        if directive.name == "define" and any(t.text in {"<<<", "__shared__"} for t in directive.tokens):
            parameters, body = _macro(directive.tokens)
            brackets = match_brackets(body)
            # A macro's own text does not say where it is used; shared memory is declared in kernels.
            inside = Brackets(brackets.partner, [True] * len(body))
            yield _Stretch(body, inside, lines, launcher, parameters)


def _macro(tokens: list[Token]) -> tuple[frozenset[str], list[Token]]:
    """The parameters and the body of a macro, from what follows `#define`."""
    if len(tokens) < 2 or tokens[1].text != "(" or tokens[1].start != tokens[0].end:
        return frozenset(), tokens[1:]
    close = next((i for i, token in enumerate(tokens) if token.text == ")"), len(tokens) - 1)
    return frozenset(t.text for t in tokens[2:close] if t.kind is Kind.NAME), tokens[close + 1 :]


@dataclass
class _Stretch:
    """Tokens that follow each other, and the edits that translate them."""

    tokens: list[Token]
    brackets: Brackets
    lines: Lines
    launcher: str
    parameters: frozenset[str] = frozenset()  #: of the macro whose body it is
    edits: list[Edit] = field(default_factory=list)
    replaced: set[int] = field(default_factory=set)
    file_arrays: set[str] = field(default_factory=set)  #: dynamic shared memory at the scope of the file
    launches: int = 0

    def rewrite(self) -> None:
        """Find everything to translate, in the order of the source."""
        index = 0
        while index < len(self.tokens):
            text = self.tokens[index].text
            if text == "<<<" and self.text(index - 1) != "operator":
                self.launch(index)
            elif text in {"extern", "__shared__"}:
                index = self.dynamic_shared(index)
            elif text in self.file_arrays:
                self.decay(index)
            index += 1

    # Launches

    def launch(self, opening: int) -> None:
        """`K<<<c>>>(x)` becomes `launch("K", __LINE__, config(c), [&](auto&... a) { K(a...); }, x)`."""
        first = self.callee_start(opening)
        closing = self.configuration_end(opening)
        callee = self.tokens[first:opening]
        if any("\n" in token.text or token.text == "<<<" for token in callee):
            raise self.error(first, "this is no name of a kernel")
        anchor = callee[0].start
        self.replace(first, f"::hipcpu::{self.launcher}({self.quoted(callee)}, __LINE__, ")
        for index in range(first + 1, opening):
            self.replace(index, "")
        self.replace(opening, "::hipcpu::config(")
        body = f"[&](auto&... hipcpu_args) {{ {spell(callee)}(hipcpu_args...); }}"
        self.replace(closing, f"), {body}", anchor)
        self.replace(closing + 1, "", anchor)
        self.replace(closing + 2, "", anchor)
        self.replace(closing + 3, self.separator(closing + 3))
        self.null_arguments(closing + 3)
        self.launches += 1

    def callee_start(self, opening: int) -> int:
        """The first token of the expression that names the kernel: `a::template k<T>`, `(*f)`, `this->k`."""
        index = opening - 1
        while True:
            index = self.primary_start(index, opening)
            if self.text(index - 1) == "template":
                index -= 1
            before = self.text(index - 1)
            if before not in {"::", ".", "->"}:
                return index
            index -= 1
            qualifies = self.kind(index - 1) is Kind.NAME and self.text(index - 1) not in _STATEMENTS
            if before == "::" and not qualifies and self.text(index - 1) != ">":
                return index  # the global ::k
            index -= 1

    def primary_start(self, index: int, opening: int) -> int:
        """The first token of `k`, `k<T>`, `f(x)`, `table[i]` or `(*f)` that ends at `index`."""
        while self.text(index) in {")", "]"}:
            index = self.brackets.partner.get(index, -1)
            if self.text(index) == "(" and not self.is_called(index):
                return index
            index -= 1
        if self.text(index) == ">":
            index = self.template_start(index, opening) - 1
        if self.kind(index) is not Kind.NAME or self.text(index) in _STATEMENTS:
            raise self.error(opening, "expected the name of a kernel before <<<")
        return index

    def is_called(self, parenthesis: int) -> bool:
        """Whether the `(` belongs to a call, not to an expression in parentheses."""
        before = self.text(parenthesis - 1)
        if before == ")":
            head = self.brackets.partner.get(parenthesis - 1, 0) - 1
            return self.text(head) not in _CONTROLS
        return before in {"]", ">"} or (self.kind(parenthesis - 1) is Kind.NAME and before not in _STATEMENTS)

    def template_start(self, index: int, opening: int) -> int:
        """The `<` that the `>` at `index` closes."""
        depth = 1
        while depth:
            index -= 1
            text = self.text(index)
            if text in {")", "]", "}"}:
                index = self.brackets.partner.get(index, -1)
            elif text == ">":
                depth += 1
            elif text == "<":
                depth -= 1
            if index <= 0 or text in {";", "{", "(", "<<<"}:
                raise self.error(opening, "the template arguments before <<< have no beginning")
        return index

    def configuration_end(self, opening: int) -> int:
        """The first `>` of the `>>>` that closes the `<<<` at `opening`."""
        index = opening + 1
        while index < len(self.tokens) and self.text(index) not in {";", "}", ")", "]", "<<<"}:
            if self.text(index) in {"(", "[", "{"}:
                index = self.brackets.partner.get(index, len(self.tokens))
            elif self.text(index) == ">":
                run = self.run_length(index)
                if run >= 3 and self.text(index + run) == "(":
                    return index + run - 3
                index += run - 1
            index += 1
        raise self.error(opening, "this <<< has no >>>( that closes it")

    def run_length(self, index: int) -> int:
        """How many `>` follow each other with nothing between, from `index` on."""
        end = index + 1
        while self.text(end) == ">" and self.tokens[end].start == self.tokens[end - 1].end:
            end += 1
        return end - index

    def separator(self, parenthesis: int) -> str:
        """What stands between the lambda and the arguments that begin after `parenthesis`."""
        following = self.text(parenthesis + 1)
        if following == ")":
            return ""
        if following == "__VA_ARGS__":
            return " __VA_OPT__(,) "
        return ", "

    def null_arguments(self, parenthesis: int) -> None:
        """`NULL` for a whole argument becomes `nullptr`: through a template, NULL would be a number."""
        index = parenthesis + 1
        while index < self.brackets.partner.get(parenthesis, 0):
            alone = self.text(index - 1) in {"(", ","} and self.text(index + 1) in {")", ","}
            if self.text(index) == "NULL" and alone:
                self.replace(index, "nullptr")
            index = max(index, self.brackets.partner.get(index, index)) + 1

    def quoted(self, callee: list[Token]) -> str:
        """The kernel's name as a string, made by the preprocessor where it is a macro's parameter."""
        if len(callee) == 1 and callee[0].text in self.parameters:
            return f"#{callee[0].text}"
        text = spell(callee).replace("\\", "\\\\").replace('"', '\\"')
        return f'"{text}"'

    # Shared memory

    def dynamic_shared(self, start: int) -> int:
        """`extern __shared__ T name[];` names the memory that a launch asked for.

        Returns the index of the last token that it dealt with.
        """
        element, name, bracket = self.array_declaration(start)
        close = self.brackets.partner.get(bracket, bracket)
        end = close + 1
        while self.text(end) == "[":  # further dimensions belong to the element
            end = self.brackets.partner.get(end, end) + 1
        if not name or close == bracket:
            return start
        if self.text(end) != ";":
            raise self.error(bracket, "declare one array, without a value, in each extern __shared__")
        spelled = spell(element) + spell(self.tokens[close + 1 : end])
        self.replace(start, self.shared_declaration(start, spelled, name), self.tokens[bracket - 1].start)
        for index in range(start + 1, end):
            self.replace(index, "")
        return end

    def array_declaration(self, start: int) -> tuple[list[Token], str, int]:
        """Element type, name and `[` of the `extern __shared__` array at `start`; no name if it is none."""
        storage = set()
        element: list[Token] = []
        index = start
        while self.kind(index) is not None and self.text(index) not in {";", "{", "}", "=", ")"}:
            text = self.text(index)
            if text in {"extern", "__shared__"}:
                if text in storage:  # two in a row are the compiler's to refuse
                    break
                storage.add(text)
            elif text in _ALIGNMENTS:
                index = self.brackets.partner.get(index + 1, index)
            elif text == "[":
                found = len(storage) == 2 and len(element) > 1 and element[-1].kind is Kind.NAME
                return element[:-1], element[-1].text if found else "", index
            else:
                element.append(self.tokens[index])
            index += 1
        return [], "", index

    def shared_declaration(self, start: int, element: str, name: str) -> str:
        """C++ for dynamic shared memory, in a function or at the scope of a file."""
        if self.brackets.in_function[start]:
            return f"auto* const {name} = ::hipcpu::dynamic_shared<{element}>()"
        self.file_arrays.add(name)
        return f"static ::hipcpu::DynamicShared<{element}> {name}"

    def decay(self, index: int) -> None:
        """Where an array would become a pointer, `+` makes one of the object that stands for it.

        Elsewhere the object converts by itself; casts and template arguments need the help.
        """
        before, after = self.text(index - 1), self.text(index + 1)
        if before in {"(", ",", ")", "="} and after in {")", ",", ";", "+"}:
            self.replace(index, f"+{self.text(index)}")

    # Tokens

    def text(self, index: int) -> str:
        """The text of a token, empty beyond either end."""
        return self.tokens[index].text if 0 <= index < len(self.tokens) else ""

    def kind(self, index: int) -> Kind | None:
        """The kind of a token, None beyond either end."""
        return self.tokens[index].kind if 0 <= index < len(self.tokens) else None

    def replace(self, index: int, text: str, anchor: int | None = None) -> None:
        """Put `text` in the place of a token, keeping the lines that it spans."""
        if index in self.replaced:
            raise self.error(index, "a launch cannot be a part of this expression")
        self.replaced.add(index)
        token = self.tokens[index]
        at = token.start if anchor is None else anchor
        self.edits.append(Edit(token.start, token.end, text + "\n" * token.text.count("\n"), at))

    def error(self, index: int, message: str) -> RewriteError:
        """What cannot be translated, and where."""
        return RewriteError(*self.lines.position(self.tokens[index].start), message)


def spell(tokens: Sequence[Token]) -> str:
    """The tokens as the author wrote them, white space and comments made one space."""
    pieces: list[str] = []
    for before, token in zip([None, *tokens], tokens, strict=False):
        pieces += (" " if before and before.end != token.start else "", token.text)
    return "".join(pieces)


def _find_main(code: _Stretch) -> Token | None:
    """The `main` of `int main(...) {`."""
    for index, token in enumerate(code.tokens):
        if token.text != "main" or code.brackets.in_function[index] or code.text(index + 1) != "(":
            continue
        close = code.brackets.partner.get(index + 1, index)
        if code.text(close + 1) in {"{", "try", "noexcept"} and code.kind(index - 1) is Kind.NAME:
            return token
    return None
