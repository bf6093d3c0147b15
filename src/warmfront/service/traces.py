"""OpenTelemetry traces: the path of a submission as spans, sent to a collector with OTLP over HTTP.

A trace is made from the stored events after the verdict, so that it is complete and costs a submission
nothing. The SDK sends traces in its own thread, and drops them if the collector is unavailable.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any, Protocol

from warmfront import __version__
from warmfront.errors import BadSetting, WarmfrontError
from warmfront.orchestrator.event_log import EventBus
from warmfront.value_class import dataclass
from warmfront.verdicts import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from warmfront.store.records import StoredEvent
    from warmfront.store.store import Store
    from warmfront.submission import Submission

logger = logging.getLogger(__name__)

_NS_PER_S = 1_000_000_000
#: More events than any submission has.
_MAX_EVENTS = 10_000
#: The span that begins with an event, within an attempt.
_STEPS = {"COMPILING": "compile", "CHECKING": "check", "BENCHMARKING": "benchmark"}


@dataclass(frozen=True, kw_only=True)
class PathSpan:
    """A part of a submission's path. Times are seconds since 1970."""

    name: str
    start: float
    end: float
    parent: int | None  #: the index of the span that contains it
    attributes: dict[str, Any]
    error: str = ""  #: why it failed because of the infrastructure; a rejected kernel is not an error


def path_spans(events: Sequence[StoredEvent], submission: Submission | None = None) -> list[PathSpan]:
    """Return the spans of a submission's events, from its arrival to its verdict; parents come first.

    The attributes have neither the source nor anything that a program printed, nor who submitted it.
    """
    first, last = events[0], events[-1]
    facts = {
        "submission.id": first.submission_id,
        "submission.verdict": last.status,
        "submission.events": len(events),
    }
    if submission is not None:
        facts |= {
            "submission.problem": submission.problem,
            "submission.endpoint": str(submission.endpoint),
            "submission.dtype": submission.dtype,
            "submission.gpu": submission.gpu,
        }
    failed = last.fields.get("code", last.status) if last.status == Verdict.ERROR else ""
    root = PathSpan(
        name="submission", start=first.time, end=last.time, parent=None, attributes=facts, error=failed
    )
    spans = [root]
    spans += _waiting_spans(events)
    attempts = _attempts(events)
    for number, (begin, end) in enumerate(attempts, 1):
        ready = events[begin]
        spans.append(
            PathSpan(
                name="attempt",
                start=ready.time,
                end=events[end].time,
                parent=0,
                attributes={
                    "attempt.number": number,
                    "vm.id": ready.fields.get("vm_id", ""),
                    "vm.start": ready.fields.get("vm_state", ""),
                },
                error="the attempt was lost" if number < len(attempts) else failed,
            )
        )
        spans += _step_spans(events[begin : end + 1], parent=len(spans) - 1)
    return spans


def _waiting_spans(events: Sequence[StoredEvent]) -> list[PathSpan]:
    """Return the X-ray, the queue and the provisioning before the first attempt."""
    times: dict[str, float] = {}
    for event in events:
        times.setdefault(event.status, event.time)
    arrived, end = events[0].time, events[-1].time
    admitted, ready = times.get("XRAY", end), times.get("VM_READY", end)
    spans = [PathSpan(name="xray", start=arrived, end=admitted, parent=0, attributes={})]
    if "XRAY" in times and admitted < end:
        spans.append(PathSpan(name="queue", start=admitted, end=ready, parent=0, attributes={}))
        if "PROVISIONING" in times:
            begin = times["PROVISIONING"]
            spans.append(PathSpan(name="provisioning", start=begin, end=ready, parent=2, attributes={}))
    return spans


def _attempts(events: Sequence[StoredEvent]) -> list[tuple[int, int]]:
    """Return the index of the first and the last event of each attempt."""
    begins = [index for index, event in enumerate(events) if event.status == "VM_READY"]
    ends = [begin - 1 for begin in begins[1:]] + [len(events) - 1]
    return list(zip(begins, ends, strict=False))


