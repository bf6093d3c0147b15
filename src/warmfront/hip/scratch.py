"""Scratch kernels: launch a kernel without a problem, with sizes and arguments that its author typed.

A launch becomes a problem with one case and a generated `solution`, so that it is compiled, run and examined
in the same boxes as every submission. There is no reference: guard zones and inputs are checked, and the
outputs are shown.

A buffer of a type other than `float` and `__half` is passed as 32-bit words, because guard zones and poison
are patterns of words. A buffer that the kernel may write, and that has initial values, is an input that the
generated code copies to an output.
"""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Any, ClassVar

from warmfront.errors import InvalidLaunch
from warmfront.events import BufferValues
from warmfront.hip.source.lexer import LexError, TokenKind, match_brackets, tokenize
from warmfront.problems.spec import (
    Case,
    Difficulty,
    Dtype,
    Kind,
    Parameter,
    Problem,
    Scale,
    Tolerance,
)
from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import numpy as np

    from warmfront.hip.source.lexer import Token
    from warmfront.problems.spec import Tensors

    Array = np.ndarray[Any, Any]

#: The name of the problem of a launch, where a submission has a problem.
SLUG = "scratch"

#: How buffers can be filled, besides with typed values.
FILLS = ("random", "index", "zeros", "ones", "uninitialized")

MAX_ARGUMENTS = 32
MAX_BLOCK_THREADS = 1024
MAX_GRID = (2**31 - 1, 65_535, 65_535)
#: The CPU runtime executes every thread; more take longer than the time limit of a case.
MAX_THREADS = 1 << 22
MAX_SHARED_BYTES = 64 * 1024
#: All buffers together. The data of a case has to fit into memory several times.
MAX_BUFFER_BYTES = 16 << 20
MAX_TYPED_VALUES = 256
#: How many values of a buffer are shown.
SHOWN = 64

#: NumPy dtypes by C type, after `_canonical`.
_SCALARS = {
    "float": "float32",
    "double": "float64",
    "__half": "float16",
    "half": "float16",
    "_Float16": "float16",
    "bool": "uint8",
    "char": "int8",
    "signed char": "int8",
    "unsigned char": "uint8",
    "short": "int16",
    "unsigned short": "uint16",
    "int": "int32",
    "unsigned": "uint32",
    "unsigned int": "uint32",
    "uint": "uint32",
    "long": "int64",
    "long long": "int64",
    "unsigned long": "uint64",
    "unsigned long long": "uint64",
    "size_t": "uint64",
    **{f"{sign}int{bits}_t": f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)},
}
_VECTOR = re.compile(r"(float|double|int|uint)([24])")
_QUALIFIERS = frozenset({"const", "__restrict__", "__restrict", "restrict", "volatile", "std", "::"})
_ATTRIBUTES = frozenset({"__launch_bounds__", "__attribute__", "amdgpu_flat_work_group_size"})
_SUPPORTED = "float, double, __half, bool, the integer types, and float2, float4, int2, int4 and the like"


@dataclass(frozen=True, kw_only=True)
class KernelParameter:
    """A parameter of a kernel, as its source declares it."""

    name: str
    c_type: str  #: the element type of a pointer
    is_pointer: bool
    is_const: bool

    @property
    def dtype(self) -> str | None:
        """The NumPy dtype of one number; None if the type is not supported."""
        vector = _VECTOR.fullmatch(self.c_type)
        return _SCALARS.get(vector[1] if vector else self.c_type)

    @property
    def lanes(self) -> int:
        """The number of numeric components of one element."""
        vector = _VECTOR.fullmatch(self.c_type)
        return int(vector[2]) if vector else 1


@dataclass(frozen=True, kw_only=True)
class KernelArgument:
    """One argument: a number for a parameter by value, or the size and contents of a buffer."""

    parameter: KernelParameter
    value: int | float | None = None
    count: int = 0  #: elements of a buffer
    fill: str = ""  #: one of `FILLS`; empty for typed values
    values: tuple[int | float, ...] = ()  #: typed values, which are repeated


@dataclass(frozen=True, kw_only=True)
class Launch:
    """A valid launch of a kernel."""

    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int
    arguments: tuple[KernelArgument, ...]

    @property
    def buffers(self) -> tuple[KernelArgument, ...]:
        """The arguments that are buffers."""
        return tuple(argument for argument in self.arguments if argument.parameter.is_pointer)


