"""GPUs, problems and leaderboards."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from warmfront.problems.spec import Difficulty, Dtype
from warmfront.wire.base import ResponseModel, Timestamp


class GpuRoofs(ResponseModel):
    """The roofs of a GPU type in a roofline chart."""

    name: str
    bandwidth_bytes_per_s: float
    infinity_cache_bandwidth_bytes_per_s: float | None = Field(
        description="Null without an Infinity Cache, or if no figure is verified."
    )
    lds_bandwidth_bytes_per_s: float = Field(description="Of all compute units together.")
    peak_flops: dict[Dtype, float] = Field(description="FLOP/s, by dtype.")
    matrix_peak_flops: dict[str, float] = Field(
        description="FLOP/s of the matrix cores, by element type.", examples=[{"fp16": 1307.4e12}]
    )


class GpuResponse(GpuRoofs):
    """A GPU type."""

    display_name: str = Field(examples=["AMD MI300X (192GB, $1.99/hr)"])
    arch: str
    memory_bytes: int
    compute_units: int
    rate_usd_per_h: float | None
    enabled: bool = Field(description="Whether submissions may request it.")
    default: bool


class GpuListResponse(ResponseModel):
    """Every GPU type in the service's catalog."""

    items: list[GpuResponse]


class BestTime(ResponseModel):
    """The best accepted time on one GPU: the one with the smallest upper end of its interval."""

    gpu_type: str = Field(examples=["MI300X"])
    simulated: bool = Field(description="Whether it ran on the CPU runtime, so that the time is not a GPU's.")
    runtime_ms: float = Field(description="Geometric mean over the cases.")
    ci: tuple[float, float] | None = Field(
        description="95% confidence interval of `runtime_ms`, in ms; null if unknown."
    )
    noisy: bool = Field(description="Whether the machine was too busy for a narrow interval.")


class ProblemResponse(ResponseModel):
    """A problem, as shown in lists."""

    slug: str
    title: str
    difficulty: Difficulty
    tags: list[str]
    dtypes: list[Dtype] = Field(description="The first is the default.")
    aliases: list[str]
    declaration: str
    formula: str | None = Field(
        description="What is computed, in one line of TeX.", examples=["y = \\max(x, 0)"]
    )
    solutions: int = Field(description="Accepted submissions of all users.", examples=[12])
    best_times: list[BestTime]
    solved: bool = Field(description="Whether the caller has an accepted submission.")


class CaseParameter(ResponseModel):
    """A parameter of `solution` that has a value in each case, and its allowed values."""

    name: str
    kind: Literal["size", "number", "shape", "dimension"] = Field(
        description="`dimension` is the index of a dimension of `shape`."
    )
    low: float | None = Field(description="The smallest value; null for a shape or a dimension.")
    high: float | None = Field(description="The largest value, or the most elements of a shape.")
    step: int = 1
    shape: str | None = Field(default=None, description="For a dimension: the name of the shape.")


class ProblemDetailResponse(ProblemResponse):
    """A problem with everything that is needed to solve it."""

    statement: str = Field(description="Markdown.")
    declarations: dict[Dtype, str]
    starters: dict[Dtype, str]
    cases: dict[str, list[str]] = Field(description="Names of the cases, by scale: `cpu` or `gpu`.")
    scale: str = Field(description="The scale of the machines that check submissions: `cpu` or `gpu`.")
    case_parameters: list[CaseParameter] = Field(
        description="The parameters that `own_cases` must set; empty if the problem has no ranges of sizes."
    )
    styles: dict[Dtype, list[str]] = Field(
        description="The styles of inputs. Large sizes can have fewer of them."
    )


class ProblemListResponse(ResponseModel):
    """Every problem of the service."""

    items: list[ProblemResponse]


class LeaderboardEntry(ResponseModel):
    """A user's best accepted submission on one GPU."""

    rank: int = Field(
        description="1 + the number of entries on the same GPU whose interval is entirely below this one's."
    )
    tied: bool = Field(description="Whether other entries on the same GPU have the same rank.")
    user: str
    gpu_type: str
    dtype: Dtype
    avg_runtime_ms: float
    ci: tuple[float, float] | None = Field(
        description="95% confidence interval of `avg_runtime_ms`, in ms; null if unknown, as in results of "
        "older releases. An unknown interval is ranked as 10% to either side."
    )
    noisy: bool = Field(description="Whether the machine was too busy for a narrow interval.")
    avg_gflops: float | None
    pct_of_floor: float | None = Field(
        description="Roofline floor over the time, geometric mean over the cases; null on the CPU runtime."
    )
    submission_id: str | None = Field(description="Visible to its owner and to operators.")
    finished_at: Timestamp | None


class LeaderboardResponse(ResponseModel):
    """Leaderboards of one problem, by rank. Results of the CPU runtime are listed separately."""

    problem: str
    items: list[LeaderboardEntry]
    simulated: list[LeaderboardEntry]