def _step_spans(events: Sequence[StoredEvent], parent: int) -> list[PathSpan]:
    steps = [(event.time, _STEPS[event.status]) for event in events if event.status in _STEPS]
    ends = [*(begin for begin, _ in steps[1:]), events[-1].time]
    return [
        PathSpan(name=name, start=begin, end=end, parent=parent, attributes={})
        for (begin, name), end in zip(steps, ends, strict=False)
    ]


class TraceExporter(Protocol):
    """A receiver of the spans of completed submissions."""

    def export(self, spans: Sequence[PathSpan]) -> None:
        """Queue the spans of one submission to be sent."""

    def close(self) -> None:
        """Send the queued spans."""


class OtlpExporter:
    """The OpenTelemetry SDK with OTLP over HTTP.

    Raises:
        BadSetting: The SDK is not installed.
    """

    def __init__(self, endpoint: str) -> None:
        try:
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import (  # noqa: PLC0415 - an extra
                OTLPSpanExporter,
            )
            from opentelemetry.sdk.resources import Resource  # noqa: PLC0415 - an extra
            from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415 - an extra
            from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415 - an extra
        except ImportError:
            raise BadSetting(
                "WARMFRONT_OTLP_ENDPOINT is set, but OpenTelemetry's SDK is not installed.",
                hint="Install it with `pip install 'warmfront[otel]'`, or unset WARMFRONT_OTLP_ENDPOINT.",
            ) from None
        resource = Resource.create({"service.name": "warmfront", "service.version": __version__})
        self._provider = TracerProvider(resource=resource)
        exporter = OTLPSpanExporter(endpoint=f"{endpoint.rstrip('/')}/v1/traces")
        self._provider.add_span_processor(BatchSpanProcessor(exporter))
        self._tracer = self._provider.get_tracer("warmfront")

    def export(self, spans: Sequence[PathSpan]) -> None:
        """Queue the spans of one submission to be sent."""
        from opentelemetry.trace import StatusCode, set_span_in_context  # noqa: PLC0415 - an extra

        begun: list[Any] = []
        for span in spans:
            context = None if span.parent is None else set_span_in_context(begun[span.parent])
            begun.append(
                self._tracer.start_span(
                    span.name, context, attributes=span.attributes, start_time=int(span.start * _NS_PER_S)
                )
            )
        for span, open_span in zip(spans, begun, strict=True):
            if span.error:
                open_span.set_status(StatusCode.ERROR, span.error)
            open_span.end(int(span.end * _NS_PER_S))

    def close(self) -> None:
        """Send the queued spans, and end the thread."""
        self._provider.shutdown()


class TracingBus(EventBus):
    """An event bus that exports the trace of a submission after its verdict."""

    def __init__(self, exporter: TraceExporter) -> None:
        super().__init__()
        self._exporter = exporter
        self._exporting: set[asyncio.Task[None]] = set()
        self.store: Store | None = None  #: set after the store is opened with this bus

    def publish(self, event: StoredEvent) -> None:
        """Pass an event on; after a verdict, export the trace in the background."""
        super().publish(event)
        if event.is_verdict and self.store is not None:
            task = asyncio.create_task(self._export(self.store, event.submission_id))
            self._exporting.add(task)
            task.add_done_callback(self._exporting.discard)

    async def flush(self) -> None:
        """Wait for the traces that are being read, and send them."""
        await asyncio.gather(*self._exporting)
        await asyncio.to_thread(self._exporter.close)

    async def _export(self, store: Store, submission_id: str) -> None:
        try:
            batch = await store.read_events(submission_id, 0, _MAX_EVENTS)
            submission = await store.get_submission(submission_id)
        except WarmfrontError as error:
            logger.info("cannot export the trace of submission %s: %s", submission_id, error.message)
            return
        if batch is not None and batch[0]:
            self._exporter.export(path_spans(batch[0], submission))
