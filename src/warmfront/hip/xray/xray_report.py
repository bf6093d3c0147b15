"""The X-ray's report on a file: figures of each kernel, findings, and the assembly by source line.

The classes are immutable; `to_dict` returns the JSON form.
"""

from __future__ import annotations

from dataclasses import asdict, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from warmfront.hip.xray.isa_listing import listing_blocks
from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping

    from warmfront.hip.diagnose import CompileFailure
    from warmfront.hip.xray.assembly import Instruction
    from warmfront.hip.xray.matrix_usage import MatrixUsage
    from warmfront.hip.xray.occupancy import Occupancy, OccupancyStep


class Rule(StrEnum):
    """A rule that produces findings."""

    SPILLS = "spills"  #: too few registers, so values are kept in memory
    PRIVATE_ARRAY = "private-array"  #: an array is indexed at run time, so it is kept in memory
    LDS_OVER_LIMIT = "lds-over-limit"  #: a block needs more LDS than a compute unit has
    NARROW_LOADS = "narrow-loads"  #: lanes load fewer bytes per instruction than they could
    BANK_CONFLICT = "bank-conflict"  #: lanes of a wave access the same LDS bank at once
    DOUBLE_MATH = "double-math"  #: unintended double precision in float code
    DIVERGENT_BARRIER = "divergent-barrier"  #: some threads of a block may not reach a barrier
    WAVE_OF_32 = "wave-of-32"  #: code that assumes waves of 32 lanes
    NEEDS_ROCM_7 = "needs-rocm-7"  #: a construct that ROCm 6.4 does not have
    SCALAR_MATMUL = "scalar-matmul"  #: a matrix product without a matrix instruction
    SLOW_MATRIX_FORM = "slow-matrix-form"  #: a matrix instruction below the peak of its type
    DEPENDENT_MFMA = "dependent-mfma"  #: matrix instructions that all wait for each other
    AGPR_MOVES = "agpr-moves"  #: copies between vector and accumulation registers in a loop
    UNPACKED_FMA = "unpacked-fma"  #: multiply-adds one by one that could be computed in pairs
    NARROW_STORES = "narrow-stores"  #: a lane stores with more instructions than it needs


@dataclass(frozen=True, kw_only=True)
class XrayFinding:
    """A problem in a kernel: where it is, why it matters, and what to try."""

    rule: Rule
    kernel: str
    line: int | None
    message: str
    advice: str


@dataclass(frozen=True, kw_only=True)
class InstructionMix:
    """Static counts of a kernel's instructions by kind; how often each one runs is unknown."""

    counts: Mapping[str, int]  #: by `assembly.InstructionKind`
    load_widths: Mapping[int, int]  #: number of global loads, by bytes per lane
    store_widths: Mapping[int, int]  #: number of global stores, by bytes per lane

    @property
    def total(self) -> int:
        """The number of all instructions."""
        return sum(self.counts.values())

    def count(self, kind: str) -> int:
        """Return the number of instructions of one kind."""
        return self.counts.get(kind, 0)


@dataclass(frozen=True, kw_only=True)
class Loop:
    """A loop that remains in the code after unrolling."""

    line: int | None
    depth: int  #: 1 is outermost
    instructions: int  #: in its body, without inner loops
    counts: Mapping[str, int]  #: by `assembly.InstructionKind`


@dataclass(frozen=True, kw_only=True)
class Roofline:
    """The minimum work and time on a GPU for the problem's largest case."""

    gpu: str
    case: str
    dtype: str
    flops: int
    bytes_moved: int
    flops_per_byte: float
    ridge_flops_per_byte: float  #: above it, arithmetic is the limit; below it, memory bandwidth
    memory_bound: bool
    floor_ms: float  #: the least possible time
    matrix_peaks: Mapping[str, float]  #: dense FLOP per second of the matrix cores, by element type