def find_kernels(source: str) -> dict[str, tuple[KernelParameter, ...] | None]:
    """Return the kernels of a source with their parameters, by name.

    The parameters are None if the kernel is a template or cannot be understood.
    """
    try:
        code = tokenize(source).code
    except LexError:
        return {}
    partner = match_brackets(code).partner
    kernels: dict[str, tuple[KernelParameter, ...] | None] = {}
    for index, token in enumerate(code):
        if token.text != "__global__":
            continue
        place = _name_index(code, index + 1, partner)
        close = None if place is None else partner.get(place + 1)
        if place is None or close is None:
            continue
        is_template = _begins_with_template(code, index)
        kernels[code[place].text] = None if is_template else _parameters(code[place + 2 : close])
    return kernels


def validate_launch(declared: Mapping[str, Any], source: str) -> Launch:
    """Return the launch that a JSON object describes. Raises `InvalidLaunch`, which names the field."""
    kernels = find_kernels(source)
    name = declared.get("kernel")
    if name not in kernels:
        found = ", ".join(kernels) or "none; a kernel is a __global__ function"
        raise InvalidLaunch("launch.kernel", f"launch.kernel is {name!r:.80}; the source has {found}.")
    parameters = kernels[name]
    if parameters is None:
        raise InvalidLaunch(
            "launch.kernel",
            f"launch.kernel is {name!r}, which is a template or has an unsupported parameter.",
            hint="Write a kernel without template parameters that calls it.",
        )
    if "solution" in _defined_functions(source):
        raise InvalidLaunch(
            "solution_code",
            "solution_code defines `solution`, which a launch defines itself.",
            hint="Rename or remove it.",
        )
    grid, block = _dimensions(declared, "grid"), _dimensions(declared, "block")
    _check_threads(grid, block)
    launch = Launch(
        kernel=str(name),
        grid=grid,
        block=block,
        shared_bytes=_integer(declared.get("shared_bytes", 0), "launch.shared_bytes", 0, MAX_SHARED_BYTES),
        arguments=tuple(_arguments(declared.get("arguments", []), str(name), parameters)),
    )
    total = sum(_word_count(argument) * 4 for argument in launch.buffers)
    if total > MAX_BUFFER_BYTES:
        raise InvalidLaunch(
            "launch.arguments",
            f"launch.arguments has buffers of {total:,} bytes; the limit is {MAX_BUFFER_BYTES:,}.",
            hint="Use smaller buffers.",
        )
    return launch


def parse_launch(text: str, source: str) -> Launch:
    """Return the launch of a JSON text, validated again. Raises `InvalidLaunch`."""
    try:
        declared = json.loads(text)
    except ValueError:
        raise InvalidLaunch("launch", "launch is not valid JSON.") from None
    if not isinstance(declared, dict):
        raise InvalidLaunch("launch", "launch is not an object.")
    return validate_launch(declared, source)


def compose_source(source: str, launch: Launch) -> str:
    """Return the source with a `solution` that launches the kernel."""
    problem = ScratchProblem(launch)
    copies = "".join(
        f"    hipMemcpy({argument.parameter.name}, {_initial_name(argument)}, "
        f"{_word_count(argument) * 4}, hipMemcpyDeviceToDevice);\n"
        for argument in launch.buffers
        if _has_copy(argument)
    )
    grid, block = (f"dim3({', '.join(map(str, size))})" for size in (launch.grid, launch.block))
    arguments = ", ".join(map(_c_argument, launch.arguments))
    return (
        f"{source}\n\n#include <hip/hip_runtime.h>\n{problem.declaration(Dtype.FLOAT32)} {{\n{copies}"
        f"    {launch.kernel}<<<{grid}, {block}, {launch.shared_bytes}>>>({arguments});\n}}\n"
    )


