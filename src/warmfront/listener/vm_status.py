"""The description and health of a VM, as its listener reports them to the control plane.

A VM that cannot judge keeps running to report the reason, which would otherwise be lost with its output.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from warmfront.errors import VMUnhealthy
from warmfront.events import Event, Failed
from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from warmfront.errors import WarmfrontError
    from warmfront.judge.cancellation import CancellationToken
    from warmfront.listener.protocol import ExecuteRequest


@dataclass(frozen=True, kw_only=True)
class VMStatus:
    """The toolchain and the GPUs of a VM, and its health."""

    toolchain: str
    gpu: str  #: the name of a GPU type in the catalog
    simulated: bool
    failure: str = ""  #: why the VM cannot judge; empty if it can
    devices: tuple[
        dict[str, Any], ...
    ] = ()  #: the GPUs, each as `DeviceFacts.to_json`; empty for the CPU runtime
    gpu_health: dict[str, Any] | None = None  #: the latest `GpuHealth.to_json`; None without a GPU
    slots: int = 1  #: how many attempts run at the same time, each on its own GPU
    failed_slots: tuple[int, ...] = ()  #: the numbers of additional slots that cannot judge


class UnavailableJudge:
    """The replacement for a judge that could not be opened. It returns every attempt with the reason."""

    def __init__(self, error: WarmfrontError, *, toolchain: str, gpu: str) -> None:
        failure = f"{error.message.rstrip('.')}. {error.hint or ''}".strip()
        self.status = VMStatus(toolchain=toolchain, gpu=gpu, simulated=False, failure=failure)

    def events(
        self,
        attempt: ExecuteRequest,
        *,
        run_slot: AbstractContextManager[None],
        cancellation: CancellationToken,
    ) -> Iterator[Event]:
        """Yield the reason as the verdict. The control plane treats it as a lost attempt."""
        del attempt, run_slot, cancellation
        yield Failed.of(VMUnhealthy(self.status.failure))

    def close(self) -> None:
        """Do nothing: there is nothing to close."""
