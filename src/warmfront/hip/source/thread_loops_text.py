"""Write the second form of a kernel, which `thread_loops.py` has planned, as C++.

The macros and functions in it are those of `hipcpu/thread_loops.h`. All of it is on the line of the kernel's
closing brace, so that every other line keeps its number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from warmfront.hip.source import SECOND_FORM
from warmfront.hip.source.block_plan import (
    Barrier,
    Control,
    Guard,
    Item,
    Node,
    Plan,
    Region,
    Shuffle,
    ShuffleResult,
    Strided,
    Variable,
    VariableRole,
    Verbatim,
)
from warmfront.hip.source.lexer import TokenKind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from warmfront.hip.source.edits import TokenEditor
    from warmfront.hip.source.kernel_statements import TokenRange

#: Before the name of a kernel: the name of its second form.
PREFIX = "hipcpu_loops_"


def write_loops(editor: TokenEditor, plan: Plan) -> str:
    """Return the definition of the function that runs a block."""
    return _Writer(editor, plan).function()


def _is_declaration(node: Node) -> bool:
    return isinstance(node, Verbatim) and node.variable is None


def _declarations_first(nodes: list[Node]) -> list[Node]:
    """Return the nodes with pure declarations first: shared memory, types and constants."""
    return sorted(nodes, key=lambda node: not _is_declaration(node))


class _Writer:
    def __init__(self, editor: TokenEditor, plan: Plan) -> None:
        self._editor = editor
        self._plan = plan
        self._edited = {edit.start: edit.text.replace("\n", " ") for edit in editor.edits}

    def function(self) -> str:
        kernel = self._plan.kernel
        parameters = self._text(kernel.declared)
        comma = ", " if parameters.strip() not in {"", "void"} else ""
        if not comma:
            parameters = ""
        head = f"{self._text(kernel.template)} static inline bool {PREFIX}{kernel.name}"
        arguments = f"(const ::hipcpu::Block& hipcpu_block{comma}{parameters})"
        nodes = _declarations_first(self._plan.nodes)
        leading = next(
            (i for i, node in enumerate(nodes) if not isinstance(node, Verbatim | Guard)), len(nodes)
        )
        declarations = " ".join(map(self._node, nodes[:leading]))
        body = f"{declarations} {self._arrays()} {self._scope(nodes[leading:], nodes[:leading])}"
        return f"{SECOND_FORM}({head}{arguments} {{ HIPCPU_BLOCK {body} return true; }})"

    def _scope(self, nodes: list[Node], declared: Iterable[Node] = ()) -> str:
        """Return the nodes in braces, with references to shared memory: its address is in a register."""
        nodes = _declarations_first(nodes)
        own = [node for node in nodes if _is_declaration(node)]
        shared = [name for node in (*declared, *own) if isinstance(node, Verbatim) for name in node.shared]
        texts = [self._node(node) for node in nodes]
        return f"{{ {' '.join(texts[: len(own)])} {self._names(shared)} {' '.join(texts[len(own) :])} }} }}"

    @staticmethod
    def _names(shared: list[str]) -> str:
        return "{ " + " ".join(f"auto& {name} = hipcpu_h_{name};" for name in shared)

    def _arrays(self) -> str:
        """Return the declarations of the arrays, after a check of their size."""
        stored = [variable for variable in self._plan.variables if variable.stored]
        aliases = [
            f"using hipcpu_t{v.number} = {v.declared.type_text} {v.declared.array_text};" for v in stored
        ]
        types = [f"hipcpu_t{v.number}" for v in (*stored, *(r.variable for r in self._plan.results))]
        names = [f"hipcpu_c{v.number}" for v in stored] + [f"hipcpu_s{r.number}" for r in self._plan.results]
        if not types:
            return ""
        check = f"if (!::hipcpu::fits<{', '.join(types)}>(hipcpu_threads)) return false;"
        arrays = [f"HIPCPU_ARRAY({kind}, {name})" for kind, name in zip(types, names, strict=True)]
        return " ".join([*aliases, check, *arrays])

    def _node(self, node: Node) -> str:  # noqa: PLR0911 - one per kind
        match node:
            case Region():
                return self._threads(self._needed(node), node.results, self._items(node))
            case Verbatim(_, Variable() as variable):
                return self._definition(variable)
            case Verbatim(tokens):
                hidden = (f" auto& hipcpu_h_{name} = ::hipcpu::hidden({name});" for name in node.shared)
                return self._text(tokens) + "".join(hidden)
            case Guard():
                return self._guard(node)
            case Control():
                return self._control(node)
            case Strided():
                return self._strided(node)
            case Shuffle():
                return self._shuffles(node)
            case Barrier():
                return ""

    def _guard(self, guard: Guard) -> str:
        needed = self._closure(self._lookup(guard.condition, guard.visible))
        negated = "" if guard.wanted else "!"
        update = f"hipcpu_all &= {negated}({self._text(guard.condition)});"
        threads = self._threads(needed, [], update)
        return f"{{ bool hipcpu_all = true; {threads} if (!hipcpu_all) return false; }}"

    def _control(self, control: Control) -> str:
        text = f"{self._text(control.header)} {self._scope(control.body)}"
        return text if control.otherwise is None else f"{text} else {self._scope(control.otherwise)}"

    def _strided(self, loop: Strided) -> str:
        region = loop.region
        kind, name = loop.counter.type_text, loop.counter.name
        first = self._closure(self._lookup(loop.init, region.visible))
        needed = sorted({*self._needed(region), *first}, key=lambda variable: variable.number)
        rows = (
            f"const long long hipcpu_at = hipcpu_passed + static_cast<{kind}>({self._text(loop.init)}); "
            f"const auto hipcpu_span = "
            f"::hipcpu::lanes_below(hipcpu_at, {self._text(loop.bound)}, hipcpu_width); "
            f"if (hipcpu_span.from >= hipcpu_span.to) continue; hipcpu_more = true; "
            f"const {'int' if kind == 'int' else 'long long'} hipcpu_first = hipcpu_at;"
        )
        lane = f"const {kind} {name} = static_cast<{kind}>(hipcpu_first + hipcpu_x);"
        inside = self._threads(needed, [], self._items(region), rows=rows, lane=lane, span="HIPCPU_SPAN")
        return (
            f"{{ const long long hipcpu_step = {self._text(loop.step)}; "
            f"for (long long hipcpu_passed = 0;; hipcpu_passed += hipcpu_step) {{ bool hipcpu_more = false; "
            f"{inside} if (!hipcpu_more) break; }} }}"
        )

    def _shuffles(self, node: Shuffle) -> str:
        pieces = []
        for result in node.results:
            needed = self._closure(self._lookup(result.arguments, node.visible))
            value = f"hipcpu_c{result.variable.number}"
            take = (
                f"hipcpu_q{result.number}[hipcpu_x] = ::hipcpu::{result.function}({value}, "
                f"hipcpu_row + hipcpu_x, hipcpu_threads, {self._text(result.arguments)});"
            )
            pieces.append(self._threads(needed, [result], take))
        return " ".join(pieces)

    # The loop over threads

    def _threads(
        self,
        variables: Iterable[Variable],
        results: Iterable[ShuffleResult],
        inside: str,
        *,
        rows: str = "",
        lane: str = "",
        span: str = "HIPCPU_LANES",
    ) -> str:
        row: list[str] = []
        thread: list[str] = []
        for variable in variables:
            number, name = variable.number, variable.declared.name
            if variable.role is VariableRole.PRIVATE:
                row.append(f"hipcpu_t{number}* const hipcpu_r{number} = hipcpu_c{number} + hipcpu_row;")
                thread.append(f"hipcpu_t{number}& {name} = hipcpu_r{number}[hipcpu_x];")
            elif variable.affine:
                row.append(f"{self._definition(variable)} const int hipcpu_b{number} = {name};")
                thread.append(f"const int {name} = hipcpu_b{number} + hipcpu_x;")
            elif variable.by_x:
                thread.append(self._definition(variable))
            else:
                row.append(self._definition(variable))
        row += [
            f"hipcpu_t{r.variable.number}* const hipcpu_q{r.number} = hipcpu_s{r.number} + hipcpu_row;"
            for r in results
        ]
        return (
            f"HIPCPU_ROWS {{ HIPCPU_ROW {' '.join(row)} {rows} {span} {{ HIPCPU_THREAD "
            f"{' '.join(thread)} {lane} {inside} }} }}"
        )

    def _items(self, region: Region) -> str:
        current = "HIPCPU_SET_THREAD " if region.calls else ""
        return current + " ".join(self._item(item) for item in region.items)

    def _item(self, item: Item) -> str:
        variable = item.variable
        if variable is None:
            return self._text(item.tokens, item.changed)
        declared = variable.declared
        if not variable.stored:
            init = f" = {self._text(item.tokens, item.changed)}" if declared.init else ""
            return f"{declared.type_text} {declared.name}{declared.array_text}{init};"
        if not declared.init:
            return ""
        if declared.array_text:
            return f"::hipcpu::clear({declared.name});"
        return f"{declared.name} = {self._text(item.tokens, item.changed)};"

    def _definition(self, variable: Variable) -> str:
        declared = variable.declared
        init = self._text(declared.init) if declared.init else ""
        return f"{declared.type_text} const {declared.name} = {init};"

    # Names

    def _needed(self, region: Region) -> list[Variable]:
        """Return the variables that a region uses: stored ones, repeated ones, and their dependencies."""
        found: set[Variable] = {variable for variable in region.declared if variable.stored}
        for item in region.items:
            found |= self._lookup(item.tokens, region.visible)
        return self._closure(found)

    def _lookup(self, tokens: TokenRange, visible: dict[str, Variable]) -> set[Variable]:
        found = set()
        for index in tokens:
            is_name = self._editor.kind(index) is TokenKind.NAME and self._editor.text(index - 1) not in {
                ".",
                "->",
            }
            variable = visible.get(self._editor.text(index)) if is_name else None
            if variable and (variable.role is VariableRole.REPEATED or variable.stored):
                found.add(variable)
        return found

    def _closure(self, variables: set[Variable]) -> list[Variable]:
        found = set(variables)
        waiting = list(variables)
        while waiting:
            new = set(waiting.pop().needs) - found
            found |= new
            waiting += new
        return sorted(found, key=lambda variable: variable.number)

    def _text(self, tokens: TokenRange, changed: dict[int, str] | None = None) -> str:
        """Return the tokens on one line, with the edits that were made to them."""
        pieces: list[str] = []
        previous = None
        for index in tokens:
            token = self._editor.tokens[index]
            text = (changed or {}).get(index)
            if text is None:
                text = self._edited.get(token.start, token.text.replace("\n", " "))
            pieces += (" " if previous and previous.end != token.start else "", text)
            previous = token
        return "".join(pieces)
