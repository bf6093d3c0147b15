"""X-ray reports: registers, LDS, occupancy, findings and assembly of each kernel."""

from __future__ import annotations

from typing import Annotated

from pydantic import ConfigDict, Field

from warmfront.problems.spec import Dtype
from warmfront.wire.base import SOURCE_EXAMPLE, RequestModel, ResponseModel, Slug

#: Coordinates of a block or a thread, or the size of a block.
Dim3 = tuple[int, int, int]


class XrayRequest(RequestModel):
    """A kernel to compile for a GPU. It is neither run nor stored."""

    solution_code: str = Field(examples=[SOURCE_EXAMPLE])
    problem: Slug | None = None
    # Not strict: strict mode accepts only enum members, which JSON does not have.
    dtype: Annotated[Dtype | None, Field(strict=False)] = Field(None, examples=["float32"])
    arch: str = Field("gfx942", max_length=40, examples=["gfx942"])
    isa: bool = Field(default=False, description="Add each kernel's assembly, by source line.")


class OccupancyResponse(ResponseModel):
    """The number of waves that fit on a compute unit, and the resource that limits it."""

    waves_per_simd: int
    waves_per_cu: int
    blocks_per_cu: int
    limited_by: str


class OccupancyStepResponse(ResponseModel):
    """The smallest change of one resource that allows more waves to run."""

    resource: str
    change: int
    reach: int = Field(description="How much of the resource is used after the change.")
    waves_per_simd: int


class LoopResponse(ResponseModel):
    """A loop that remains after unrolling."""

    line: int | None
    depth: int = Field(description="1 is the outermost.")
    instructions: int
    counts: dict[str, int] = Field(description="Instructions by kind.")


class MatrixFormResponse(ResponseModel):
    """One form of matrix instruction in the hot loop."""

    form: str
    instructions: int
    flops: int = Field(description="FLOPs of one instruction, for the whole wave.")
    cycles: int | None = Field(
        description="Cycles for which one instruction occupies the matrix core, if published."
    )
    share: float = Field(description="Share of the loop's FLOPs, including those of the vector ALU.")


class MatrixUsageResponse(ResponseModel):
    """The matrix instructions of the loop that has the most of them, or of the kernel if no loop has any."""

    line: int | None
    forms: list[MatrixFormResponse]
    vector_flops: int = Field(description="FLOPs of the vector ALU in the same loop, per wave.")
    accumulators: int = Field(description="Independent sums, each in its own registers.")
    matrix_cycles: int | None
    issue_cycles: int
    most_utilisation: float | None = Field(
        description="The largest share of the time in which the matrix core can be busy."
    )


class AssemblyBlock(ResponseModel):
    """Consecutive instructions of one source line."""

    line: int | None
    depth: int = Field(description="How many loops enclose the instructions.")
    label: str | None
    instructions: list[str]


class XrayKernelResponse(ResponseModel):
    """The figures of one kernel."""

    name: str
    symbol: str
    line: int | None
    vgpr: int
    agpr: int
    vgpr_total: int
    sgpr: int
    lds_bytes: int
    scratch_bytes: int
    spills: int
    vgpr_spills: int
    sgpr_spills: int
    code_bytes: int
    launch_bound_threads: int | None
    block: Dim3 | None
    waves_per_simd: int
    limited_by: str
    occupancy: OccupancyResponse
    best_occupancy: OccupancyResponse
    by_block: dict[str, OccupancyResponse] = Field(description="By threads per block.")
    next_steps: list[OccupancyStepResponse]
    instructions: dict[str, int] = Field(description="Instructions by kind.")
    load_widths: dict[str, int] = Field(description="Global loads, by bytes per lane.")
    store_widths: dict[str, int] = Field(description="Global stores, by bytes per lane.")
    loops: list[LoopResponse]
    matrix: MatrixUsageResponse | None = Field(
        default=None, description="Null for a kernel without matrix instructions."
    )


class XrayKernelDetailResponse(XrayKernelResponse):
    """The figures of one kernel, with its assembly if requested."""

    model_config = ConfigDict(json_schema_serialization_defaults_required=False)

    isa: list[AssemblyBlock] | None = Field(default=None, description="Only with `isa: true`.")


class XrayFindingResponse(ResponseModel):
    """A performance problem or an error that the X-ray found."""

    rule: str
    kernel: str
    line: int | None
    message: str
    advice: str


class RooflineResponse(ResponseModel):
    """The minimum time of the problem's largest case on the GPU."""

    gpu: str
    case: str
    dtype: Dtype
    flops: int
    bytes_moved: int
    flops_per_byte: float
    ridge_flops_per_byte: float
    memory_bound: bool
    floor_ms: float
    matrix_peaks: dict[str, float] = Field(
        description="Dense FLOP per second of the GPU's matrix cores, by element type."
    )


class DiagnosticResponse(ResponseModel):
    """One compiler message; line 0 means that it has no position in the source."""

    line: int
    column: int
    severity: str = Field(description="`error` or `note`.")
    message: str
    source_line: str


class CompileFailureResponse(ResponseModel):
    """The reason why the source does not compile."""

    code: str
    message: str
    diagnostics: list[DiagnosticResponse]
    hint: str


class XrayReportResponse(ResponseModel):
    """The report of the GPU's compiler about a source."""

    arch: str
    gpu: str
    compiler: str
    seconds: float
    compiles: bool
    kernels: list[XrayKernelDetailResponse]
    findings: list[XrayFindingResponse]
    roofline: RooflineResponse | None
    failure: CompileFailureResponse | None
    notes: list[str] = Field(description="Limits of the figures' accuracy, or why there are no figures.")
