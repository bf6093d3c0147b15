"""The forms of what can be asked for and what came of it: GPUs, problems and their boards."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class _Answer(BaseModel):
    model_config = ConfigDict(frozen=True)


class Gpu(_Answer):
    """A GPU that can be asked for."""

    name: str
    display_name: str = Field(examples=["AMD MI300X (192GB, $1.99/hr)"])
    arch: str
    memory_bytes: int
    bandwidth_bytes_per_s: float
    peak_flops: dict[str, float]
    compute_units: int
    rate_usd_per_h: float | None
    enabled: bool = Field(description="Whether submissions may name it.")
    default: bool


class Gpus(_Answer):
    """The catalogue."""

    items: list[Gpu]


class BestTime(_Answer):
    """The fastest that anyone is on one GPU."""

    gpu_type: str = Field(examples=["MI300X"])
    simulated: bool = Field(description="Of the CPU simulator, which says nothing of the GPU.")
    runtime_ms: float = Field(description="Geometric mean over the cases.")


class ProblemSummary(_Answer):
    """A problem in a few fields."""

    slug: str
    title: str
    difficulty: str
    tags: list[str]
    dtypes: list[str] = Field(description="The first is the default.")
    aliases: list[str]
    declaration: str
    formula: str | None = Field(
        description="TeX: what is computed, in one line.", examples=["y = \\max(x, 0)"]
    )
    solutions: int = Field(description="Accepted submissions, of everyone.", examples=[12])
    best_times: list[BestTime]
    solved: bool = Field(description="Whether the caller has an accepted one.")


class ProblemDetail(ProblemSummary):
    """A problem as its solver needs it."""

    statement: str = Field(description="Markdown.")
    declarations: dict[str, str]
    starters: dict[str, str]
    cases: dict[str, list[str]]


class Problems(_Answer):
    """What can be solved."""

    items: list[ProblemSummary]


class Best(_Answer):
    """The best that one user has on one GPU."""

    rank: int
    user: str
    gpu_type: str
    dtype: str
    avg_runtime_ms: float
    ci: tuple[float, float] | None = Field(
        description="95% confidence interval of avg_runtime_ms, in ms, from those of the cases."
    )
    avg_gflops: float | None
    pct_of_floor: float | None = Field(
        description="Roofline floor over the time, geometric mean over the cases; null on the simulator."
    )
    submission_id: str | None = Field(description="Of the caller's own, and for operators.")
    finished_at: str | None


class Leaderboard(_Answer):
    """The fastest first. The CPU simulator's results are a board of their own."""

    problem: str
    items: list[Best]
    simulated: list[Best]
