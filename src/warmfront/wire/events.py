"""The events of a submission for OpenAPI: a union that is discriminated by `status`.

`warmfront.events` declares the events. The models here are built from those dataclasses, with the envelope
that every stored event has, and are only descriptions: events are sent as they were stored, because the log
may contain events from an older release that lack newer fields.
"""

from __future__ import annotations

import dataclasses
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, RootModel, create_model
from pydantic_core import core_schema

from warmfront import events
from warmfront.verdicts import SUCCESS, Verdict
from warmfront.wire.base import Dollars, ResponseModel, Timestamp
from warmfront.wire.operations import OperationsChangedEvent
from warmfront.wire.xray import DiagnosticResponse, Dim3, XrayFindingResponse, XrayKernelResponse

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
    from pydantic.json_schema import JsonSchemaValue


class EventEnvelope(BaseModel):
    """The fields of every event."""

    model_config = ConfigDict(extra="allow", frozen=True)

    id: int = Field(description="Counts from 1 without gaps; send it as `Last-Event-ID` to resume.")
    time: Timestamp
    schema_version: int = Field(alias="schema", description="The version of the wire schema.")
    status: str


#: A number from the judge. JSON has no NaN or infinities, so these are the strings `nan`, `inf` and `-inf`.
JudgeNumber = float | str

#: For parts of events: those that an older release stored lack the fields that have a default.
_STORED = ConfigDict(json_schema_serialization_defaults_required=False)


class ElementDifference(ResponseModel):
    """One wrong element of an output."""

    model_config = _STORED

    index: list[int]
    expected: JudgeNumber
    actual: JudgeNumber
    difference: JudgeNumber
    inputs: dict[str, JudgeNumber] = Field(
        default_factory=dict,
        description="The same element of every input that has the shape of the output, by name.",
    )


class InputBeginning(ResponseModel):
    """The first values of an input."""

    name: str
    shape: list[int]
    values: list[JudgeNumber]


class ErrorGrid(ResponseModel):
    """The errors of an output, on a grid of at most 32 by 32 cells."""

    shape: list[int] = Field(description="The shape of the output.")
    height: int = Field(description="Rows of the matrix into which the output is folded.")
    width: int
    rows: int
    columns: int
    wrong: list[float | None] = Field(
        description="The share of wrong elements in each cell, row by row; null past the last element."
    )
    largest: list[float] = Field(description="The largest finite difference in each cell, row by row.")


class DebugInfo(ResponseModel):
    """The differences of an output from the reference."""

    model_config = _STORED

    max_difference: JudgeNumber
    mean_difference: JudgeNumber
    sample_differences: list[ElementDifference]
    inputs: list[InputBeginning] = Field(
        default_factory=list, description="The first values of every input; empty in older submissions."
    )
    grid: ErrorGrid | None


class Fault(ResponseModel):
    """A memory fault of a kernel on the CPU runtime."""

    fault: str
    kernel: str
    line: int | None
    block: Dim3 | None
    thread: Dim3 | None
    detail: str


class AppliedTolerance(ResponseModel):
    """The tolerance that an output exceeded."""

    rtol: float
    atol: float
    why: str


class FailedCaseResponse(ResponseModel):
    """A case that failed, in a check of all cases."""

    model_config = _STORED

    test_id: int
    name: str
    code: str
    message: str
    output_name: str = ""
    debug_info: DebugInfo | None = Field(default=None, description="For a wrong answer.")


class FailureDetails(BaseModel):
    """Facts about a failure, depending on its `code`."""

    model_config = ConfigDict(extra="allow", frozen=True)

    findings: list[events.Finding] = Field(default_factory=list, description="From the bug finder.")
    fault: Fault | None = None
    diagnostics: list[DiagnosticResponse] = Field(default_factory=list, description="From the compiler.")
    output_name: str = ""
    wrong_elements: int = 0
    elements: int = 0
    unwritten_elements: int = 0
    tolerance: AppliedTolerance | None = None
    output_by_case: dict[str, str] = Field(
        default_factory=dict, description="The program's output, by the name of the case."
    )
    buffers: list[events.BufferValues] = Field(
        default_factory=list, description="Of a scratch kernel: the buffers that it may write."
    )
    failed_cases: list[FailedCaseResponse] = Field(
        default_factory=list, description="Of a check of all cases: every case that failed."
    )


