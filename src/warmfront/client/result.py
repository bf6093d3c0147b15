"""The types that the SDK returns for the events and the result of a submission."""

from __future__ import annotations

from dataclasses import field
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Self

from warmfront.errors import InfrastructureError
from warmfront.events import output_by_case
from warmfront.value_class import dataclass
from warmfront.verdicts import SUCCESS, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, kw_only=True)
class ReceivedEvent:
    """An event of a submission, as the server sent it.

    The OpenAPI document lists the fields of each status. A client must ignore statuses that it does not know,
    because a newer server may send additional ones.
    """

    id: int  #: counts from 1 without gaps
    status: str
    fields: dict[str, Any]  #: the JSON object, with `id`, `time`, `schema` and `status`

    @property
    def verdict(self) -> Verdict:
        """The verdict of a terminal event.

        Raises:
            InfrastructureError: The status is not a verdict that this client knows.
        """
        if self.status not in set(Verdict):
            raise InfrastructureError(
                f"The server sent the verdict {self.status!r}, which this client does not support.",
                hint="Upgrade this client to the server's release.",
            )
        return Verdict(self.status)


@dataclass(frozen=True, kw_only=True)
class Result:
    """The verdict of a submission, with the fields of its terminal event."""

    submission_id: str
    verdict: Verdict
    code: str  #: a more specific reason than the verdict; empty for a success
    message: str  #: what is wrong; empty for a success
    hint: str  #: what to do next; may be empty
    passed_tests: int | None
    total_tests: int | None
    avg_runtime_ms: float | None
    avg_ci: tuple[float, float] | None  #: 95% confidence interval of `avg_runtime_ms`, in ms; None if unknown
    noisy: bool  #: whether the machine was too busy for a narrow interval
    avg_gflops: float | None
    simulated: bool  #: whether it ran on the CPU runtime, so that its times are not a GPU's
    cost_usd: Decimal
    vm_state: str | None  #: COLD_START or WARM_REUSE; None if no VM was needed
    fields: dict[str, Any] = field(repr=False)  #: the terminal event

    @property
    def output_by_case(self) -> dict[str, str]:
        """The program's output by the name of the case; the key "" holds output outside of cases."""
        return output_by_case(self.fields)

    @property
    def is_success(self) -> bool:
        """Whether the kernel passed everything that the endpoint checks."""
        return self.verdict in SUCCESS.values()

    @classmethod
    def from_events(cls, submission_id: str, events: Sequence[ReceivedEvent]) -> Self:
        """Build the result from all events of a submission, the terminal one last.

        Raises:
            InfrastructureError: The last event is not a verdict that this client knows.
        """
        terminal = events[-1]
        fields = terminal.fields
        vm_states = [event.fields["vm_state"] for event in events if event.status == "VM_READY"]
        return cls(
            submission_id=submission_id,
            verdict=terminal.verdict,
            code=fields.get("code", ""),
            message=fields.get("message", ""),
            hint=fields.get("hint", ""),
            passed_tests=fields.get("passed_tests"),
            total_tests=fields.get("total_tests"),
            avg_runtime_ms=fields.get("avg_runtime_ms"),
            avg_ci=tuple(fields["avg_ci"]) if fields.get("avg_ci") else None,
            noisy=bool(fields.get("noisy")),
            avg_gflops=fields.get("avg_gflops"),
            simulated=bool(fields.get("simulated")),
            cost_usd=Decimal(str(fields.get("cost_usd") or 0)),
            vm_state=vm_states[-1] if vm_states else None,
            fields=fields,
        )