class ScratchProblem(Problem):
    """The problem of a launch: one case without a reference."""

    slug = SLUG
    title = "Scratch kernel"
    difficulty = Difficulty.EASY
    tags = ("scratch",)
    statement = "A launch without a problem."
    dtypes: ClassVar[tuple[Dtype, ...]] = (Dtype.FLOAT32,)
    checks_outputs = False

    def __init__(self, launch: Launch) -> None:
        self.launch = launch
        self.signature = tuple(_signature(launch))  # type: ignore[misc]  # of this launch, not of the class

    def cases(self, scale: Scale) -> Sequence[Case]:  # noqa: ARG002 - the author chose the sizes
        """Return the only case."""
        return (Case(name="launch", values={}),)

    def inputs(self, case: Case, dtype: Dtype, rng: np.random.Generator) -> Tensors:  # noqa: ARG002 - as typed
        """Fill every buffer that the kernel reads."""
        return {
            _initial_name(argument) if _has_copy(argument) else argument.parameter.name: _contents(
                argument, rng
            )
            for argument in self.launch.buffers
            if argument.parameter.is_const or _has_copy(argument)
        }

    def output_shapes(self, case: Case) -> Mapping[str, tuple[int, ...]]:  # noqa: ARG002 - as above
        """Return the sizes of the buffers that the kernel may write."""
        return {
            argument.parameter.name: (_region_count(argument),)
            for argument in self.launch.buffers
            if not argument.parameter.is_const
        }

    def reference(self, case: Case, inputs: Tensors) -> Tensors:  # noqa: ARG002 - as above
        """Return an empty mapping, because the outputs are not compared."""
        return {}

    def tolerance(self, case: Case, dtype: Dtype) -> Tolerance:  # noqa: ARG002 - as above
        """Return an arbitrary tolerance, because the outputs are not compared."""
        return Tolerance(rtol=0.0, atol=0.0, why="The outputs of a launch are not compared.")

    def flops(self, case: Case) -> int:  # noqa: ARG002 - as above
        """Return 0, so that the bug finder examines every launch, up to its own limits."""
        return 0

    def bytes_moved(self, case: Case, dtype: Dtype) -> int:  # noqa: ARG002 - as above
        """Return 0, for the same reason."""
        return 0

    def describe_buffer(self, name: str, elements: Array, unwritten: int) -> BufferValues:
        """Return the first values of a buffer after the launch.

        Args:
            name: the name of the parameter.
            elements: the buffer as the guest had it: numbers of its type, or words.
            unwritten: how many of these still hold the poison from before the launch.
        """
        argument = next(each for each in self.launch.buffers if each.parameter.name == name)
        lanes = argument.parameter.lanes
        numbers = elements.view(argument.parameter.dtype or "uint8")[: argument.count * lanes]
        return BufferValues(
            name=name,
            type=argument.parameter.c_type,
            count=argument.count,
            values=tuple(numbers[:SHOWN].tolist()),
            unwritten=math.ceil(unwritten * argument.count / max(1, elements.size)),
        )


def _name_index(code: Sequence[Token], index: int, partner: Mapping[int, int]) -> int | None:
    """Return the index of the function's name in a declaration that continues at `index`."""
    while index + 1 < len(code) and code[index].text not in {";", "{", "}"}:
        if code[index + 1].text == "(":
            if code[index].text not in _ATTRIBUTES:
                return index if code[index].kind is TokenKind.NAME else None
            index = partner.get(index + 1, index)
        index += 1
    return None


def _begins_with_template(code: Sequence[Token], index: int) -> bool:
    while index > 0 and code[index - 1].text not in {";", "}", "{"}:
        index -= 1
    return code[index].text == "template"


def _parameters(tokens: Sequence[Token]) -> tuple[KernelParameter, ...] | None:
    """Return the parameters of a list; None if one is not understood, such as a reference or an array."""
    if not tokens or [token.text for token in tokens] == ["void"]:
        return ()
    groups: list[list[str]] = [[]]
    for token in tokens:
        if token.text == ",":
            groups.append([])
        elif token.kind is TokenKind.NAME or token.text in {"*", "::"}:
            groups[-1].append(token.text)
        else:
            return None
    parameters = [_parameter(words, number) for number, words in enumerate(groups)]
    names = [parameter.name for parameter in parameters]
    return tuple(parameters) if len(set(names)) == len(names) else None


def _parameter(words: Sequence[str], number: int) -> KernelParameter:
    names = [word for word in words if word not in _QUALIFIERS and word != "*"]
    is_named = len(names) > 1 and " ".join(names) not in _SCALARS
    before_star = words[: words.index("*")] if "*" in words else words
    return KernelParameter(
        name=names[-1] if is_named else f"argument{number}",
        c_type=" ".join(names[:-1] if is_named else names) + "*" * max(0, words.count("*") - 1),
        is_pointer="*" in words,
        is_const="const" in before_star,
    )