@dataclass(frozen=True, kw_only=True)
class KernelReport:
    """The figures of one kernel."""

    name: str
    symbol: str
    line: int | None
    vgpr: int  #: vector registers per lane, without accumulation registers
    agpr: int
    vgpr_total: int  #: both kinds together, with the target's alignment between them
    sgpr: int
    lds_bytes: int  #: static LDS; dynamic LDS of a launch is not included
    scratch_bytes: int  #: per lane
    vgpr_spills: int
    sgpr_spills: int
    code_bytes: int
    launch_bound_threads: int | None  #: from __launch_bounds__
    block: tuple[int, int, int] | None  #: block size of its launches, if constant
    occupancy: Occupancy  #: for that block, the launch bounds, or the best block
    best_occupancy: Occupancy  #: for the best block that the launch bounds allow; the compiler's figure
    by_block: Mapping[int, Occupancy]  #: by threads per block
    steps: tuple[OccupancyStep, ...]  #: changes that would increase the occupancy
    mix: InstructionMix
    loops: tuple[Loop, ...]
    matrix: MatrixUsage | None  #: None for a kernel without matrix instructions
    instructions: tuple[Instruction, ...] = field(repr=False)
    labels: Mapping[str, int] = field(repr=False)  #: the index of the next instruction, by label

    @property
    def spills(self) -> int:
        """The number of spilled registers, vector and scalar."""
        return self.vgpr_spills + self.sgpr_spills

    def to_dict(self, *, isa: bool) -> dict[str, Any]:
        """Return the JSON form; with `isa`, including the assembly."""
        data: dict[str, Any] = {
            name: getattr(self, name)
            for name in (
                *(
                    "name",
                    "symbol",
                    "line",
                    "vgpr",
                    "agpr",
                    "vgpr_total",
                    "sgpr",
                    "lds_bytes",
                    "scratch_bytes",
                ),
                *("spills", "vgpr_spills", "sgpr_spills", "code_bytes", "launch_bound_threads", "block"),
            )
        }
        data["waves_per_simd"] = self.occupancy.waves_per_simd
        data["limited_by"] = self.occupancy.limited_by.value
        data["occupancy"] = asdict(self.occupancy)
        data["best_occupancy"] = asdict(self.best_occupancy)
        data["by_block"] = {str(size): asdict(occupancy) for size, occupancy in self.by_block.items()}
        data["next_steps"] = [asdict(step) for step in self.steps]
        data["instructions"] = dict(self.mix.counts)
        data["load_widths"] = {str(width): count for width, count in self.mix.load_widths.items()}
        data["store_widths"] = {str(width): count for width, count in self.mix.store_widths.items()}
        data["loops"] = [asdict(loop) for loop in self.loops]
        data["matrix"] = None if self.matrix is None else asdict(self.matrix)
        if isa:
            data["isa"] = [asdict(block) for block in listing_blocks(self.instructions, self.labels)]
        return data


@dataclass(frozen=True, kw_only=True)
class XrayReport:
    """The X-ray of one file."""

    arch: str
    gpu: str  #: name of the GPU, or the architecture if the catalog has no GPU for it
    compiler: str
    seconds: float  #: to compile and analyze the source
    kernels: tuple[KernelReport, ...] = ()
    findings: tuple[XrayFinding, ...] = ()
    roofline: Roofline | None = None
    failure: CompileFailure | None = None  #: why the source does not compile for this target
    notes: tuple[str, ...] = ()  #: limits of the figures, or why there are none

    @property
    def compiles(self) -> bool:
        """Whether the source compiles for the target."""
        return self.failure is None

    def to_dict(self, *, isa: bool = False) -> dict[str, Any]:
        """Return the JSON form; with `isa`, including the assembly of every kernel."""
        return {
            "arch": self.arch,
            "gpu": self.gpu,
            "compiler": self.compiler,
            "seconds": round(self.seconds, 4),
            "compiles": self.compiles,
            "kernels": [kernel.to_dict(isa=isa) for kernel in self.kernels],
            "findings": [asdict(finding) for finding in self.findings],
            "roofline": None if self.roofline is None else asdict(self.roofline),
            "failure": None if self.failure is None else asdict(self.failure),
            "notes": list(self.notes),
        }
