"""What a problem is: a signature, inputs from a seed, a reference, cases, tolerances, FLOPs and bytes.

A problem's file defines one subclass of `Problem`. Nothing in here compiles or runs a kernel.
"""

from __future__ import annotations

import struct
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np

    #: Input or output tensors by parameter name.
    Tensors = Mapping[str, np.ndarray[Any, Any]]


class Dtype(StrEnum):
    """Element types of tensors. The value is NumPy's name too."""

    FLOAT32 = "float32"
    FLOAT16 = "float16"
    INT32 = "int32"

    @property
    def c_name(self) -> str:
        """How HIP spells it."""
        return {"float32": "float", "float16": "__half", "int32": "int"}[self.value]

    @property
    def size(self) -> int:
        """Bytes of one element."""
        return {"float32": 4, "float16": 2, "int32": 4}[self.value]


class Scale(StrEnum):
    """For which machine a case is sized."""

    CPU = "cpu"  #: a whole check stays under a second on two cores
    GPU = "gpu"  #: worth an MI300X


class Difficulty(StrEnum):
    """How hard an honest solution is."""

    EASY = "easy"
    MEDIUM = "medium"
    HARD = "hard"


class Kind(StrEnum):
    """What a parameter of `solution` carries."""

    INPUT = "input"  #: const T*, device memory, not to be changed
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
    dtype: Dtype | None = None  #: for tensors: fixed, whatever dtype was asked for

    def c_declaration(self, dtype: Dtype) -> str:
        """Such as `const float* input`, for a submission in `dtype`."""
        return f"{self.c_spelling(dtype)} {self.name}"

    def c_spelling(self, dtype: Dtype) -> str:
        """Its C type for a submission in `dtype`."""
        element = (self.dtype or dtype).c_name
        return {
            Kind.INPUT: f"const {element}*",
            Kind.OUTPUT: f"{element}*",
            Kind.SCALAR: self.c_type,
            Kind.SIZE: "size_t",
            Kind.SHAPE: "const size_t*",
        }[self.kind]


def tensor_in(name: str, dtype: Dtype | None = None) -> Parameter:
    """An input tensor."""
    return Parameter(name, Kind.INPUT, dtype=dtype)


def tensor_out(name: str, dtype: Dtype | None = None) -> Parameter:
    """An output tensor."""
    return Parameter(name, Kind.OUTPUT, dtype=dtype)


def scalar(c_type: str, name: str) -> Parameter:
    """A number by value, `int` or `float`."""
    return Parameter(name, Kind.SCALAR, c_type=c_type)


def size(name: str) -> Parameter:
    """A `size_t`."""
    return Parameter(name, Kind.SIZE)


def shape(name: str) -> Parameter:
    """An array of `size_t`, readable from host and device."""
    return Parameter(name, Kind.SHAPE)


@dataclass(frozen=True, kw_only=True)
class Tolerance:
    """An output is right where `|got - want| <= atol + rtol * |want|`."""

    rtol: float
    atol: float
    why: str  #: shown to the author


@dataclass(frozen=True, kw_only=True)
class Case:
    """One call of `solution`: its sizes, and how its inputs are drawn."""

    name: str
    #: The value of every SCALAR, SIZE and SHAPE parameter, by name.
    values: Mapping[str, int | float | tuple[int, ...]]
    draw: str = "normal"  #: which of the problem's ways to draw inputs
    benchmark: bool = False  #: timed too, not only checked
    note: str = ""  #: what this case is there to catch
    extra: Mapping[str, Any] = field(default_factory=dict)

    def size(self, name: str) -> int:
        """The whole number under `name`."""
        value = self.values[name]
        if not isinstance(value, int):
            raise TypeError(f"{name} of case {self.name} is {value!r}, not a whole number")
        return value

    def c_float(self, name: str) -> float:
        """The number under `name` as a C `float` holds it, which is what the kernel gets."""
        value = self.values[name]
        if isinstance(value, tuple):
            raise TypeError(f"{name} of case {self.name} is {value!r}, not a number")
        rounded: float = struct.unpack("f", struct.pack("f", value))[0]
        return rounded

    def shape(self, name: str) -> tuple[int, ...]:
        """The extents under `name`."""
        value = self.values[name]
        if not isinstance(value, tuple):
            raise TypeError(f"{name} of case {self.name} is {value!r}, not a shape")
        return value


class Problem(ABC):
    """A problem. The module's one subclass is found by the registry and used without arguments."""

    slug: ClassVar[str]
    title: ClassVar[str]
    difficulty: ClassVar[Difficulty]
    tags: ClassVar[tuple[str, ...]]
    signature: ClassVar[tuple[Parameter, ...]]
    statement: ClassVar[str]  #: Markdown, with the formula
    dtypes: ClassVar[tuple[Dtype, ...]] = (Dtype.FLOAT32,)  #: the first is the default
    aliases: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def cases(self, scale: Scale) -> Sequence[Case]:
        """The cases, smallest first."""

    @abstractmethod
    def inputs(self, case: Case, dtype: Dtype, rng: np.random.Generator) -> Tensors:
        """Every INPUT tensor, in its final dtype."""

    @abstractmethod
    def output_shapes(self, case: Case) -> Mapping[str, tuple[int, ...]]:
        """The shape of every OUTPUT tensor."""

    @abstractmethod
    def reference(self, case: Case, inputs: Tensors) -> Tensors:
        """Every OUTPUT tensor as it should be, computed in higher precision than the dtype."""

    @abstractmethod
    def tolerance(self, case: Case, dtype: Dtype) -> Tolerance:
        """How far an output may be off."""

    @abstractmethod
    def flops(self, case: Case) -> int:
        """Floating-point operations that the case needs; 0 where they are not the point."""

    @abstractmethod
    def bytes_moved(self, case: Case, dtype: Dtype) -> int:
        """Bytes that must cross memory at least: every input read and every output written once."""

    def declaration(self, dtype: Dtype) -> str:
        """`extern "C" void solution(...)`, as an author must write it."""
        inside = ", ".join(p.c_declaration(dtype) for p in self.signature)
        return f'extern "C" void solution({inside})'

    def summary(self) -> dict[str, Any]:
        """A few fields, for lists and programs."""
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
        """Code to begin with: it compiles, launches a kernel that does nothing, and is wrong."""
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

// {title}. Runs on the GPU, once for every thread that `solution` launches.
__global__ void {kernel}({parameters}) {{
    // This thread's number among all threads of the launch is
    // blockIdx.x * blockDim.x + threadIdx.x
}}

// Runs on the host. Tensors are in device memory: only a kernel may follow their pointers.
{declaration} {{
    const int threads_per_block = 256;
    const int blocks = 1;  // enough for 256 threads; most inputs need more
    {kernel}<<<blocks, threads_per_block>>>({arguments});
}}
"""
