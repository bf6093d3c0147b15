"""The request that creates a submission, and the responses that return, list and quote submissions."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from warmfront.events import VMStart
from warmfront.judge_request import MAX_SOURCE_BYTES
from warmfront.problems.spec import Dtype
from warmfront.submission import SubmissionState
from warmfront.verdicts import Endpoint, Verdict
from warmfront.wire.base import SOURCE_EXAMPLE, Dollars, RequestModel, ResponseModel, Slug, Timestamp


class SubmitRequest(RequestModel):
    """A kernel, and what to do with it."""

    solution_code: str = Field(
        description=f"HIP source, at most {MAX_SOURCE_BYTES:,} bytes of UTF-8.", examples=[SOURCE_EXAMPLE]
    )
    problem: Slug
    problem_def: str | None = Field(
        None, description="The problem's Python source. Requires the role operator.", examples=[None]
    )
    gpu_type: str | None = Field(
        None, max_length=40, description="The service's default GPU if omitted.", examples=["MI300X"]
    )
    # Not strict: strict mode accepts only enum members, which JSON does not have.
    dtype: Annotated[Dtype | None, Field(strict=False)] = Field(
        None, description="The problem's first dtype if omitted.", examples=["float32"]
    )
    language: Literal["hip"] = "hip"
    endpoint: Annotated[Endpoint, Field(strict=False)] = Field(Endpoint.SUBMIT, examples=["checker"])
    file_name: str = Field(
        "solution.hip",
        pattern=r"^[A-Za-z0-9_][A-Za-z0-9_ .+-]{0,99}$",
        description="The name of the source file in compiler messages.",
        examples=["leaky_relu.hip"],
    )


class SubmissionUrls(ResponseModel):
    """Paths of a submission's resources."""

    self: str
    events: str
    code: str
    cancel: str


class SubmissionCreatedResponse(ResponseModel):
    """A submission that is stored and will get a verdict."""

    id: str
    status: Verdict | Literal["IN_QUEUE", "RUNNING"] = Field(
        description="`IN_QUEUE`, `RUNNING`, or the verdict.", examples=["IN_QUEUE"]
    )
    urls: SubmissionUrls


class SubmissionResponse(ResponseModel):
    """A submission, without its source."""

    id: str
    owner: str
    problem: str
    gpu_type: str
    dtype: Dtype
    language: str
    endpoint: Endpoint
    file_name: str
    code_sha256: str
    state: SubmissionState
    verdict: Verdict | None
    created_at: Timestamp
    finished_at: Timestamp | None
    vm_id: str | None = Field(description="The VM of the last attempt.")
    attempts: int
    cancel_requested: bool
    simulated: bool = Field(
        description="Whether it ran on the CPU runtime, so that its times are not a GPU's."
    )
    cost_usd: Dollars | None
    avg_runtime_ms: float | None = Field(description="Geometric mean over the timed cases.")
    avg_ci: tuple[float, float] | None = Field(
        default=None, description="95% confidence interval of `avg_runtime_ms`, in ms; null if unknown."
    )
    noisy: bool = Field(default=False, description="Whether the machine was too busy for a narrow interval.")
    avg_gflops: float | None
    last_event_id: int
    urls: SubmissionUrls


class SubmissionPageResponse(ResponseModel):
    """One page of submissions, newest first."""

    items: list[SubmissionResponse]
    next_cursor: str | None = Field(description="The `cursor` parameter of the next page; null on the last.")


class SourceResponse(ResponseModel):
    """The submitted source."""

    id: str
    file_name: str
    language: str
    solution_code: str
    problem_def: str | None


class QuoteRefusal(ResponseModel):
    """The reason for which a submission would be rejected."""

    code: str = Field(examples=["BUDGET_EXCEEDED"])
    detail: str
    hint: str


class QuoteResponse(ResponseModel):
    """The expected wait and cost of a submission that is sent now. Nothing is reserved."""

    now: Timestamp = Field(description="The service's clock.")
    problem: str
    gpu_type: str
    endpoint: Endpoint
    vm_state: VMStart | None = Field(description="Null if no VM is needed.", examples=["WARM_REUSE"])
    position: int = Field(description="How many submissions are ahead in the queue.")
    wait_s: float = Field(description="Seconds until it starts to run.", examples=[0.0])
    total_s: float = Field(description="Seconds until its verdict.", examples=[9.0])
    cost_usd: Dollars = Field(examples=[0.005])
    warm_chance: float = Field(
        description="Probability that a VM is ready if the submission is sent within the next minutes.",
        examples=[0.98],
    )
    simulated: bool = Field(description="Whether it would run on the CPU runtime with simulated costs.")
    refusal: QuoteRefusal | None = Field(description="Null if the submission would be accepted.")
