"""The OpenAPI models of events match the events that are sent."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from pydantic import ValidationError

from warmfront import events
from warmfront.events import SCHEMA_VERSION, Event, Stamp, VMStart
from warmfront.listener.slot_pool import RelayedEvent
from warmfront.verdicts import SUCCESS, Verdict
from warmfront.wire.costs import MetricsResponse
from warmfront.wire.events import EVENT_MODELS, SubmissionEvent

CASE = events.CaseResult(test_id=1, name="small", status="PASSED")
TIMING = events.Timing(
    test_id=1, name="small", runtime_ms=1.5, ci=(1.4, 1.6), gflops=None, gbps=3.0, runs=(1.5,), outer_ms=1.6
)
FINDING = events.Finding(
    kind="data-race",
    severity="warning",
    message="two threads write",
    hint="use atomicAdd",
    line=3,
    kernel="k",
    block=(0, 0, 0),
    thread=(1, 0, 0),
    case="small",
)
RECEIPT = events.Receipt(
    warmfront="1.0",
    problem="relu",
    dtype="float32",
    source_sha256="0" * 64,
    toolchain="cpu",
    compiler="g++",
    sandbox="docker",
    device="CPU",
    compile_s=0.5,
    total_s=1.5,
)
SAMPLES: list[Event] = [
    events.InQueue(
        submission_id="sub_1",
        position=0,
        quote=events.QueueQuote(vm_state=VMStart.WARM_REUSE, wait_s=0.0, cost_usd=0.1, warm_chance=0.5),
    ),
    events.Provisioning(
        vm_state=VMStart.COLD_START, vm_id="vm_1", phase="booting", elapsed_s=1.0, eta_s=None
    ),
    events.Waiting(
        kind="NO_CAPACITY",
        reason="No MI300X is available on amddevcloud.",
        waited_s=75.0,
        retry_in_s=40.0,
        ahead=3,
        eta_s=340.0,
        gives_up_in_s=1725.0,
    ),
    events.VMFailed(vm_id="vm_1", reason="ECC: 3 uncorrectable memory errors"),
    events.VMReady(
        vm_id="vm_1",
        vm_state=VMStart.WARM_REUSE,
        gpu="MI300X",
        simulated=False,
        attempt=1,
        metrics=events.VMReadyMetrics(
            vm=events.VMUsage(tasks_done=0, age_s=1.0),
            pool=events.PoolUsage(active_vms=1, busy_vms=0, queued=0),
        ),
    ),
    events.Xray(arch="gfx942", gpu="MI300X", compiler="zig", compiles=True, kernels=[], findings=[]),
    events.Compiling(compiler="g++", toolchain="cpu", sandbox="docker"),
    events.Checking(total_tests=1, compile_s=0.5),
    events.TestResult(result=CASE, total_tests=1),
    events.Checked(test_results=(CASE,), passed_tests=1, total_tests=1, simulated=True, warnings=(FINDING,)),
    events.Benchmarking(total_tests=1),
    events.BenchmarkResult(result=TIMING, total_tests=1, simulated=True),
    events.Benchmarked(test_results=(TIMING,), avg_runtime_ms=1.5, avg_gflops=None, simulated=True),
    events.Accepted(
        passed_tests=1,
        total_tests=1,
        test_results=(CASE,),
        benchmark_results=(TIMING,),
        avg_runtime_ms=1.5,
        avg_gflops=None,
        simulated=True,
        cost_usd=0.1,
        receipt=RECEIPT,
    ),
    *(
        events.Failed(
            verdict=verdict, code="X", message="m", details={"case": "small", "findings": (FINDING,)}
        )
        for verdict in Verdict
        if verdict not in SUCCESS.values()
    ),
]


@pytest.mark.parametrize("event", SAMPLES, ids=lambda event: type(event).__name__)
def test_every_event_matches_the_union(event: Event) -> None:
    """An event validates as the model of its status, and has no field that the model lacks."""
    sent = Stamp()(event)
    model = SubmissionEvent.model_validate(sent).root
    assert model.status == sent["status"]
    assert not model.model_extra


@pytest.mark.parametrize(
    "sent",
    [sent for sent in map(Stamp(), SAMPLES) if sent["status"] in Verdict.__members__],
    ids=lambda sent: sent["status"],
)
def test_a_verdict_without_its_cost_matches_the_union(sent: dict[str, Any]) -> None:
    """A shared result is sent without costs."""
    SubmissionEvent.model_validate({name: value for name, value in sent.items() if name != "cost_usd"})


def test_every_event_class_has_a_sample() -> None:
    """A new event cannot be left out of the test above."""
    sent = set(Event.__subclasses__()) - {RelayedEvent}  # which has the fields of another event
    assert {type(event) for event in SAMPLES} == sent
    assert len(EVENT_MODELS) == len(sent)


def test_every_verdict_is_a_status_of_the_union() -> None:
    """Every verdict is a value of the discriminator."""
    schema = SubmissionEvent.model_json_schema(by_alias=True)
    assert set(schema["discriminator"]["mapping"]) >= set(Verdict)


def test_an_unknown_status_is_not_in_the_union() -> None:
    """The union is closed: OpenAPI lists every event."""
    with pytest.raises(ValidationError):
        SubmissionEvent.model_validate(
            {"id": 1, "time": 0.0, "schema": SCHEMA_VERSION, "status": "POSTPONED"}
        )


def test_a_client_keeps_fields_of_a_newer_server() -> None:
    """A response with an unknown field is accepted, and `to_json` returns the field."""
    sent = {
        "total_cost_usd": 5.25,
        "remaining_credits_usd": 1394.75,
        "credits_used_pct": 0.4,
        "tasks_completed": 42,
        "cold_starts": 3,
        "warm_reuses": 39,
        "active_vms": 1,
        "added_later": "x",
    }
    metrics = MetricsResponse.model_validate(sent)
    assert metrics.total_cost_usd == Decimal("5.25")
    assert metrics.to_json() == sent