class _FailedEventFields(EventEnvelope):
    code: str = Field(description="A more specific reason than `status`; stable.")
    message: str
    hint: str = Field(description="What to do next; may be empty.")
    debug_info: DebugInfo | None = Field(default=None, description="For a WRONG_ANSWER.")
    case: str | None = Field(default=None, description="The case that failed.")
    passed_tests: int | None = None
    total_tests: int | None = None
    simulated: bool | None = None
    output: str | None = Field(default=None, description="The program's output.")
    target: str | None = Field(
        default=None, description="The report of the GPU's compiler, if it differs from the CPU's."
    )
    fidelity: str | None = Field(
        default=None,
        description="On the CPU runtime: `exact` if a GPU computes the same bits, or `approximate`.",
    )
    fidelity_reason: str | None = Field(
        default=None, description="Which operations are approximate, and why."
    )
    cost_usd: Dollars | None = None
    details: FailureDetails


#: Types of the fields that the dataclasses keep as plain JSON.
_FIELD_TYPES: dict[tuple[type[events.Event], str], Any] = {
    (events.Xray, "kernels"): list[XrayKernelResponse],
    (events.Xray, "findings"): list[XrayFindingResponse],
}


def _default(field: dataclasses.Field[Any]) -> Any:  # noqa: ANN401 - a default is of any type
    if field.default_factory is not dataclasses.MISSING:
        return Field(default_factory=field.default_factory)
    return ... if field.default is dataclasses.MISSING else field.default


def _describe(event: type[events.Event]) -> type[BaseModel]:
    """Build the wire model of an event from its dataclass."""
    hints = get_type_hints(event)
    fields: dict[str, Any] = {
        field.name: (_FIELD_TYPES.get((event, field.name), hints[field.name]), _default(field))
        for field in dataclasses.fields(event)
    }
    if event.status in Verdict.__members__:
        fields["cost_usd"] = (Dollars | None, None)  # a shared result has no costs
    return create_model(
        f"{event.__name__}Event",
        __base__=EventEnvelope,
        __doc__=event.__doc__,
        status=(Literal[event.status], ...),  # type: ignore[arg-type]  # known only at run time
        **fields,
    )


_FAILURES = tuple(verdict.value for verdict in Verdict if verdict not in SUCCESS.values())

EVENT_MODELS: tuple[type[BaseModel], ...] = (
    *(_describe(event) for event in events.Event.__subclasses__() if event is not events.Failed),
    create_model(
        "FailedEvent",
        __base__=_FailedEventFields,
        __doc__="A verdict that is not a success.",
        status=(Literal[_FAILURES], ...),  # type: ignore[arg-type]  # known only at run time
    ),
)


if TYPE_CHECKING:
    _AnyEvent = EventEnvelope  # the union is known only at run time
else:
    _AnyEvent = Annotated[reduce(or_, EVENT_MODELS), Field(discriminator="status")]


class SubmissionEvent(RootModel[_AnyEvent]):
    """One event of a submission; `status` is its kind."""


class _DescribedAs:
    """An annotation that leaves a value unvalidated and describes it as another model in OpenAPI."""

    def __init__(self, model: type[BaseModel], *, in_text: bool = False) -> None:
        self._model = model
        self._in_text = in_text

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> Any:  # noqa: ANN401
        """Accept any value, because stored events are sent without validation."""
        return core_schema.any_schema()

    def __get_pydantic_json_schema__(
        self, schema: core_schema.CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Describe the value in OpenAPI by a reference to the model."""
        described = handler(self._model.__pydantic_core_schema__)
        if not self._in_text:
            return described
        return {"type": "string", "contentMediaType": "application/json", "contentSchema": described}


#: A stored event, sent without validation; see the top of this module.
EventObject = Annotated[dict[str, Any], _DescribedAs(SubmissionEvent)]


class SubmissionEventMessage(BaseModel):
    """One message of a submission's event stream, as server-sent events frame it."""

    id: str = Field(description="The event's id; send it as `Last-Event-ID` to resume a dropped stream.")
    event: str = Field(description="The event's `status`.")
    data: Annotated[str, _DescribedAs(SubmissionEvent, in_text=True)]


class OperationsChangedMessage(BaseModel):
    """One message of the stream of changes, as server-sent events frame it."""

    id: str
    event: Literal["CHANGED"]
    data: Annotated[str, _DescribedAs(OperationsChangedEvent, in_text=True)]
