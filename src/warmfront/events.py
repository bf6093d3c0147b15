"""The events of a submission.

The event log assigns an event its id and time when it stores it. Clients parse these names and fields, so a
change here changes the public interface. `docs/api.md` lists the compatible changes.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import field
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from warmfront.value_class import dataclass
from warmfront.verdicts import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from warmfront.errors import WarmfrontError


#: The version of the wire schema: the `schema` field of every event, and the `Warmfront-Version` header.
#: All stored events have version 1; if there is a second version, it must be stored with the event.
SCHEMA_VERSION = 1


class VMStart(StrEnum):
    """How an attempt got its VM."""

    COLD_START = "COLD_START"  #: the attempt waited for a VM to be provisioned
    WARM_REUSE = "WARM_REUSE"  #: a VM was ready


@dataclass(frozen=True, kw_only=True)
class Event:
    """A fact about a submission."""

    status: ClassVar[str]

    def fields(self) -> dict[str, Any]:
        """Return the event as JSON types: `status` first, then the event's own fields."""
        return {"status": self.status, **{name: _plain(value) for name, value in vars(self).items()}}


@dataclass(frozen=True, kw_only=True)
class QueueQuote:
    """The quote of a submission when it is queued."""

    vm_state: VMStart
    wait_s: float
    cost_usd: float
    warm_chance: float  #: the probability that a VM is ready when the submission arrives


@dataclass(frozen=True, kw_only=True)
class InQueue(Event):
    """The submission is stored and will get a verdict."""

    status = "IN_QUEUE"
    submission_id: str
    position: int  #: how many submissions are ahead in the queue
    quote: QueueQuote


@dataclass(frozen=True, kw_only=True)
class Provisioning(Event):
    """A VM is being provisioned for the submission."""

    status = "PROVISIONING"
    vm_state: VMStart  #: COLD_START
    vm_id: str
    phase: str
    elapsed_s: float
    eta_s: float | None  #: expected seconds until the VM is ready, from earlier provisioning times


@dataclass(frozen=True, kw_only=True)
class Waiting(Event):
    """No VM is available for the submission now; it keeps its place in the queue."""

    status = "WAITING"
    kind: str  #: why, such as NO_CAPACITY; stable
    reason: str  #: why, for display
    waited_s: float  #: how long no VM has been available
    retry_in_s: float  #: seconds until a VM is requested again
    ahead: int  #: how many submissions are ahead in the queue
    eta_s: float | None  #: expected seconds until the attempt begins, if that request succeeds
    gives_up_in_s: float  #: seconds until the submission fails if no VM becomes available


@dataclass(frozen=True, kw_only=True)
class VMFailed(Event):
    """A VM that was provisioned for the submission, or ran it, cannot be used; it waits for another."""

    status = "VM_FAILED"
    vm_id: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class VMUsage:
    """The usage of a VM before an attempt begins."""

    tasks_done: int
    age_s: float


@dataclass(frozen=True, kw_only=True)
class PoolUsage:
    """The VM pool and the queue when an attempt begins."""

    active_vms: int
    busy_vms: int
    queued: int
    slots: int = 0  #: how many attempts all VMs can judge at once
    busy_slots: int = 0


@dataclass(frozen=True, kw_only=True)
class VMReadyMetrics:
    """Figures of the VM and of the pool when an attempt begins."""

    vm: VMUsage
    pool: PoolUsage


@dataclass(frozen=True, kw_only=True)
class VMReady(Event):
    """An attempt begins on a VM."""

    status = "VM_READY"
    vm_id: str
    vm_state: VMStart
    gpu: str
    simulated: bool
    attempt: int  #: 1, or higher after lost attempts
    metrics: VMReadyMetrics
    slot: int = 0  #: the number of the slot that judges it, from 0
    slots: int = 1  #: how many slots the VM has


