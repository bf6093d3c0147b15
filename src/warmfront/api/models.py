"""The forms of the API: what may be sent, and what comes back.

Pydantic lives at this edge only. A request's model takes JSON's types as they are and refuses fields that it
does not know; what depends on the service's state is checked by `admission`.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from warmfront.api.outlook_models import Forecast
from warmfront.judge_request import MAX_SOURCE_BYTES

EndpointName = Literal["xray", "checker", "benchmark", "submit"]

#: Such as `leaky-relu`.
Slug = Annotated[str, Field(min_length=1, max_length=100, examples=["leaky-relu"])]

SOURCE_EXAMPLE = (
    "#include <hip/hip_runtime.h>\n\n"
    "__global__ void leaky_relu(const float* in, float slope, float* out, size_t n) {\n"
    "    size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x;\n"
    "    if (i < n) out[i] = in[i] > 0 ? in[i] : slope * in[i];\n"
    "}\n\n"
    'extern "C" void solution(const float* input, float alpha, float* output, size_t n, size_t m) {\n'
    "    leaky_relu<<<(n * m + 255) / 256, 256>>>(input, alpha, output, n * m);\n"
    "}\n"
)


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class _Answer(BaseModel):
    model_config = ConfigDict(frozen=True)


class SubmitRequest(_Request):
    """A kernel, and what to do with it."""

    solution_code: str = Field(
        description=f"HIP source, at most {MAX_SOURCE_BYTES:,} bytes of UTF-8.", examples=[SOURCE_EXAMPLE]
    )
    problem: Slug
    problem_def: str | None = Field(
        None, description="The problem's Python source; with an operator's key alone.", examples=[None]
    )
    gpu_type: str | None = Field(None, max_length=40, examples=["MI300X"])
    dtype: str | None = Field(
        None, max_length=40, description="The problem's first if left out.", examples=["float32"]
    )
    language: Literal["hip"] = "hip"
    endpoint: EndpointName = Field("submit", examples=["checker"])
    file_name: str = Field(
        "solution.hip",
        pattern=r"^[A-Za-z0-9_][A-Za-z0-9_ .+-]{0,99}$",
        description="What its author calls it, for messages.",
        examples=["leaky_relu.hip"],
    )


class XrayRequest(_Request):
    """A kernel to look into; nothing of it is run or kept."""

    solution_code: str = Field(examples=[SOURCE_EXAMPLE])
    problem: Slug | None = None
    dtype: str | None = Field(None, max_length=40, examples=["float32"])
    arch: str = Field("gfx942", max_length=40, examples=["gfx942"])
    isa: bool = Field(default=False, description="Each kernel's assembly too, by source line.")


class Problem(_Answer):
    """A refusal, as RFC 9457 has it."""

    type: str = "about:blank"
    title: str = Field(examples=["Unprocessable Content"])
    status: int
    code: str = Field(description="Stable: programs may match on it.")
    detail: str
    hint: str = Field(description="The next step.")
    field: str | None = Field(None, description="The field or parameter that is refused.")


class Urls(_Answer):
    """Where to go on from a submission."""

    self: str
    events: str
    code: str
    cancel: str


class Taken(_Answer):
    """A submission that is stored and will get its verdict."""

    id: str
    status: str = Field(description="IN_QUEUE, RUNNING, or its verdict.", examples=["IN_QUEUE"])
    urls: Urls


class Submission(_Answer):
    """One submission, without its code."""

    id: str
    owner: str
    problem: str
    gpu_type: str
    dtype: str
    language: str
    endpoint: str
    file_name: str
    code_sha256: str
    state: str = Field(description="ADMITTING, QUEUED, ASSIGNED, RUNNING or DONE.")
    verdict: str | None
    created_at: str
    finished_at: str | None
    vm_id: str | None
    attempts: int
    cancel_requested: bool
    simulated: bool
    cost_usd: float | None
    avg_runtime_ms: float | None
    avg_gflops: float | None
    last_event_id: int
    urls: Urls


class SubmissionDetail(Submission):
    """One submission, with its verdict's event where there is one."""

    result: dict[str, Any] | None = Field(description="The terminal event.")


class SubmissionPage(_Answer):
    """Some submissions, the newest first."""

    items: list[Submission]
    next_cursor: str | None = Field(description="`?cursor=` of the next page; null on the last.")


class Code(_Answer):
    """What was submitted."""

    id: str
    file_name: str
    language: str
    solution_code: str
    problem_def: str | None


class Refusal(_Answer):
    """Why something would not be taken, and what to do about it."""

    code: str = Field(examples=["BUDGET_EXCEEDED"])
    detail: str
    hint: str


