"""The events that a submission emits, typed.

An event is what happened; its id and time are given by the log that keeps it. The names and fields are
those that clients parse, so a change here is a change of the public interface.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, ClassVar

from warmfront.verdicts import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable

    from warmfront.errors import WarmfrontError


@dataclass(frozen=True, kw_only=True)
class Event:
    """Something that happened to a submission."""

    status: ClassVar[str]

    def fields(self) -> dict[str, Any]:
        """What goes on the wire: `status` first, then the event's own fields, JSON all through."""
        return {"status": self.status, **{name: _plain(value) for name, value in vars(self).items()}}


@dataclass(frozen=True, kw_only=True)
class InQueue(Event):
    """It is stored, and will get its verdict."""

    status = "IN_QUEUE"
    submission_id: str  #: by which it is asked for
    position: int  #: how many go before it
    quote: dict[str, Any]  #: vm_state, wait_s, cost_usd: what it looks like now


@dataclass(frozen=True, kw_only=True)
class Provisioning(Event):
    """A VM is on its way."""

    status = "PROVISIONING"
    vm_state: str  #: COLD_START
    vm_id: str
    phase: str
    elapsed_s: float
    eta_s: float | None  #: seconds to go, by the boots seen so far


@dataclass(frozen=True, kw_only=True)
class VMReady(Event):
    """It has a VM."""

    status = "VM_READY"
    vm_id: str
    vm_state: str  #: COLD_START or WARM_REUSE
    gpu: str
    simulated: bool
    attempt: int  #: 1 but for a submission whose VM was lost
    metrics: dict[str, Any]  #: the VM's own and the pool's


@dataclass(frozen=True, kw_only=True)
class Xray(Event):
    """What the compiler of the real target makes of the source; nothing was run for it."""

    status = "XRAY"
    arch: str
    gpu: str
    compiler: str
    compiles: bool | None  #: None where this machine cannot tell
    kernels: list[dict[str, Any]]  #: vgpr, agpr, sgpr, lds_bytes, waves_per_simd, limited_by, instructions, …
    findings: list[dict[str, Any]]
    message: str = ""  #: why it does not compile, in the author's lines
    notes: list[str] = field(default_factory=list)
    seconds: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Compiling(Event):
    """The compiler has the source."""

    status = "COMPILING"
    compiler: str
    toolchain: str
    sandbox: str


@dataclass(frozen=True, kw_only=True)
class Checking(Event):
    """It compiled; the cases begin."""

    status = "CHECKING"
    total_tests: int
    compile_s: float


@dataclass(frozen=True, kw_only=True)
class CaseResult:
    """What one case came to."""

    test_id: int  #: from 1
    name: str
    status: str  #: PASSED or FAILED


@dataclass(frozen=True, kw_only=True)
class TestResult(Event):
    """One case passed or failed."""

    status = "TEST_RESULT"
    result: CaseResult
    total_tests: int


@dataclass(frozen=True, kw_only=True)
class Finding:
    """Something that the bug finder saw."""

    kind: str  #: such as `data-race`; docs/bug-finder.md explains each
    severity: str  #: `error`: wrong by the language; `warning`: it may do no harm
    message: str
    hint: str  #: what to try
    line: int | None  #: in the author's file; None where it cannot be told
    other_line: int | None = None  #: of the other thread, where there is one to it
    kernel: str
    block: tuple[int, int, int] | None
    thread: tuple[int, int, int] | None
    other_block: tuple[int, int, int] | None = None
    other_thread: tuple[int, int, int] | None = None
    case: str


@dataclass(frozen=True, kw_only=True)
class Checked(Event):
    """Every case passed."""

    status = "CHECKED"
    test_results: tuple[CaseResult, ...]
    passed_tests: int
    total_tests: int
    simulated: bool  #: it ran on the CPU simulator
    output: str = ""  #: what the program printed, shown to its author as text
    warnings: tuple[Finding, ...] = ()  #: what the bug finder saw and the answer survived
    bug_finder: str = ""  #: why the bug finder did not look at all it should have, if so
    target: str = ""  #: why the real target's compiler refuses what the CPU's took


@dataclass(frozen=True, kw_only=True)
class Benchmarking(Event):
    """The timed cases begin."""

    status = "BENCHMARKING"
    total_tests: int


@dataclass(frozen=True, kw_only=True)
class Timing:
    """What one timed case came to."""

    test_id: int  #: the same number as in the check
    name: str
    runtime_ms: float  #: median of the samples
    ci: tuple[float, float]  #: 95% bootstrap confidence interval of the median, in ms
    gflops: float | None  #: None where FLOPs are not the point
    gbps: float
    runs: tuple[float, ...]  #: every sample, in ms, in the order taken
    outer_ms: float  #: time of a call by the judge's own clock, the audit of the above
    pct_of_floor: float | None = None  #: roofline floor over the median, where the GPU's peaks are known
    note: str = ""  #: such as why the outer clock was believed instead


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
    simulated: bool
    output: str = ""
    warnings: tuple[Finding, ...] = ()
    bug_finder: str = ""
    target: str = ""


@dataclass(frozen=True, kw_only=True)
class Accepted(Event):
    """Right, timed, and it counts."""

    status = "ACCEPTED"
    passed_tests: int
    total_tests: int
    test_results: tuple[CaseResult, ...]
    benchmark_results: tuple[Timing, ...]
    avg_runtime_ms: float
    avg_gflops: float | None
    simulated: bool
    cost_usd: float
    receipt: dict[str, Any]  #: enough to say later what was judged, how and where
    output: str = ""
    warnings: tuple[Finding, ...] = ()
    bug_finder: str = ""
    target: str = ""


@dataclass(frozen=True, kw_only=True)
class Failed(Event):
    """A verdict that is not a success. `verdict` is its status."""

    verdict: Verdict = field(metadata={"wire": False})
    code: str  #: a finer reason, stable
    message: str
    details: dict[str, Any] = field(default_factory=dict)
    hint: str = ""  #: the next step

    @classmethod
    def of(cls, error: WarmfrontError) -> Failed:
        """The verdict ERROR, for an error of ours."""
        return cls(verdict=Verdict.ERROR, code=error.code, message=error.message, hint=error.hint or "")

    def fields(self) -> dict[str, Any]:
        """As `Event.fields`, with the verdict as the status and the details beside it."""
        wire = {"status": str(self.verdict), "code": self.code, "message": self.message, "hint": self.hint}
        lifted = {name: self.details[name] for name in LIFTED if name in self.details}
        rest = {name: value for name, value in self.details.items() if name not in LIFTED}
        return {**wire, **{k: _plain(v) for k, v in lifted.items()}, "details": _plain(rest)}


#: Details that clients expect beside `message`, not below `details`.
LIFTED = ("debug_info", "case", "passed_tests", "total_tests", "simulated", "output", "target")


@dataclass(kw_only=True)
class Stamp:
    """Gives each event of one submission its id, from 1, and its time."""

    clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    last_id: int = 0

    def __call__(self, event: Event) -> dict[str, Any]:
        """The event as it goes on the wire."""
        self.last_id += 1
        return {
            "id": self.last_id,
            "time": self.clock().isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            **event.fields(),
        }


def _plain(value: Any) -> Any:  # noqa: ANN401 - JSON is made of anything
    """The value with JSON's types alone. JSON has no NaN and no infinity: they become text."""
    if value is None or isinstance(value, (str, int)):  # not a union, which is made anew each time
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):  # as above
        return [_plain(item) for item in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: _plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    return value
