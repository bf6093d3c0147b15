"""Interface of a problem: signature, cases, inputs, reference, tolerances, FLOPs and bytes.

A problem file defines one subclass of `Problem`. This module does not compile or run kernels.
"""

from __future__ import annotations

import re
import struct
from abc import ABC, abstractmethod
from dataclasses import field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar

from warmfront.errors import BadProblemFile
from warmfront.problems.ranges import DimensionIn, DimensionsOf, Numbers, Shapes, Sizes, check_ranges
from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np

    from warmfront.gpus import Gpu
    from warmfront.problems.ranges import Range

    Tensors = Mapping[str, np.ndarray[Any, Any]]


class Dtype(StrEnum):
    """The element types of tensors. The values are NumPy's names."""

    FLOAT32 = "float32"
    FLOAT16 = "float16"
    INT32 = "int32"

    @property
    def c_name(self) -> str:
        """The name of the type in HIP."""
        return {"float32": "float", "float16": "__half", "int32": "int"}[self.value]

    @property
    def size(self) -> int:
        """The size of one element in bytes."""
        return {"float32": 4, "float16": 2, "int32": 4}[self.value]


class Scale(StrEnum):
    """The kind of machine for which a case is sized."""

    CPU = "cpu"  #: a whole check takes less than a second on two cores
    GPU = "gpu"  #: large enough to keep an MI300X busy


class Difficulty(StrEnum):
    """The difficulty of a correct solution."""

    EASY = "easy"
    MEDIUM = "medium"
    HARD = "hard"


class Kind(StrEnum):
    """The kinds of parameters of `solution`."""

    INPUT = "input"  #: const T*, device memory, must not be changed
    OUTPUT = "output"  #: T*, device memory, poisoned before the call
    SCALAR = "scalar"  #: int or float, by value
    SIZE = "size"  #: size_t, by value
    SHAPE = "shape"  #: const size_t*, readable from host and device


@dataclass(frozen=True)
class Parameter:
    """One parameter of `solution`."""

    name: str
    kind: Kind
    c_type: str = ""  #: for SCALAR: `int` or `float`
    dtype: Dtype | None = None  #: for tensors: a fixed dtype instead of the submission's

    def c_declaration(self, dtype: Dtype) -> str:
        """Return the C declaration for a submission in `dtype`, such as `const float* input`."""
        return f"{self.c_spelling(dtype)} {self.name}"

    def c_spelling(self, dtype: Dtype) -> str:
        """Return the C type for a submission in `dtype`."""
        element = (self.dtype or dtype).c_name
        return {
            Kind.INPUT: f"const {element}*",
            Kind.OUTPUT: f"{element}*",
            Kind.SCALAR: self.c_type,
            Kind.SIZE: "size_t",
            Kind.SHAPE: "const size_t*",
        }[self.kind]


def tensor_in(name: str, dtype: Dtype | None = None) -> Parameter:
    """Return a parameter for an input tensor."""
    return Parameter(name, Kind.INPUT, dtype=dtype)


def tensor_out(name: str, dtype: Dtype | None = None) -> Parameter:
    """Return a parameter for an output tensor."""
    return Parameter(name, Kind.OUTPUT, dtype=dtype)


def scalar(c_type: str, name: str) -> Parameter:
    """Return a parameter for a number by value; `c_type` is `int` or `float`."""
    return Parameter(name, Kind.SCALAR, c_type=c_type)


def size(name: str) -> Parameter:
    """Return a parameter for a `size_t`."""
    return Parameter(name, Kind.SIZE)


def shape(name: str) -> Parameter:
    """Return a parameter for an array of `size_t`, readable from host and device."""
    return Parameter(name, Kind.SHAPE)


@dataclass(frozen=True, kw_only=True)
class Tolerance:
    """The tolerance of an output: `|output - reference| <= atol + rtol * |reference|`."""

    rtol: float
    atol: float
    why: str  #: shown to the author


@dataclass(frozen=True, kw_only=True)
class Case:
    """One call of `solution`: its sizes and the style of its inputs."""

    name: str
    #: The value of every SCALAR, SIZE and SHAPE parameter, by name.
    values: Mapping[str, int | float | tuple[int, ...]]
    draw: str = "normal"  #: the style of the inputs
    benchmark: bool = False  #: whether the case is also timed
    note: str = ""  #: the error that this case exposes
    extra: Mapping[str, Any] = field(default_factory=dict)

    def size(self, name: str) -> int:
        """Return the integer with this name."""
        value = self.values[name]
        if not isinstance(value, int):
            raise TypeError(f"{name} of case {self.name} is {value!r}, not an integer")
        return value

    def c_float(self, name: str) -> float:
        """Return the number with this name, rounded to the C `float` that the kernel receives."""
        value = self.values[name]
        if isinstance(value, tuple):
            raise TypeError(f"{name} of case {self.name} is {value!r}, not a number")
        rounded: float = struct.unpack("f", struct.pack("f", value))[0]
        return rounded

    def shape(self, name: str) -> tuple[int, ...]:
        """Return the shape with this name."""
        value = self.values[name]
        if not isinstance(value, tuple):
            raise TypeError(f"{name} of case {self.name} is {value!r}, not a shape")
        return value


