"""What the X-ray says of a file: figures of each kernel, findings, and the assembly by source line.

Plain data, made once and never changed; `to_dict` is its form as JSON. Nothing here computes.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from warmfront.hip.xray.isa_listing import listing_blocks

if TYPE_CHECKING:
    from collections.abc import Mapping

    from warmfront.hip.diagnose import CompileFailure
    from warmfront.hip.xray.assembly import Instruction
    from warmfront.hip.xray.occupancy import Occupancy, OccupancyStep


class Rule(StrEnum):
    """What a finding can be about."""

    SPILLS = "spills"  #: registers ran out, and values go through memory
    PRIVATE_ARRAY = "private-array"  #: an array is indexed at run time, so it lives in memory
    LDS_OVER_LIMIT = "lds-over-limit"  #: a block wants more LDS than a compute unit has
    NARROW_LOADS = "narrow-loads"  #: lanes load less at a time than they could
    BANK_CONFLICT = "bank-conflict"  #: lanes of a wave want the same bank of LDS at once
    DOUBLE_MATH = "double-math"  #: double precision crept into float code
    DIVERGENT_BARRIER = "divergent-barrier"  #: not all threads of a block may reach a barrier
    WAVE_OF_32 = "wave-of-32"  #: code that takes a wavefront of 64 for one of 32


@dataclass(frozen=True, kw_only=True)
class XrayFinding:
    """Something worth a change, where it is, and what to try."""

    rule: Rule
    kernel: str
    line: int | None
    message: str
    advice: str


@dataclass(frozen=True, kw_only=True)
class InstructionMix:
    """How many instructions of each kind stand in a kernel's code; how often each runs is not known."""

    counts: Mapping[str, int]  #: by `isa.InstructionKind`
    load_widths: Mapping[int, int]  #: bytes of a lane → global loads of that width
    store_widths: Mapping[int, int]  #: the same for global stores

    @property
    def total(self) -> int:
        """All instructions."""
        return sum(self.counts.values())

    def count(self, kind: str) -> int:
        """The instructions of one kind."""
        return self.counts.get(kind, 0)


@dataclass(frozen=True, kw_only=True)
class Loop:
    """A loop that is left in the code: the compiler unrolls others away."""

    line: int | None
    depth: int  #: 1 is outermost
    instructions: int  #: of its body, inner loops not counted
    counts: Mapping[str, int]  #: by `isa.InstructionKind`


@dataclass(frozen=True, kw_only=True)
class Roofline:
    """What the problem asks of the GPU at least, for its largest case."""

    gpu: str
    case: str
    dtype: str
    flops: int
    bytes_moved: int
    flops_per_byte: float
    ridge_flops_per_byte: float  #: above it arithmetic is the limit, below it memory
    memory_bound: bool
    floor_ms: float  #: no kernel that does the work is faster


@dataclass(frozen=True, kw_only=True)
class KernelReport:
    """The figures of one kernel."""

    name: str
    symbol: str
    line: int | None
    vgpr: int  #: vector registers of a lane, accumulation registers not counted
    agpr: int
    vgpr_total: int  #: what is taken from the register file: both, rounded as the target wants it
    sgpr: int
    lds_bytes: int  #: known to the compiler; what a launch adds is not in it
    scratch_bytes: int  #: of a lane
    vgpr_spills: int
    sgpr_spills: int
    code_bytes: int
    launch_bound_threads: int | None  #: from __launch_bounds__
    block: tuple[int, int, int] | None  #: how the file launches it, where that can be read off
    occupancy: Occupancy  #: for that block, else the launch bounds, else the best block
    best_occupancy: Occupancy  #: for the best block that the launch bounds allow, as the compiler counts
    by_block: Mapping[int, Occupancy]  #: threads of a block → how full a compute unit gets
    steps: tuple[OccupancyStep, ...]  #: what would let more waves in
    mix: InstructionMix
    loops: tuple[Loop, ...]
    instructions: tuple[Instruction, ...] = field(repr=False)
    labels: Mapping[str, int] = field(repr=False)  #: label → index of the instruction that it stands at

    @property
    def spills(self) -> int:
        """Registers that were moved to memory for want of room."""
        return self.vgpr_spills + self.sgpr_spills

    def to_dict(self, *, isa: bool) -> dict[str, Any]:
        """As JSON; with `isa` the assembly too."""
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
        data["by_block"] = {str(size): asdict(each) for size, each in self.by_block.items()}
        data["next_steps"] = [asdict(step) for step in self.steps]
        data["instructions"] = dict(self.mix.counts)
        data["load_widths"] = {str(width): count for width, count in self.mix.load_widths.items()}
        data["store_widths"] = {str(width): count for width, count in self.mix.store_widths.items()}
        data["loops"] = [asdict(loop) for loop in self.loops]
        if isa:
            data["isa"] = [asdict(piece) for piece in listing_blocks(self.instructions, self.labels)]
        return data


@dataclass(frozen=True, kw_only=True)
class XrayReport:
    """The X-ray of one file."""

    arch: str
    gpu: str  #: a GPU of that architecture
    compiler: str
    seconds: float  #: from the text to this report
    kernels: tuple[KernelReport, ...] = ()
    findings: tuple[XrayFinding, ...] = ()
    roofline: Roofline | None = None
    failure: CompileFailure | None = None  #: why it does not compile for this target
    notes: tuple[str, ...] = ()  #: what makes the figures less exact, or why there are none

    @property
    def compiles(self) -> bool:
        """Whether the target takes it."""
        return self.failure is None

    def to_dict(self, *, isa: bool = False) -> dict[str, Any]:
        """As JSON; with `isa` the assembly of every kernel too."""
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