def _defined_functions(source: str) -> set[str]:
    code = tokenize(source).code
    partner = match_brackets(code).partner
    return {
        token.text
        for index, token in enumerate(code[:-1])
        if token.kind is TokenKind.NAME
        and code[index + 1].text == "("
        and (close := partner.get(index + 1)) is not None
        and close + 1 < len(code)
        and code[close + 1].text == "{"
    }


def _dimensions(declared: Mapping[str, Any], name: str) -> tuple[int, int, int]:
    field, given = f"launch.{name}", declared.get(name)
    if not isinstance(given, list | tuple) or not 1 <= len(given) <= len(MAX_GRID):
        raise InvalidLaunch(field, f"{field} is {given!r:.80}; allowed: a list of one to three sizes.")
    limits = MAX_GRID if name == "grid" else (MAX_BLOCK_THREADS,) * 3
    sizes = [_integer(size, f"{field}[{i}]", 1, limits[i]) for i, size in enumerate(given)]
    x, y, z = (*sizes, 1, 1)[:3]
    return x, y, z


def _check_threads(grid: tuple[int, int, int], block: tuple[int, int, int]) -> None:
    per_block, total = math.prod(block), math.prod(block) * math.prod(grid)
    if per_block > MAX_BLOCK_THREADS:
        raise InvalidLaunch(
            "launch.block",
            f"launch.block is {block}, which is {per_block:,} threads; the limit is {MAX_BLOCK_THREADS:,}.",
            hint="Use a smaller block and a larger grid.",
        )
    if total > MAX_THREADS:
        raise InvalidLaunch(
            "launch.grid",
            f"launch.grid is {grid}, which is {total:,} threads; the limit is {MAX_THREADS:,}.",
            hint="Use a smaller grid.",
        )


def _arguments(
    declared: object, kernel: str, parameters: Sequence[KernelParameter]
) -> Iterator[KernelArgument]:
    if not isinstance(declared, list | tuple) or len(declared) != len(parameters):
        count = len(declared) if isinstance(declared, list | tuple) else 0
        raise InvalidLaunch(
            "launch.arguments", f"launch.arguments has {count}; `{kernel}` has {len(parameters)} parameters."
        )
    if len(parameters) > MAX_ARGUMENTS:
        raise InvalidLaunch(
            "launch.arguments", f"`{kernel}` has {len(parameters)} parameters; the limit is {MAX_ARGUMENTS}."
        )
    for index, (given, parameter) in enumerate(zip(declared, parameters, strict=True)):
        field = f"launch.arguments[{index}]"
        if not isinstance(given, dict):
            raise InvalidLaunch(field, f"{field} is {given!r:.80}; an object is required.")
        if parameter.dtype is None:
            star = "*" if parameter.is_pointer else ""
            raise InvalidLaunch(
                field,
                f"{field}: `{parameter.name}` has the type `{parameter.c_type}{star}`; "
                f"supported: {_SUPPORTED}.",
                hint="Write a kernel with supported types that calls it.",
            )
        yield (_buffer if parameter.is_pointer else _number)(given, field, parameter)


def _number(given: Mapping[str, Any], field: str, parameter: KernelParameter) -> KernelArgument:
    value = given.get("value")
    field = f"{field}.value"
    if parameter.lanes > 1:
        raise InvalidLaunch(
            field, f"{field}: `{parameter.name}` is a vector by value, which is not supported."
        )
    _check_number(value, field, parameter)
    return KernelArgument(parameter=parameter, value=value)


def _buffer(given: Mapping[str, Any], field: str, parameter: KernelParameter) -> KernelArgument:
    count = _integer(given.get("count"), f"{field}.count", 1, MAX_BUFFER_BYTES)
    typed = given.get("values")
    if typed is not None:
        if not isinstance(typed, list | tuple) or not 1 <= len(typed) <= MAX_TYPED_VALUES:
            raise InvalidLaunch(
                f"{field}.values",
                f"{field}.values is {typed!r:.80}; allowed: a list of 1 to {MAX_TYPED_VALUES} numbers.",
            )
        for index, value in enumerate(typed):
            _check_number(value, f"{field}.values[{index}]", parameter)
        return KernelArgument(parameter=parameter, count=count, values=tuple(typed))
    default = "random" if parameter.is_const else "uninitialized"
    fill = given.get("fill") or default
    allowed = [name for name in FILLS if name != "uninitialized" or not parameter.is_const]
    if fill not in allowed:
        raise InvalidLaunch(f"{field}.fill", f"{field}.fill is {fill!r:.80}; allowed: {', '.join(allowed)}.")
    return KernelArgument(parameter=parameter, count=count, fill=fill)


