"""The protocol between the control plane and a listener. Neither side imports anything else from the other.

`POST /execute` and `GET /execute/{attempt}/events?after=N` respond with one JSON object per line: the fields
of an event and its `seq`, counted from 1 in each attempt. The line with a terminal status is the last one.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Protocol

from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from warmfront.vm import VMInstance

#: Response header on every stream. Which status is terminal depends on the endpoint, so the client needs it
#: to distinguish a truncated stream from a complete one.
ENDPOINT_HEADER = "Warmfront-Endpoint"

#: An idle stream gets an empty line this often, so that each side notices when the other has disconnected.
KEEP_ALIVE_S = 5.0

#: A client abandons a stream after this long without data: by then, several keep-alive lines are overdue.
SILENCE_S = 30.0

#: The environment variable with the listener's token. It is not in argv, which every user can read.
TOKEN_VARIABLE = "WARMFRONT_LISTENER_TOKEN"  # noqa: S105 - the name, not the token


@dataclass(frozen=True, kw_only=True)
class ExecuteRequest:
    """The body of `POST /execute`: one attempt to judge one submission on one VM."""

    id: str  #: id of the attempt; a second POST with the same id re-attaches
    source: str
    file_name: str
    problem: str
    dtype: str
    endpoint: str  #: checker, benchmark or submit
    problem_def: str | None = None  #: Python source of the problem, from an operator
    slot: int | None = None  #: the slot that judges the attempt; None for the least busy one
    own_cases: str | None = None  #: JSON of the author's own cases
    launch: str | None = None  #: JSON of the launch of a scratch kernel
    all_cases: bool | None = None  #: whether a check continues after a wrong answer

    def to_json(self) -> dict[str, Any]:
        """Return the JSON object, without fields that are None and that earlier listeners do not support."""
        newer = {"slot", "own_cases", "launch", "all_cases"}
        return {name: value for name, value in asdict(self).items() if name not in newer or value is not None}


@dataclass(frozen=True, kw_only=True)
class AttemptEvent:
    """One line of an attempt's stream."""

    seq: int  #: from 1, without gaps
    fields: dict[str, Any]  #: `status` and the event's own fields


@dataclass(frozen=True, kw_only=True)
class ListenerHealth:
    """The response of `GET /health` and `POST /heartbeat`."""

    version: str
    toolchain: str
    gpu: str
    simulated: bool
    running: tuple[str, ...]  #: ids of the attempts without a verdict
    uptime_s: float
    failure: str = ""  #: why the VM cannot judge; empty if it can
    devices: tuple[
        dict[str, Any], ...
    ] = ()  #: the GPUs, each as `DeviceFacts.to_json`; empty for the CPU runtime
    gpu_health: dict[str, Any] | None = None  #: the latest `GpuHealth.to_json`; None without a GPU
    slots: int = 1  #: how many attempts run at the same time, each on its own GPU
    failed_slots: tuple[int, ...] = ()  #: the numbers of additional slots that cannot judge


class ListenerClient(Protocol):
    """The control plane's interface to listeners. Methods raise `VMUnreachable` if a VM does not respond."""

    def execute(self, vm: VMInstance, attempt: ExecuteRequest) -> AsyncIterator[AttemptEvent]:
        """Start the attempt, or re-attach to it, and yield all of its events."""

    def events(self, vm: VMInstance, attempt_id: str, after: int) -> AsyncIterator[AttemptEvent]:
        """Re-attach and yield the events after `after`. Raises `UnknownAttempt`."""

    async def cancel(self, vm: VMInstance, attempt_id: str) -> None:
        """Cancel the attempt; return when its boxes are destroyed.

        Unknown and finished attempts are ignored.
        """

    async def health(self, vm: VMInstance) -> ListenerHealth:
        """Return the state of the listener."""

    async def heartbeat(self, vm: VMInstance) -> ListenerHealth:
        """Send a heartbeat. Without heartbeats the watchdog ends the listener."""

    async def close(self) -> None:
        """Close every connection."""