class Problem(ABC):
    """Base class of problems. The registry instantiates the one subclass that a module defines."""

    slug: ClassVar[str]
    title: ClassVar[str]
    difficulty: ClassVar[Difficulty]
    tags: ClassVar[tuple[str, ...]]
    signature: ClassVar[tuple[Parameter, ...]]
    statement: ClassVar[str]  #: Markdown, with the formula
    dtypes: ClassVar[tuple[Dtype, ...]] = (Dtype.FLOAT32,)  #: the first is the default
    aliases: ClassVar[tuple[str, ...]] = ()
    arithmetic: ClassVar[str] = ""  #: a key of `Gpu.peak_flops`, if the dtype does not decide the roofline
    definition: str = ""  #: its Python source, if it is not from a module
    checks_outputs: ClassVar[bool] = True  #: False for a scratch kernel, which has no reference

    @abstractmethod
    def cases(self, scale: Scale) -> Sequence[Case]:
        """Return the cases, smallest first."""

    def ranges(self, scale: Scale) -> Mapping[str, Range]:  # noqa: ARG002 - for subclasses
        """Return the range of every SCALAR, SIZE and SHAPE parameter, from which hidden sizes are drawn.

        By default there are none, and the problem has no hidden cases.
        """
        return {}

    def styles(self, case: Case, dtype: Dtype) -> Sequence[str]:  # noqa: ARG002 - for subclasses
        """Return the styles that `inputs` and `tolerance` support as `case.draw` for these sizes.

        Each hidden case has one of them, drawn from the secret seed. By default there are none, and every
        case keeps its own style.
        """
        return ()

    def timed_styles(self, case: Case, dtype: Dtype) -> Sequence[str]:
        """Return the styles of timed samples. An honest kernel must take the same time for each of them."""
        return self.styles(case, dtype)

    @abstractmethod
    def inputs(self, case: Case, dtype: Dtype, rng: np.random.Generator) -> Tensors:
        """Draw every INPUT tensor, in its final dtype."""

    @abstractmethod
    def output_shapes(self, case: Case) -> Mapping[str, tuple[int, ...]]:
        """Return the shape of every OUTPUT tensor."""

    @abstractmethod
    def reference(self, case: Case, inputs: Tensors) -> Tensors:
        """Compute every OUTPUT tensor, in higher precision than the dtype."""

    @abstractmethod
    def tolerance(self, case: Case, dtype: Dtype) -> Tolerance:
        """Return the allowed error of the outputs."""

    @abstractmethod
    def flops(self, case: Case) -> int:
        """Return the number of floating-point operations that the case needs, or 0 if it is irrelevant."""

    @abstractmethod
    def bytes_moved(self, case: Case, dtype: Dtype) -> int:
        """Return the least memory traffic in bytes: every input read and every output written once."""

    def floor_ms(self, case: Case, dtype: Dtype, gpu: Gpu) -> float:
        """Return the roofline floor of a case: the least time that any kernel takes on a GPU."""
        return gpu.floor_ms(self.flops(case), self.bytes_moved(case, dtype), self.arithmetic or dtype)

    def declaration(self, dtype: Dtype) -> str:
        """Return the required declaration, `extern "C" void solution(...)`."""
        parameters = ", ".join(parameter.c_declaration(dtype) for parameter in self.signature)
        return f'extern "C" void solution({parameters})'

    def summary(self) -> dict[str, Any]:
        """Return the main fields as JSON."""
        return {
            "slug": self.slug,
            "title": self.title,
            "difficulty": self.difficulty.value,
            "tags": list(self.tags),
            "dtypes": [dtype.value for dtype in self.dtypes],
            "aliases": list(self.aliases),
            "declaration": self.declaration(self.dtypes[0]),
        }

    def starter(self, dtype: Dtype) -> str:
        """Return starter code, which compiles and launches an empty kernel, so its result is wrong."""
        kernel = self.slug.replace("-", "_") + "_kernel"
        parameters = ", ".join(p.c_declaration(dtype) for p in self.signature)
        arguments = ", ".join(p.name for p in self.signature)
        return _STARTER.format(
            headers=_HEADERS[dtype],
            title=self.title,
            kernel=kernel,
            parameters=parameters,
            arguments=arguments,
            declaration=self.declaration(dtype),
        )