@dataclass(frozen=True, kw_only=True)
class Xray(Event):
    """The X-ray: what the compiler for the GPU reports about the source, without running it."""

    status = "XRAY"
    arch: str
    gpu: str
    compiler: str
    compiles: bool | None  #: None if it is unknown to the control plane
    kernels: list[dict[str, Any]]  #: `KernelReport.to_dict()`
    findings: list[dict[str, Any]]  #: `XrayFinding` as a dict
    message: str = ""  #: why it does not compile, with line numbers of the source
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Compiling(Event):
    """The source is being compiled."""

    status = "COMPILING"
    compiler: str
    toolchain: str
    sandbox: str
    seed_commitment: str = ""  #: SHA-256 of the secret seed and a nonce, which the receipt reveals


@dataclass(frozen=True, kw_only=True)
class Checking(Event):
    """The source compiled; the cases begin."""

    status = "CHECKING"
    total_tests: int
    compile_s: float


@dataclass(frozen=True, kw_only=True)
class CaseResult:
    """The result of one case."""

    test_id: int  #: counts from 1
    name: str  #: `hidden-1` and so on for hidden cases
    status: Literal["PASSED", "FAILED"]
    hidden: bool = False  #: its sizes are drawn from the secret seed and shown only if it fails
    output: str = ""  #: the program's output during this case
    own: bool = False  #: whether it is the author's own case


@dataclass(frozen=True, kw_only=True)
class FailedCase:
    """A case that failed, in a check of all cases."""

    test_id: int
    name: str
    code: str  #: as in the verdict
    message: str
    output_name: str = ""  #: of a wrong answer
    debug_info: dict[str, Any] | None = None  #: as in the verdict


@dataclass(frozen=True, kw_only=True)
class TestResult(Event):
    """One case passed or failed."""

    status = "TEST_RESULT"
    result: CaseResult
    total_tests: int


@dataclass(frozen=True, kw_only=True)
class Finding:
    """Undefined behavior that the bug finder observed."""

    kind: str  #: such as `data-race`; docs/bug-finder.md explains each
    severity: Literal["error", "warning"]  #: `error`: undefined by the language; `warning`: may be harmless
    message: str
    hint: str  #: what to try
    line: int | None  #: in the source; None if unknown
    other_line: int | None = None  #: of the second thread involved, if there is one
    kernel: str
    block: tuple[int, int, int] | None
    thread: tuple[int, int, int] | None
    other_block: tuple[int, int, int] | None = None
    other_thread: tuple[int, int, int] | None = None
    case: str


@dataclass(frozen=True, kw_only=True)
class BufferValues:
    """A buffer after the launch of a scratch kernel."""

    name: str  #: of the kernel's parameter
    type: str  #: the element type, as in the source
    count: int  #: elements of the buffer
    values: tuple[float | str, ...]  #: the first numbers; vectors are flattened
    unwritten: int  #: elements that were neither initialized nor written


@dataclass(frozen=True, kw_only=True)
class Checked(Event):
    """Every case passed."""

    status = "CHECKED"
    test_results: tuple[CaseResult, ...]
    passed_tests: int
    total_tests: int
    simulated: bool  #: whether it ran on the CPU runtime
    output: str = ""  #: the program's output
    warnings: tuple[Finding, ...] = ()  #: findings that did not cause a wrong output
    bug_finder: str = ""  #: why the bug finder did not examine every case, if so
    target: str = ""  #: why the GPU's compiler rejects what the CPU's compiler accepted
    fidelity: str = ""  #: on the CPU runtime, `exact` or `approximate`: whether a GPU computes the same bits
    fidelity_reason: str = ""  #: which operations are approximate, and why
    buffers: tuple[BufferValues, ...] = ()  #: of a scratch kernel: the buffers that it may write


@dataclass(frozen=True, kw_only=True)
class Benchmarking(Event):
    """The timed cases begin."""

    status = "BENCHMARKING"
    total_tests: int


@dataclass(frozen=True, kw_only=True)
class Window:
    """One measurement: `calls` calls of `solution` between two points at which the guest was stopped."""

    calls: int  #: each with its own fresh inputs; every output is verified
    time_ms: float  #: the time that counts: `cpu_ms` or the elapsed time without waiting, whichever is larger
    wall_ms: float  #: elapsed time
    cpu_ms: float | None = None  #: CPU time of the box, from the kernel; None on a GPU
    waited_ms: float | None = None  #: how long the guest waited for a CPU; None if unknown
    load: float | None = (
        None  #: other processes ready to run when it began, per CPU, at most 1; None if unknown
    )
    reference_ms: float | None = None  #: CPU time of a fixed computation of the judge, beside this window
    empty_ms: float | None = None  #: on a GPU: the same window with an empty guest; `time_ms` is without it
    discarded: bool = False  #: not used, because the machine disturbed it


