"""The SDK: submit a kernel to a Warmfront service, follow it to its verdict, and read its cost.

`submit_hip_kernel` and `get_orchestrator_metrics` are enough for most programs; `Client` and `AsyncClient`
cover the rest of the API. Responses are the models of `warmfront.wire`: money is `Decimal`, times are seconds
since 1970, and `to_json()` returns the JSON. The SDK only uses HTTP; no part of the service is loaded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from warmfront.client.aio import AsyncClient
from warmfront.client.result import ReceivedEvent as Event
from warmfront.client.result import Result
from warmfront.client.retry import Retry
from warmfront.client.sync import Client
from warmfront.wire.audit import AuditEntryResponse as AuditLogEntry
from warmfront.wire.audit import AuditPageResponse as AuditLogPage
from warmfront.wire.costs import CostsResponse as Costs
from warmfront.wire.costs import MetricsResponse as Metrics
from warmfront.wire.forecasts import PaceForecastListResponse as Forecasts
from warmfront.wire.forecasts import WhatIfResponse as WhatIf
from warmfront.wire.operations import ProvisioningProblemResponse as ProvisioningProblem
from warmfront.wire.operator_controls import IntakeResponse as IntakeState
from warmfront.wire.operator_controls import LimitsResponse as Limits
from warmfront.wire.operator_controls import TeamSpendingResponse as TeamSpending
from warmfront.wire.signing_keys import SigningKeyResponse as SigningKey
from warmfront.wire.submissions import SubmissionPageResponse as Page
from warmfront.wire.submissions import SubmissionResponse as Submission
from warmfront.wire.teams import AssignmentResponse as Assignment
from warmfront.wire.teams import TeamDetailResponse as Team
from warmfront.wire.vms import VmResponse as Vm

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "Assignment",
    "AsyncClient",
    "AuditLogEntry",
    "AuditLogPage",
    "Client",
    "Costs",
    "Event",
    "Forecasts",
    "IntakeState",
    "Limits",
    "Metrics",
    "Page",
    "ProvisioningProblem",
    "Result",
    "Retry",
    "SigningKey",
    "Submission",
    "Team",
    "TeamSpending",
    "Vm",
    "WhatIf",
    "get_orchestrator_metrics",
    "submit_hip_kernel",
]


def submit_hip_kernel(
    code: str,
    *,
    problem: str,
    gpu_type: str = "MI300X",
    dtype: str | None = None,
    endpoint: str = "submit",
    url: str | None = None,
    api_key: str | None = None,
    on_event: Callable[[Event], object] | None = None,
) -> Result:
    """Submit a kernel and wait for its verdict.

    A wrong kernel has a result; an exception means that the kernel could not be judged.

    Args:
        code: HIP source that defines `solution`.
        problem: The slug or an alias of the problem.
        gpu_type: The GPU to run on.
        dtype: A dtype of the problem; the first one by default.
        endpoint: "xray", "checker", "benchmark" or "submit".
        url: The address of the service; WARMFRONT_URL, or http://127.0.0.1:3000, by default.
        api_key: An API key; WARMFRONT_API_KEY by default.
        on_event: Called with each event as it happens.

    Returns:
        The verdict with its details.

    Raises:
        BadRequest: A field is invalid.
        BudgetExceeded: A daily budget is used up.
        NotAuthenticated: The service requires an API key.
        RateLimitExceeded: The user has no submissions left in this minute or day.
        ServerUnreachable: No service responds at `url`.

    Example:
        >>> result = submit_hip_kernel(code, problem="leaky-relu", endpoint="checker")
        >>> if not result.is_success:
        ...     print(result.message, result.hint)
    """
    with Client(url, api_key) as client:
        submission_id = client.submit(
            code, problem=problem, gpu_type=gpu_type, dtype=dtype, endpoint=endpoint
        )
        events = []
        for event in client.events(submission_id):
            events.append(event)
            if on_event is not None:
                on_event(event)
        return Result.from_events(submission_id, events)


def get_orchestrator_metrics(url: str | None = None, api_key: str | None = None) -> Metrics:
    """Return the seven headline metrics of the service.

    Args:
        url: The address of the service; WARMFRONT_URL, or http://127.0.0.1:3000, by default.
        api_key: An API key; WARMFRONT_API_KEY by default.

    Raises:
        NotAuthenticated: The service requires an API key.
        ServerUnreachable: No service responds at `url`.

    Example:
        >>> metrics = get_orchestrator_metrics()
        >>> print(metrics.total_cost_usd, metrics.remaining_credits_usd)
    """
    with Client(url, api_key) as client:
        return client.metrics()