_HEADERS = {
    Dtype.FLOAT32: "#include <hip/hip_runtime.h>",
    Dtype.FLOAT16: "#include <hip/hip_fp16.h>\n#include <hip/hip_runtime.h>",
    Dtype.INT32: "#include <hip/hip_runtime.h>",
}

_STARTER = """\
{headers}

// {title}. Runs on the GPU, once per thread that `solution` launches.
__global__ void {kernel}({parameters}) {{
    // The index of this thread among all threads of the launch is
    // blockIdx.x * blockDim.x + threadIdx.x
}}

// Runs on the host. Tensors are in device memory: only kernels may dereference their pointers.
{declaration} {{
    const int threads_per_block = 256;
    const int blocks = 1;  // enough for 256 elements; most inputs need more
    {kernel}<<<blocks, threads_per_block>>>({arguments});
}}
"""


_SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_HIDDEN_NAME = re.compile(r"hidden-\d+")
_C_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_REQUIRED = ("slug", "title", "difficulty", "tags", "signature", "statement")
_BY_VALUE = (Kind.SCALAR, Kind.SIZE, Kind.SHAPE)


def check_problem(problem: Problem, *, slug: str) -> None:
    """Validate a problem.

    Raises:
        BadProblemFile: The problem is invalid; the message describes the first error.
    """
    missing = [name for name in _REQUIRED if not getattr(problem, name, None)]
    if missing:
        raise BadProblemFile(f"{type(problem).__name__} does not define {', '.join(missing)}")
    if problem.slug != slug or not _SLUG.fullmatch(problem.slug):
        raise BadProblemFile(f"its slug is {problem.slug!r}, but the file's name requires {slug!r}")
    _check_signature(problem)
    allowed = {p.name: _allowed_ranges(p) for p in problem.signature if p.kind in _BY_VALUE}
    for scale in Scale:
        _check_cases(problem, scale)
        check_ranges(problem.ranges(scale), allowed)


def _allowed_ranges(parameter: Parameter) -> tuple[type[Range], ...]:
    if parameter.kind is Kind.SHAPE:
        return (Shapes,)
    return (Numbers, Sizes) if parameter.c_type == "float" else (Sizes, DimensionsOf, DimensionIn)


def _check_signature(problem: Problem) -> None:
    names = [parameter.name for parameter in problem.signature]
    for name in names:
        if not _C_NAME.fullmatch(name):
            raise BadProblemFile(f"{name!r} is not a valid name for a C parameter")
    if len(set(names)) != len(names):
        raise BadProblemFile("two parameters have the same name")
    if not any(parameter.kind is Kind.OUTPUT for parameter in problem.signature):
        raise BadProblemFile("its signature has no output")
    for parameter in problem.signature:
        if parameter.kind is Kind.SCALAR and parameter.c_type not in {"int", "float"}:
            raise BadProblemFile(
                f"the scalar {parameter.name!r} has type {parameter.c_type!r}; allowed: int, float"
            )
    if not problem.dtypes:
        raise BadProblemFile("it has no dtypes")


def _check_cases(problem: Problem, scale: Scale) -> None:
    cases = problem.cases(scale)
    if not cases:
        raise BadProblemFile(f"it has no cases at the {scale} scale")
    names = [case.name for case in cases]
    duplicates = {name for name in names if names.count(name) > 1}
    if duplicates:
        raise BadProblemFile(f"two cases at the {scale} scale have the name {min(duplicates)!r}")
    hidden = [name for name in names if _HIDDEN_NAME.fullmatch(name)]
    if hidden:
        raise BadProblemFile(f"a case at the {scale} scale has the name {hidden[0]!r} of a hidden case")
    if not any(case.benchmark for case in cases):
        raise BadProblemFile(f"no case at the {scale} scale has benchmark=True")
    for case in cases:
        _check_values(problem, case)


def _check_values(problem: Problem, case: Case) -> None:
    by_value = {parameter.name: parameter for parameter in problem.signature if parameter.kind in _BY_VALUE}
    if set(case.values) != set(by_value):
        raise BadProblemFile(
            f"case {case.name!r} has values for {sorted(case.values)}; the signature needs {sorted(by_value)}"
        )
    for name, parameter in by_value.items():
        if not _fits(case.values[name], parameter):
            raise BadProblemFile(f"case {case.name!r}: {case.values[name]!r} is not a valid value for {name}")


def _fits(value: object, parameter: Parameter) -> bool:
    if parameter.kind is Kind.SHAPE:
        return isinstance(value, tuple) and all(isinstance(extent, int) and extent >= 0 for extent in value)
    if parameter.kind is Kind.SIZE:
        return isinstance(value, int) and value >= 0
    if parameter.c_type == "int":
        return isinstance(value, int) and -(2**31) <= value < 2**31
    return isinstance(value, int | float)