@dataclass(frozen=True, kw_only=True)
class Timing:
    """The timing of one case, measured by the judge. Nothing that the guest reports decides it."""

    test_id: int  #: the case's number in the check
    name: str
    runtime_ms: float  #: median time of a call
    ci: tuple[float, float]  #: 95% bootstrap confidence interval of the median, in ms; never of width 0
    gflops: float | None  #: None if the problem does not count FLOPs
    gbps: float
    runs: tuple[float, ...]  #: the time per call from each pair of windows, in ms, in order
    outer_ms: float  #: the same as `runtime_ms`; kept for clients of version 1
    pct_of_floor: float | None = None  #: roofline floor over the median; None on the CPU runtime
    note: str = ""  #: anything unusual about the measurement
    windows: tuple[Window, ...] = ()  #: the raw measurements, from which the rest is computed
    #: Time of a window without any work, measured with our own empty solution; 0 if windows have `empty_ms`.
    overhead_ms: float = 0.0
    reference_ms: float | None = None  #: the windows' `reference_ms` when this machine was fastest recently
    noisy: bool = False  #: whether the machine was too busy for a narrow interval
    discarded_windows: int = 0
    self_reported_ms: float | None = None  #: by HIP events in the guest, which can be forged: informational
    missing_guarantees: tuple[str, ...] = ()  #: guarantees about the time that this machine could not provide


@dataclass(frozen=True, kw_only=True)
class BenchmarkResult(Event):
    """One case was timed."""

    status = "BENCHMARK_RESULT"
    result: Timing
    total_tests: int
    simulated: bool


@dataclass(frozen=True, kw_only=True)
class Benchmarked(Event):
    """Every timed case is done."""

    status = "BENCHMARKED"
    test_results: tuple[Timing, ...]
    avg_runtime_ms: float  #: geometric mean over the cases
    avg_gflops: float | None
    avg_ci: tuple[float, float] | None = None  #: 95% confidence interval of `avg_runtime_ms`
    noisy: bool = False  #: whether one of the cases is noisy
    simulated: bool
    output: str = ""
    warnings: tuple[Finding, ...] = ()
    bug_finder: str = ""
    target: str = ""
    fidelity: str = ""
    fidelity_reason: str = ""


@dataclass(frozen=True, kw_only=True)
class Machine:
    """The machine that ran the attempt. It is described, not identified: no host name, no address."""

    cpu: str  #: the model
    cores: int  #: logical CPUs that the judge may use
    memory_bytes: int
    kernel: str  #: the release of Linux
    gpu: str = ""  #: empty on the CPU runtime
    gpu_arch: str = ""
    gpu_memory_bytes: int | None = None
    compute_units: int | None = None
    gpu_partition: str = ""  #: such as `SPX/NPS1`; empty if the driver does not report it
    gpu_driver: str = ""  #: the version of the amdgpu module
    hip_runtime: str = ""  #: the version of the HIP runtime in the box


@dataclass(frozen=True, kw_only=True)
class ReceiptCase:
    """The sizes of one case, and how its inputs were drawn."""

    test_id: int  #: counts from 1
    name: str
    values: dict[str, int | float | list[int]]  #: every parameter that is passed by value, by name
    style: str
    timed: bool