def _check_number(value: object, field: str, parameter: KernelParameter) -> None:
    """Raise `InvalidLaunch` unless the value is a number that the parameter's type can hold."""
    dtype = parameter.dtype or ""
    if dtype.startswith("float"):
        if type(value) not in {int, float} or not abs(value) <= 1e308:  # type: ignore[arg-type]
            raise InvalidLaunch(field, f"{field} is {value!r:.80}; allowed: a finite number.")
        return
    bits = int(dtype.lstrip("uint"))
    low, high = (0, 2**bits - 1) if dtype.startswith("u") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    _integer(value, field, low, high)


def _integer(value: object, field: str, low: int, high: int) -> int:
    if type(value) is not int or not low <= value <= high:
        raise InvalidLaunch(
            field, f"{field} is {value!r:.80}; allowed: a whole number from {low:,} to {high:,}."
        )
    return value


def _has_copy(argument: KernelArgument) -> bool:
    """Return whether the buffer is written by the kernel and has initial values."""
    return not argument.parameter.is_const and argument.fill != "uninitialized"


def _initial_name(argument: KernelArgument) -> str:
    return f"{argument.parameter.name}_initial"


def _region_dtype(argument: KernelArgument) -> Dtype:
    """Return the dtype of the buffer in the judge's data: its own, or words."""
    return {"float32": Dtype.FLOAT32, "float16": Dtype.FLOAT16}.get(
        argument.parameter.dtype or "", Dtype.INT32
    )


def _buffer_bytes(argument: KernelArgument) -> int:
    dtype = argument.parameter.dtype or ""
    return argument.count * argument.parameter.lanes * int(re.sub(r"\D", "", dtype)) // 8


def _word_count(argument: KernelArgument) -> int:
    return -(-_buffer_bytes(argument) // 4)


def _region_count(argument: KernelArgument) -> int:
    """Return the number of elements in the judge's data. Arrays of halves are padded to whole words, too."""
    return _word_count(argument) * 4 // _region_dtype(argument).size


def _signature(launch: Launch) -> Iterator[Parameter]:
    for argument in launch.buffers:
        name, dtype = argument.parameter.name, _region_dtype(argument)
        if argument.parameter.is_const:
            yield Parameter(name, Kind.INPUT, dtype=dtype)
            continue
        if _has_copy(argument):
            yield Parameter(_initial_name(argument), Kind.INPUT, dtype=dtype)
        yield Parameter(name, Kind.OUTPUT, dtype=dtype)


def _c_argument(argument: KernelArgument) -> str:
    """Return the argument as C++, cast to the type of the parameter."""
    parameter = argument.parameter
    if parameter.is_pointer:
        const = "const " if parameter.is_const else ""
        return f"({const}{parameter.c_type}*){parameter.name}"
    suffix = ""
    if type(argument.value) is int and abs(argument.value) >= 2**31:
        suffix = "ull" if argument.value > 0 else "ll"
    value = f"({argument.value + 1}ll - 1)" if argument.value == -(2**63) else f"{argument.value!r}{suffix}"
    return f"({parameter.c_type})({value})"


def _contents(argument: KernelArgument, rng: np.random.Generator) -> Array:
    """Return the initial values of a buffer, as numbers or words of the judge's data."""
    import numpy as np  # noqa: PLC0415 - loaded while the compiler runs

    dtype = np.dtype(argument.parameter.dtype or "uint8")
    count = argument.count * argument.parameter.lanes
    numbers: Array
    if argument.values:
        numbers = np.resize(np.array(argument.values, dtype), count)
    elif argument.fill == "index":
        numbers = np.arange(count).astype(dtype)
    elif argument.fill == "random":
        numbers = rng.normal(size=count) if dtype.kind == "f" else rng.integers(0, 100, count)
    else:
        numbers = np.full(count, argument.fill == "ones")
    region = np.zeros(_word_count(argument), np.uint32)
    region.view(dtype)[:count] = numbers.astype(dtype)
    return region.view(_region_dtype(argument).value)