class Quote(_Answer):
    """What a submission may expect if it came now. A promise of nothing."""

    now: str = Field(description="The service's clock.")
    problem: str
    gpu_type: str
    endpoint: str
    vm_state: str | None = Field(
        description="WARM_REUSE or COLD_START; null where no VM is needed.", examples=["WARM_REUSE"]
    )
    position: int = Field(description="How many go before it.")
    wait_s: float = Field(description="Until its turn comes.", examples=[0.0])
    total_s: float = Field(description="Until its verdict.", examples=[9.0])
    cost_usd: float = Field(examples=[0.005])
    warm_chance: float = Field(
        description="That a VM is ready if it is sent within the next minutes.", examples=[0.98]
    )
    simulated: bool = Field(description="A CPU would stand in for the GPU, and dollars are no dollars.")
    refusal: Refusal | None = Field(description="What it would be refused with; null if it would be taken.")


class Metrics(_Answer):
    """The service in seven numbers."""

    total_cost_usd: float = Field(examples=[5.25])
    remaining_credits_usd: float = Field(examples=[1394.75])
    credits_used_pct: float = Field(examples=[0.4])
    tasks_completed: int = Field(examples=[42])
    cold_starts: int = Field(examples=[3])
    warm_reuses: int = Field(examples=[39])
    active_vms: int = Field(examples=[1])


class DayCost(_Answer):
    """What one day came to, UTC."""

    day: str = Field(examples=["2026-01-31"])
    cost_usd: float


class MetricsDetail(Metrics):
    """The same, and what is behind them."""

    simulated: bool = Field(description="The dollars are no dollars.")
    reserved_usd: float
    pool: dict[str, int] = Field(description="VMs alive, by state.")
    queue_length: int
    verdicts: dict[str, int]
    latencies_s: dict[str, Any]
    costs_by_day: list[DayCost]


class VmTask(_Answer):
    """What a VM does now. Of others' tasks a user is told only that there is one."""

    since: str
    submission_id: str | None = Field(default=None, description="Of the caller's own, and for operators.")
    user: str | None = None
    problem: str | None = None
    endpoint: str | None = None


class Vm(_Answer):
    """One VM."""

    id: str
    provider: str
    gpu_type: str
    state: str
    simulated: bool
    created_at: str
    started_at: str | None
    ready_at: str | None
    deadline_at: str | None = Field(description="When it is released if nothing more comes.")
    ended_at: str | None
    tasks_done: int
    cost_usd: float = Field(description="So far, also of what is under way.")
    reserved_usd: float
    reason: str = Field(description="Why it is kept, or why it ended.")
    tasks: list[VmTask] = Field(description="What runs on it.")


class Vms(_Answer):
    """The VMs of late, the newest first."""

    now: str = Field(description="The service's clock.")
    items: list[Vm]


class Interval(_Answer):
    """One billed interval of a VM, as the ledger has it."""

    meter: str = Field(description="PROVISIONING, WORK or IDLE.")
    started_at: str
    ended_at: str
    cost_usd: float
    submission_id: str | None = Field(
        description="Whose cost it is. Boot and idle time are those of the submission that is served next."
    )


class VmDetail(Vm):
    """One VM, with its part of the ledger."""

    intervals: list[Interval] = Field(description="Closed ones: what is under way is added when it ends.")


class MeterCost(_Answer):
    """What was billed while VMs did one thing."""

    meter: str = Field(description="PROVISIONING, WORK or IDLE.")
    cost_usd: float


class VmCost(_Answer):
    """What one VM came to."""

    vm_id: str
    state: str
    cost_usd: float
    meters: list[MeterCost]


class MyDay(_Answer):
    """The caller's own share of today, UTC."""

    user: str
    spent_usd: float
    limit_usd: float | None


class AuditDifference(_Answer):
    """A VM on which the ledger and its provider's record are more than a cent apart."""

    vm_id: str
    ledger_usd: float
    billed_usd: float = Field(description="By the provider's record.")


class Audit(_Answer):
    """The ledger held against the provider's own record of the VMs that ended lately."""

    checked_at: str
    vms: int = Field(description="How many were compared.")
    differences: list[AuditDifference]


class Costs(_Answer):
    """Where the money went. Every figure is the ledger's."""

    simulated: bool = Field(description="The dollars are no dollars.")
    credits_usd: float
    total_usd: float
    reserved_usd: float = Field(description="What the VMs alive may still come to, at the most.")
    remaining_usd: float
    by_vm: list[VmCost]
    by_meter: list[MeterCost]
    by_day: list[DayCost]
    today: MyDay
    audit: Audit | None = Field(description="The latest; null until there was one.")
    forecast: Forecast | None = Field(description="From the ledger's own days; null until there were three.")


class Health(_Answer):
    """The process is alive."""

    status: Literal["ok"] = "ok"
    version: str


class Ready(_Answer):
    """Whether submissions would be served."""

    status: Literal["ready", "not ready"]
    provider: str
    reasons: list[str]