@dataclass(frozen=True, kw_only=True)
class Receipt:
    """The facts of a receipt: the source, the toolchain and the machine."""

    warmfront: str  #: the release of Warmfront
    problem: str
    dtype: str
    source_sha256: str
    toolchain: str
    compiler: str
    sandbox: str
    device: str
    compile_s: float
    total_s: float
    library_sha256: str = ""  #: SHA-256 of the compiled `solution.so`
    problem_revision: str = ""  #: SHA-256 of the source that defines the problem
    seed_commitment: str = ""  #: the SHA-256 of `SEED:NONCE`, sent with COMPILING before anything ran
    seed: str = ""  #: hexadecimal; every attempt has a new one
    seed_nonce: str = ""  #: hexadecimal
    sandbox_detail: str = ""  #: how the sandbox isolated on that machine
    machine: Machine | None = None
    cases: tuple[ReceiptCase, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Accepted(Event):
    """The submission is correct and timed, and counts for the leaderboard."""

    status = "ACCEPTED"
    passed_tests: int
    total_tests: int
    test_results: tuple[CaseResult, ...]
    benchmark_results: tuple[Timing, ...]
    avg_runtime_ms: float
    avg_gflops: float | None
    avg_ci: tuple[float, float] | None = None  #: 95% confidence interval of `avg_runtime_ms`
    noisy: bool = False  #: whether one of the cases is noisy
    simulated: bool
    cost_usd: float
    receipt: Receipt
    signed_receipt: str = (
        ""  #: the exact content of the receipt file; empty until the control plane has signed it
    )
    output: str = ""
    warnings: tuple[Finding, ...] = ()
    bug_finder: str = ""
    target: str = ""
    fidelity: str = ""
    fidelity_reason: str = ""


@dataclass(frozen=True, kw_only=True)
class Failed(Event):
    """A verdict that is not a success; `verdict` is its status."""

    verdict: Verdict
    code: str  #: a more specific reason than the verdict; stable
    message: str
    details: dict[str, Any] = field(default_factory=dict)
    hint: str = ""  #: what to do next

    @classmethod
    def of(cls, error: WarmfrontError) -> Failed:
        """Return the verdict ERROR for an error of Warmfront."""
        return cls(verdict=Verdict.ERROR, code=error.code, message=error.message, hint=error.hint or "")

    def fields(self) -> dict[str, Any]:
        """Return the event as JSON types, with some details moved to the top level."""
        wire = {"status": str(self.verdict), "code": self.code, "message": self.message, "hint": self.hint}
        lifted = {name: self.details[name] for name in LIFTED if name in self.details}
        rest = {name: value for name, value in self.details.items() if name not in LIFTED}
        return {**wire, **{k: _plain(v) for k, v in lifted.items()}, "details": _plain(rest)}


#: Details that clients expect at the top level of the event.
LIFTED = (
    *("debug_info", "case", "passed_tests", "total_tests", "simulated", "output", "target"),
    *("fidelity", "fidelity_reason"),
)


def output_by_case(verdict: Mapping[str, Any]) -> dict[str, str]:
    """Return the program's output by case, from the fields of a verdict.

    The key "" has the output before the first case, or all output if the verdict does not separate cases.
    """
    by_case = (verdict.get("details") or {}).get("output_by_case") or {
        result["name"]: result["output"]
        for result in verdict.get("test_results") or ()
        if result.get("output")
    }
    whole = verdict.get("output") or ""
    if "" not in by_case and whole.endswith(printed := "".join(by_case.values())):
        by_case = {"": whole.removesuffix(printed), **by_case}
    return {case: text for case, text in by_case.items() if text}


@dataclass(kw_only=True)
class Stamp:
    """A function that adds ids, times and the schema version to events that are not stored."""

    clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    last_id: int = 0

    def __call__(self, event: Event) -> dict[str, Any]:
        """Return the event in its wire form."""
        self.last_id += 1
        return {
            "id": self.last_id,
            "time": format_time(self.clock()),
            "schema": SCHEMA_VERSION,
            **event.fields(),
        }


def format_time(moment: datetime) -> str:
    """Format a time in UTC with milliseconds, such as `2026-01-31T12:00:00.000Z`."""
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _plain(value: Any) -> Any:  # noqa: ANN401 - JSON has values of any type
    """Convert a value to JSON types. NaN and infinities, which JSON does not have, become strings."""
    if value is None or isinstance(
        value, (str, int)
    ):  # a tuple: `str | int` would create a union object on every call
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):  # a tuple for the same reason
        return [_plain(item) for item in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {name: _plain(item) for name, item in vars(value).items()}
    return value
