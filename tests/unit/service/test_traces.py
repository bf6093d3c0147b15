"""Traces of submissions: spans from events, and a collector on loopback that speaks OTLP over HTTP."""

from __future__ import annotations

import asyncio
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.support.store_samples import IN_QUEUE, XRAY, new_submission
from warmfront.service.traces import OtlpExporter, TracingBus, path_spans
from warmfront.store.memory_database import MemoryDatabase
from warmfront.store.records import StoredEvent
from warmfront.store.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator

#: A cold start whose first VM is lost.
STATUSES = [
    ("IN_QUEUE", 0.0),
    ("XRAY", 1.0),
    ("PROVISIONING", 2.0),
    ("VM_READY", 30.0),
    ("COMPILING", 31.0),
    ("VM_FAILED", 40.0),
    ("VM_READY", 60.0),
    ("COMPILING", 61.0),
    ("CHECKING", 65.0),
    ("BENCHMARKING", 70.0),
    ("ACCEPTED", 80.0),
]


def _events() -> list[StoredEvent]:
    return [
        StoredEvent(
            submission_id="s1", id=number, time=time, fields={"status": status, "vm_id": f"vm{number}"}
        )
        for number, (status, time) in enumerate(STATUSES, 1)
    ]


def test_the_spans_follow_the_path() -> None:
    """Every step is in its attempt, and the provisioning is in the queue."""
    spans = path_spans(_events())
    shown = [
        (span.name, span.start, span.end, None if span.parent is None else spans[span.parent].name)
        for span in spans
    ]
    assert shown == [
        ("submission", 0.0, 80.0, None),
        ("xray", 0.0, 1.0, "submission"),
        ("queue", 1.0, 30.0, "submission"),
        ("provisioning", 2.0, 30.0, "queue"),
        ("attempt", 30.0, 40.0, "submission"),
        ("compile", 31.0, 40.0, "attempt"),
        ("attempt", 60.0, 80.0, "submission"),
        ("compile", 61.0, 65.0, "attempt"),
        ("check", 65.0, 70.0, "attempt"),
        ("benchmark", 70.0, 80.0, "attempt"),
    ]
    assert spans[0].attributes["submission.verdict"] == "ACCEPTED"
    assert [span.error for span in spans if span.name == "attempt"] == ["the attempt was lost", ""]
    assert spans[0].error == ""


def test_an_infrastructure_error_is_an_error_of_the_trace() -> None:
    """A collector can count failures; a rejected kernel is not one."""
    *events, last = _events()
    failed = StoredEvent(
        submission_id="s1",
        id=last.id,
        time=80.0,
        fields={"status": "ERROR", "code": "VM_LOST", "message": "x"},
    )
    spans = path_spans([*events, failed])
    assert (spans[0].error, spans[-4].name, spans[-4].error) == ("VM_LOST", "attempt", "VM_LOST")


class Collector:
    """A collector on loopback that decodes what it gets."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, ExportTraceServiceRequest]] = []
        owner = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                owner.requests.append((self.path, ExportTraceServiceRequest.FromString(body)))
                self.send_response(200)
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - http.server's name
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)


@pytest.fixture(name="collector")
def _collector() -> Iterator[Collector]:
    collector = Collector()
    serving = threading.Thread(target=collector.server.serve_forever, kwargs={"poll_interval": 0.01})
    serving.start()
    yield collector
    collector.server.shutdown()
    collector.server.server_close()
    serving.join()


def test_a_verdict_sends_one_trace_to_the_collector(collector: Collector) -> None:
    """The spans have one trace id, the service's name, and the times of the events."""

    async def work() -> None:
        bus = TracingBus(OtlpExporter(f"http://127.0.0.1:{collector.server.server_port}/"))
        database = MemoryDatabase()
        store = bus.store = Store(database, bus)
        await store.create_submission(new_submission("s1"), IN_QUEUE)
        await store.admit("s1", XRAY, 1001.0)
        assert collector.requests == []
        await store.complete("s1", {"status": "CANCELLED"}, 1005.0)
        await bus.flush()
        database.dispose()

    asyncio.run(work())
    ((path, request),) = collector.requests
    assert path == "/v1/traces"
    (resource,) = request.resource_spans
    assert ("service.name", "warmfront") in {
        (item.key, item.value.string_value) for item in resource.resource.attributes
    }
    spans = {span.name: span for scope in resource.scope_spans for span in scope.spans}
    assert set(spans) == {"submission", "xray", "queue"}
    assert len({span.trace_id for span in spans.values()}) == 1
    facts = {item.key: item.value.string_value for item in spans["submission"].attributes}
    assert facts["submission.problem"] == "leaky-relu"
    assert facts["submission.gpu"] == "MI300X"
    sent = new_submission("s1")
    assert sent.code not in str(request)
    assert sent.owner not in facts.values()
    assert spans["queue"].parent_span_id == spans["submission"].span_id
    assert spans["queue"].end_time_unix_nano - spans["queue"].start_time_unix_nano == 4_000_000_000
