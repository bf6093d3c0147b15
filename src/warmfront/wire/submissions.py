"""The request that creates a submission, and the responses that return, list and quote submissions."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from warmfront.events import VMStart
from warmfront.hip.scratch import FILLS, SLUG
from warmfront.judge_request import MAX_SOURCE_BYTES
from warmfront.problems.own_cases import MAX_OWN_CASES
from warmfront.problems.spec import Dtype
from warmfront.submission import SubmissionState
from warmfront.verdicts import Endpoint, Verdict
from warmfront.wire.base import SOURCE_EXAMPLE, Dollars, RequestModel, ResponseModel, Slug, Timestamp


class OwnCase(RequestModel):
    """An author's own case: sizes, and the style of the inputs."""

    values: dict[str, int | float | list[int]] = Field(
        description="The value of every parameter of `solution` that is passed by value, by name. A number "
        "of dimensions may be omitted.",
        examples=[{"n": 1000, "m": 3, "alpha": 0.1}],
        max_length=64,
    )
    style: str | None = Field(
        None, max_length=40, description="A style of the problem; its first if omitted.", examples=["wide"]
    )


class LaunchArgument(RequestModel):
    """An argument of a launch: `value` for a parameter by value, `count` and contents for a buffer."""

    value: int | float | None = Field(None, description="For a parameter by value.", examples=[2.0])
    count: int | None = Field(None, description="Elements of the buffer.", examples=[1024])
    fill: str | None = Field(
        None,
        max_length=40,
        description=f"Contents of the buffer: {', '.join(FILLS)}. The default is `random` for a `const` "
        "buffer and `uninitialized` for one that the kernel may write.",
        examples=["index"],
    )
    values: list[int | float] | None = Field(
        None, description="Contents of the buffer as numbers, which are repeated.", examples=[None]
    )


class LaunchRequest(RequestModel):
    """The launch of a scratch kernel."""

    kernel: str = Field(
        max_length=200, description="The name of a `__global__` function.", examples=["scale"]
    )
    grid: list[int] = Field(description="Blocks: one to three sizes.", examples=[[4]])
    block: list[int] = Field(description="Threads per block: one to three sizes.", examples=[[256]])
    shared_bytes: int = Field(0, description="Dynamic LDS.", examples=[0])
    arguments: list[LaunchArgument] = Field(
        default_factory=list, description="One for each parameter of the kernel, in order."
    )


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
    own_cases: list[OwnCase] = Field(
        default_factory=list,
        description=f"Up to {MAX_OWN_CASES} own cases, which are checked before the problem's. They "
        "require the endpoint `checker`, and never count for an accepted submission.",
        examples=[[]],
    )
    all_cases: bool = Field(
        default=False,
        description="Continue after a wrong answer, so that the results of all cases are known. Requires the "
        "endpoint `checker`.",
        examples=[False],
    )
    launch: LaunchRequest | None = Field(
        None,
        description=f"Launch a kernel without a problem. It requires the problem `{SLUG}` and the endpoint "
        "`checker`.",
        examples=[None],
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
    own_cases: list[OwnCase] = Field(description="The author's own cases.")
    all_cases: bool = Field(description="Whether the check continued after a wrong answer.")
    launch: LaunchRequest | None = Field(description="The launch of a scratch kernel.")


class QuoteRefusal(ResponseModel):
    """The reason why a submission would be rejected."""

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
