"""The SDK: hand a kernel to a Warmfront service, follow it to its verdict, ask what was spent.

`submit_hip_kernel` and `get_orchestrator_metrics` are all that most programs need; `Client` and
`AsyncClient` have the rest. It speaks HTTP and nothing else: no part of the service is loaded.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from warmfront.client.aio import AsyncClient
from warmfront.client.model import Costs, Event, Machine, Metrics, Page, Result, Submission
from warmfront.client.retry import Retry
from warmfront.client.sync import Client

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "AsyncClient",
    "Client",
    "Costs",
    "Event",
    "Machine",
    "Metrics",
    "Page",
    "Result",
    "Retry",
    "Submission",
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
    """Submit a kernel and wait for its verdict; `on_event` is called with each event on the way.

    A kernel that is wrong is a result; what keeps it from being judged is a `WarmfrontError`.
    """
    with Client(url, api_key) as client:
        submission_id = client.submit(
            code, problem=problem, gpu_type=gpu_type, dtype=dtype, endpoint=endpoint
        )
        seen = []
        for event in client.events(submission_id):
            seen.append(event)
            if on_event is not None:
                on_event(event)
        return Result.of(submission_id, seen)


def get_orchestrator_metrics(url: str | None = None, api_key: str | None = None) -> Metrics:
    """What the service has spent and done so far."""
    with Client(url, api_key) as client:
        return client.metrics()
