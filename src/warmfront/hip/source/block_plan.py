"""The plan for the second form of a kernel: its variables, its loops over threads, and the code around them.

`thread_loops.py` makes the plan and `thread_loops_text.py` writes it as C++.
"""

from __future__ import annotations

from dataclasses import field
from enum import Enum, auto
from typing import TYPE_CHECKING, NamedTuple

from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from warmfront.hip.source.declarations import Declarator
    from warmfront.hip.source.file_facts import Kernel
    from warmfront.hip.source.kernel_statements import TokenRange


class VariableRole(Enum):
    """The representation of a variable of the kernel."""

    UNIFORM = auto()  #: the same for all threads: a variable of the function
    REPEATED = auto()  #: computed again wherever it is used
    PRIVATE = auto()  #: a value per thread: in an array, unless one region has all its uses


@dataclass(eq=False)
class Variable:
    """A variable that is declared outside the statements that threads run."""

    number: int
    declared: Declarator
    role: VariableRole
    needs: tuple[Variable, ...] = ()  #: the repeated variables in its initializer
    by_x: bool = False  #: of a repeated variable: it depends on threadIdx.x
    affine: bool = False  #: its value is that of the row's first thread plus threadIdx.x
    stored: bool = False  #: of a private variable: it has an array


@dataclass(eq=False)
class Region:
    """Consecutive statements that each thread runs without waiting."""

    items: list[Item] = field(default_factory=list)
    visible: dict[str, Variable] = field(default_factory=dict)
    declared: list[Variable] = field(default_factory=list)
    results: list[ShuffleResult] = field(default_factory=list)
    returns: bool = False
    calls: bool = False  #: whether functions that it calls may read threadIdx


class Item(NamedTuple):
    """A statement of a region, or a variable declared in it, with the new text of changed tokens."""

    tokens: TokenRange
    changed: dict[int, str]
    variable: Variable | None = None


class ShuffleResult(NamedTuple):
    """A call of a shuffle."""

    number: int
    variable: Variable  #: whose value is exchanged
    function: str  #: shfl, shfl_up …
    arguments: TokenRange  #: after the value


class Verbatim(NamedTuple):
    """A declaration that is the same for all threads."""

    tokens: TokenRange
    variable: Variable | None = None
    shared: tuple[str, ...] = ()  #: the names of static shared memory that it declares


class Guard(NamedTuple):
    """A guard that runs the block thread by thread unless the condition is `wanted` for all threads."""

    condition: TokenRange
    wanted: bool
    visible: dict[str, Variable]


class Barrier(NamedTuple):
    """A barrier of the block, which needs no code in the second form, because a region ends there."""


class Control(NamedTuple):
    """A loop or a branch that all threads take in the same way; `header` ends at its closing parenthesis."""

    header: TokenRange
    body: list[Node]
    otherwise: list[Node] | None = None
    repeats: bool = False  #: whether it is a loop


class Strided(NamedTuple):
    """The loop `for (int i = first + threadIdx.x; i < bound; i += step)`."""

    counter: Declarator
    init: TokenRange
    bound: TokenRange
    step: TokenRange
    region: Region


class Shuffle(NamedTuple):
    """The exchange of values before the statement that uses them."""

    results: list[ShuffleResult]
    visible: dict[str, Variable]


Node = Region | Verbatim | Guard | Barrier | Control | Strided | Shuffle


class Plan(NamedTuple):
    """The second form of a kernel."""

    kernel: Kernel
    nodes: list[Node]
    variables: list[Variable]
    results: list[ShuffleResult]
