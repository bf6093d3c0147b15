"""Turn the threads of a block into loops between its barriers, which the compiler can vectorize.

A kernel that is recognized with certainty gets a second form: a function that runs a whole block. Between two
barriers, the author's statements are repeated in a loop over the block's threads. Variables that are used on
both sides of a barrier are kept in an array with an element per thread. Loops with the same bounds for all
threads, and loops that go through an array with a stride, are placed around the loop over threads.
`thread_loops_text.py` writes that function; the runtime calls it first, and runs the kernel thread by thread
where it returns false.

A kernel that is not recognized keeps its single form. The author's expressions are never changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

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
from warmfront.hip.source.declarations import (
    ASSIGNMENTS,
    Declaration,
    Declarator,
    closing_angle,
    is_changed,
    parse_declaration,
)
from warmfront.hip.source.expressions import BARRIERS, SHUFFLES, Expressions, Purity
from warmfront.hip.source.kernel_statements import (
    Statement,
    StatementKind,
    TokenRange,
    Unsupported,
    parse_body,
)
from warmfront.hip.source.lexer import TokenKind
from warmfront.hip.source.shared_accesses import SharedAccesses, may_write

if TYPE_CHECKING:
    from collections.abc import Iterator

    from warmfront.hip.source.edits import TokenEditor
    from warmfront.hip.source.file_facts import FileFacts, Kernel

#: The types of counters with which a loop can go through an array with a stride.
_COUNTERS = frozenset(
    {"int", "unsigned", "unsigned int", "size_t", "long", "long long"}
    | {"int32_t", "uint32_t", "int64_t", "uint64_t"}
)
_MAX_TOKENS = 4000  # of a kernel, because some checks read all of it
_COMPARISONS = frozenset({"&&", "||", "?", ",", "<", ">", "<=", ">=", "==", "!=", "!", "&", "|", "^"})


def plan_loops(editor: TokenEditor, kernel: Kernel, facts: FileFacts) -> Plan | None:
    """Return the second form of the kernel; None if it has none, or if it would be no faster."""
    try:
        return _Planner(editor, kernel, facts).plan()
    except Unsupported:
        return None


class _Planner:
    def __init__(self, editor: TokenEditor, kernel: Kernel, facts: FileFacts) -> None:
        self._editor = editor
        self._kernel = kernel
        self._facts = facts
        self._code = Expressions(editor, kernel, facts)
        self._variables: list[Variable] = []
        self._regions: list[Region] = []
        self._results: list[ShuffleResult] = []
        self._region = Region()
        self._started = False
        self._loops = 0

    def plan(self) -> Plan | None:
        """Return the plan; None if the second form would be no faster."""
        tokens = self._kernel.body
        if len(tokens) > _MAX_TOKENS:
            raise Unsupported
        self._check_names(tokens)
        if any(is_changed(self._editor, name, tokens) for name in self._kernel.parameters):
            raise Unsupported
        nodes = self._nodes(parse_body(self._editor, tokens.first), {}, is_top=True)
        if not self._loops and not self._code.waits(tokens):
            return None
        if any(region.returns and region is not nodes[-1] for region in self._regions):
            raise Unsupported
        SharedAccesses(self._editor, self._facts.shared_names).check(nodes)
        self._choose_stored()
        for region in self._regions:
            region.calls = any(self._may_read_thread(i) for item in region.items for i in item.tokens)
        return Plan(self._kernel, nodes, self._variables, self._results)

    def _may_read_thread(self, index: int) -> bool:
        name = self._editor.text(index)
        return (
            self._code.is_call(index) and not self._code.is_pure_call(name) and not name.startswith("atomic")
        )

    def _check_names(self, tokens: TokenRange) -> None:
        names = {self._editor.text(i) for i in tokens if self._editor.kind(i) is TokenKind.NAME}
        if (
            names & self._facts.statement_macros
            or names & self._facts.waiting_functions
            or "volatile" in names
        ):
            raise Unsupported
        if self._facts.waiting_functions and any(self._calls_unknown(i) for i in tokens):
            raise Unsupported

    def _calls_unknown(self, index: int) -> bool:
        """Return whether a method, a parameter or an object is called: the function behind it may wait."""
        if not self._code.is_call(index):
            return False
        name = self._editor.text(index)
        is_method = self._editor.text(index - 1) in {".", "->"}
        return is_method or name in self._kernel.parameters or self._is_object(name)

    def _is_object(self, name: str) -> bool:
        """Return whether a template parameter or a variable has this name, and not a type or a lambda."""
        for index in (*self._kernel.template, *self._kernel.body):
            if self._editor.text(index) != name:
                continue
            before, after = self._editor.text(index - 1), self._editor.text(index + 1)
            if before in {"auto", "&", "int"} and (after, self._editor.text(index + 2)) != ("=", "["):
                return True
        return False

    def _choose_stored(self) -> None:
        """Find the private variables that more than one region uses."""
        for region in self._regions:
            for name in self._names_in(region):
                variable = region.visible.get(name)
                if variable and variable.role is VariableRole.PRIVATE and variable not in region.declared:
                    variable.stored = True
        for result in self._results:
            result.variable.stored = True
        for variable in self._variables:
            if variable.stored:
                self._check_storable(variable.declared)

    def _check_storable(self, declared: Declarator) -> None:
        init = declared.init
        zeros = {"{", "}", "0", "0.f", "0.0f", "0.", "0.0"}
        is_zero = init is not None and all(self._editor.text(i) in zeros for i in init)
        if "auto" in declared.type_text or (declared.array_text and init is not None and not is_zero):
            raise Unsupported

    def _names_in(self, region: Region) -> set[str]:
        return {
            self._editor.text(i)
            for item in region.items
            for i in item.tokens
            if self._editor.kind(i) is TokenKind.NAME and self._editor.text(i - 1) not in {".", "->"}
        }

    # Statements

    def _nodes(
        self, statements: tuple[Statement, ...], visible: dict[str, Variable], *, is_top: bool
    ) -> list[Node]:
        """Return the nodes for a list of statements in one scope."""
        nodes: list[Node] = []
        scope = dict(visible)
        for position, statement in enumerate(statements):
            is_last = is_top and position == len(statements) - 1
            guarded = self._guard(statement, scope, nodes, is_last=is_last, is_top=is_top)
            if guarded is not None:
                nodes += self._nodes(guarded, scope, is_top=True)
            elif not self._split(statement, scope, nodes):
                self._add(statement, scope, nodes)
        self._flush(nodes, scope)
        return nodes

    def _flush(self, nodes: list[Node], scope: dict[str, Variable]) -> None:
        if self._region.items:
            self._region.visible = dict(scope)
            self._regions.append(self._region)
            nodes.append(self._region)
            self._region = Region()

    def _guard(
        self,
        statement: Statement,
        scope: dict[str, Variable],
        nodes: list[Node],
        *,
        is_last: bool,
        is_top: bool,
    ) -> tuple[Statement, ...] | None:
        """Translate `if (c) return;`, or `if (c) {…}` at the end, before anything has an effect.

        Return the statements that follow in the braces; None if this is not a guard.
        """
        if statement.kind is not StatementKind.IF or len(statement.parts) != 1 or self._started or not is_top:
            return None
        body = statement.parts[0]
        leaves = body.parts[-1:] if body.kind is StatementKind.BLOCK else (body,)
        returns = len(body.parts) <= 1 and leaves and leaves[0].kind is StatementKind.RETURN
        if (
            not (returns or is_last)
            or not self._code.purity(statement.header[0], scope)
            or statement.is_constant
        ):
            return None
        nodes.append(Guard(statement.header[0], not returns, dict(scope)))
        if returns:
            return ()
        return body.parts if body.kind is StatementKind.BLOCK else (body,)

    def _split(self, statement: Statement, scope: dict[str, Variable], nodes: list[Node]) -> bool:
        """Translate a statement in which threads wait, or a loop that encloses the loop over threads."""
        kind, waits = statement.kind, self._code.waits(statement.tokens)
        if kind is StatementKind.SIMPLE:
            return self._split_simple(statement, scope, nodes)
        if kind is StatementKind.BLOCK and (
            waits or any(part.kind is StatementKind.FOR for part in statement.walk())
        ):
            self._flush(nodes, scope)
            nodes.append(Control(TokenRange(0, 0), self._nodes(statement.parts, scope, is_top=False)))
            return True
        if kind is StatementKind.FOR and (waits or self._is_simple(statement, scope)):
            return self._split_loop(statement, scope, nodes) or self._refuse_if(waits)
        if kind is StatementKind.IF and waits:
            purity = self._code.purity(statement.header[0], scope)
            if not statement.is_constant and (purity is None or not purity.uniform):
                raise Unsupported
            self._flush(nodes, scope)
            branches = [self._nodes(self._inside(part), scope, is_top=False) for part in statement.parts]
            header = TokenRange(statement.tokens.first, statement.header[0].end + 1)
            nodes.append(Control(header, branches[0], branches[1] if len(branches) > 1 else None))
            return True
        return self._refuse_if(waits)

    @staticmethod
    def _refuse_if(waits: bool) -> bool:  # noqa: FBT001 - private; its name describes it
        if waits:
            raise Unsupported
        return False

    @staticmethod
    def _inside(statement: Statement) -> tuple[Statement, ...]:
        return statement.parts if statement.kind is StatementKind.BLOCK else (statement,)

    def _split_simple(self, statement: Statement, scope: dict[str, Variable], nodes: list[Node]) -> bool:
        first = statement.tokens.first
        text = self._editor.text(first)
        names = [self._editor.text(i) for i in statement.tokens]
        if text in BARRIERS and self._editor.partner(first + 1) == statement.tokens.end - 2:
            if text == "__syncthreads" and len(names) != 4:
                raise Unsupported
            self._started = True
            self._flush(nodes, scope)
            nodes += [Barrier()] if text == "__syncthreads" else []
            return True
        if text in {"struct", "class", "union", "HIP_DYNAMIC_SHARED", "enum"}:
            raise Unsupported
        if "__shared__" in names or text in {"using", "typedef", "static_assert", "extern", "static"}:
            self._refuse_if(
                "__shared__" not in names and text == "static" and not {"const", "constexpr"} & set(names)
            )
            nodes.append(Verbatim(statement.tokens, None, tuple(self._shared_names(statement.tokens))))
            return True
        if self._code.waits(statement.tokens):
            self._exchange(statement, scope, nodes)
            return True
        return False

    def _shared_names(self, tokens: TokenRange) -> Iterator[str]:
        """Yield the names that a declaration of static shared memory declares."""
        texts = {self._editor.text(i) for i in tokens}
        index = tokens.first
        while index < tokens.end and "__shared__" in texts and "extern" not in texts:
            if self._editor.kind(index) is TokenKind.NAME and self._editor.text(index + 1) in {"[", ";", ","}:
                yield self._editor.text(index)
            if self._editor.text(index) in {"(", "["}:
                index = self._editor.partner(index) or index
            elif self._editor.text(index) == "<":
                index = closing_angle(self._editor, index, tokens.end) or index
            index += 1

    # Loops

    def _split_loop(self, statement: Statement, scope: dict[str, Variable], nodes: list[Node]) -> bool:
        declaration, condition, step = statement.header
        parsed = parse_declaration(self._editor, TokenRange(declaration.first, declaration.end + 1))
        if parsed is None or len(parsed.variables) != 1:
            return False
        counter = parsed.variables[0]
        if (
            counter.init is None
            or counter.array_text
            or is_changed(self._editor, counter.name, statement.parts[0].tokens)
        ):
            return False
        purity = self._code.purity(counter.init, scope)
        if purity is None:
            return False
        if not purity.uniform:
            waits = self._code.waits(statement.tokens)
            return not waits and self._split_strided(statement, counter, scope, nodes)
        variable = self._variable(counter, VariableRole.UNIFORM)
        inner = {**scope, counter.name: variable}
        held = self._code.purity(condition, inner)
        if held is None or not held.uniform or not self._is_uniform_step(counter.name, step, inner):
            return False
        self._flush(nodes, scope)
        self._loops += 1
        header = TokenRange(statement.tokens.first, step.end + 1)
        body = self._nodes(self._inside(statement.parts[0]), inner, is_top=False)
        nodes.append(Control(header, body, repeats=True))
        return True

    def _is_uniform_step(self, name: str, step: TokenRange, scope: dict[str, Variable]) -> bool:
        texts = [self._editor.text(i) for i in step]
        if texts in (["++", name], [name, "++"], ["--", name], [name, "--"]):
            return True
        if len(texts) < 3 or texts[0] != name:
            return False
        operator = 2 if texts[1:3] == [">", ">="] else 1
        if operator == 1 and texts[1] not in ASSIGNMENTS:
            return False
        purity = self._code.purity(TokenRange(step.first + operator + 1, step.end), scope)
        return purity is not None and purity.uniform

    def _split_strided(
        self, statement: Statement, counter: Declarator, scope: dict[str, Variable], nodes: list[Node]
    ) -> bool:
        _, condition, step = statement.header
        texts = [self._editor.text(i) for i in condition]
        strides = [self._editor.text(i) for i in step]
        if texts[:2] != [counter.name, "<"] or strides[:2] != [counter.name, "+="]:
            return False
        bound, stride = TokenRange(condition.first + 2, condition.end), TokenRange(step.first + 2, step.end)
        for part in (bound, stride):
            purity = self._code.purity(part, scope)
            if purity is None or not purity.uniform:
                return False
            if _COMPARISONS & {self._editor.text(i) for i in part}:  # i < n && c
                return False
        init = counter.init
        if init is None or counter.type_text not in _COUNTERS or not self._code.is_affine(init, scope):
            return False
        self._flush(nodes, scope)
        self._loops += 1
        region = Region(items=[Item(part.tokens, {}) for part in self._inside(statement.parts[0])])
        region.visible = {name: variable for name, variable in scope.items() if name != counter.name}
        self._regions.append(region)
        self._started = True
        nodes.append(Strided(counter, init, bound, stride, region))
        return True

    def _is_simple(  # noqa: PLR0911 - one per reason
        self, statement: Statement, scope: dict[str, Variable]
    ) -> bool:
        """Return whether the order in which threads run the statement's parts does not matter."""
        for part in statement.walk():
            if part.kind not in {
                StatementKind.SIMPLE,
                StatementKind.BLOCK,
                StatementKind.IF,
                StatementKind.FOR,
            }:
                return False
            if self._editor.text(part.tokens.first) in {"break", "continue"}:
                return False
        for index in statement.tokens:
            text = self._editor.text(index)
            variable = scope.get(text)
            if variable and variable.role is VariableRole.PRIVATE and variable.declared.array_text:
                return False
            if text == "[" and not self._code.ends_operand(index - 1):
                return False  # a lambda
            if text in self._facts.shared_names and may_write(self._editor, index):
                return False
            if text in {"__shared__", "static"} or (
                self._code.is_call(index) and not self._code.is_pure_call(text)
            ):
                return False
        return not any(self._declares_array(part) for part in statement.walk())

    def _declares_array(self, statement: Statement) -> bool:
        if statement.kind is not StatementKind.SIMPLE:
            return False
        parsed = parse_declaration(self._editor, statement.tokens)
        return parsed is not None and any(variable.array_text for variable in parsed.variables)

    # Shuffles

    def _exchange(self, statement: Statement, scope: dict[str, Variable], nodes: list[Node]) -> None:
        """Translate a statement with shuffles. All threads get their values before any runs the statement."""
        tokens = statement.tokens
        names = {self._editor.text(i) for i in tokens}
        if names & {"?", "&&", "||", "[&]"}:
            raise Unsupported
        self._flush(nodes, scope)
        changed: dict[int, str] = {}
        results = []
        index = tokens.first
        while index < tokens.end:
            text = self._editor.text(index)
            if text in SHUFFLES:
                result, last = self._shuffle(index, scope)
                results.append(result)
                changed.update(dict.fromkeys(range(index, last + 1), ""))
                changed[index] = f"hipcpu_q{result.number}[hipcpu_x]"
                index = last
            elif text.startswith(self._facts.waiting_prefixes):
                raise Unsupported
            index += 1
        self._results += results
        self._started = True
        nodes.append(Shuffle(results, dict(scope)))
        self._region.results += results
        self._add(statement, scope, nodes, changed)

    def _shuffle(self, index: int, scope: dict[str, Variable]) -> tuple[ShuffleResult, int]:
        name = self._editor.text(index)
        close = self._editor.partner(index + 1)
        if close is None or self._editor.text(index + 1) != "(":
            raise Unsupported
        value = index + 2
        if name.endswith("_sync"):  # only the participating lanes call it, so the mask is redundant
            value += 2
            if self._editor.kind(index + 2) is not TokenKind.NUMBER or self._editor.text(index + 3) != ",":
                raise Unsupported
        variable = scope.get(self._editor.text(value))
        arguments = TokenRange(value + 2, close)
        if variable is None or variable.role is not VariableRole.PRIVATE or variable.declared.array_text:
            raise Unsupported
        if self._editor.text(value + 1) != "," or self._code.purity(arguments, scope) is None:
            raise Unsupported
        result = ShuffleResult(index, variable, name[2:].removesuffix("_sync"), arguments)
        return result, close

    # Statements that threads run

    def _add(
        self,
        statement: Statement,
        scope: dict[str, Variable],
        nodes: list[Node],
        changed: dict[int, str] | None = None,
    ) -> None:
        """Add a statement to the current region."""
        changed = dict(changed or {})
        declaration = (
            parse_declaration(self._editor, statement.tokens)
            if statement.kind is StatementKind.SIMPLE
            else None
        )
        if declaration:
            self._declare(statement, declaration, scope, nodes, changed)
            return
        self._check_jumps(statement, changed, in_loop=False)
        self._started = True
        self._region.items.append(Item(statement.tokens, changed))

    def _check_jumps(self, statement: Statement, changed: dict[int, str], *, in_loop: bool) -> None:
        """Refuse jumps out of the statement, except a return: the loop continues with the next thread."""
        first = self._editor.text(statement.tokens.first)
        if statement.kind is StatementKind.RETURN:
            if in_loop or len(statement.tokens) != 2:
                raise Unsupported
            changed[statement.tokens.first] = "continue"
            self._region.returns = True
        elif (statement.kind is StatementKind.SIMPLE and first in {"break", "continue"} and not in_loop) or (
            statement.kind is StatementKind.SWITCH
            and "return" in {self._editor.text(i) for i in statement.tokens}
        ):
            raise Unsupported
        inside = in_loop or statement.kind in {StatementKind.FOR, StatementKind.OTHER_LOOP}
        for part in statement.parts:
            self._check_jumps(part, changed, in_loop=inside)

    def _declare(
        self,
        statement: Statement,
        declaration: Declaration,
        scope: dict[str, Variable],
        nodes: list[Node],
        changed: dict[int, str],
    ) -> None:
        if declaration.is_constexpr:
            nodes.append(Verbatim(statement.tokens))
            for declared in declaration.variables:
                scope[declared.name] = self._variable(declared, VariableRole.UNIFORM)
            return
        for declared in declaration.variables:
            purity = None if changed else self._repeatable(declared, scope)
            if purity is None or declared.init is None:
                variable = self._variable(declared, VariableRole.PRIVATE)
                self._region.items.append(Item(declared.init or TokenRange(0, 0), changed, variable))
                self._region.declared.append(variable)
                self._started = self._started or self._has_effect(declared.init)
            elif purity.uniform:
                variable = self._variable(declared, VariableRole.UNIFORM)
                nodes.append(Verbatim(declared.init, variable))
            else:
                affine = declared.type_text == "int" and self._code.is_affine(declared.init, scope)
                variable = self._variable(declared, VariableRole.REPEATED, purity, affine=affine)
            scope[declared.name] = variable

    def _repeatable(self, declared: Declarator, scope: dict[str, Variable]) -> Purity | None:
        """Return the constants on which a variable depends; None if it has its own value."""
        if declared.init is None or declared.array_text:
            return None
        if is_changed(self._editor, declared.name, TokenRange(declared.init.end, self._kernel.body.end)):
            return None
        return self._code.purity(declared.init, scope)

    def _has_effect(self, tokens: TokenRange | None) -> bool:
        effects = {"++", "--", *ASSIGNMENTS}
        return tokens is not None and any(
            self._editor.text(i) in effects
            or (self._code.is_call(i) and not self._code.is_pure_call(self._editor.text(i)))
            for i in tokens
        )

    def _variable(
        self, declared: Declarator, role: VariableRole, purity: Purity | None = None, *, affine: bool = False
    ) -> Variable:
        variable = Variable(len(self._variables), declared, role)
        if purity:
            variable.needs, variable.by_x, variable.affine = purity.needs, purity.by_x, affine and purity.by_x
        self._variables.append(variable)
        return variable
