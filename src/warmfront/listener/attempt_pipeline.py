"""The two-stage pipeline of a VM: one attempt compiles while another runs; the others wait in FIFO order."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from warmfront.listener.fifo_lock import FifoLock

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

    from warmfront.judge.cancellation import CancellationToken


class AttemptPipeline:
    """A compile slot and a run slot, each a FIFO lock.

    One attempt compiles and one runs at a time, so nothing else uses the GPU while a kernel is timed.
    """

    def __init__(self) -> None:
        self._compile_lock = FifoLock()
        self._run_lock = FifoLock()

    @contextmanager
    def enter(self, cancellation: CancellationToken) -> Iterator[AbstractContextManager[None]]:
        """Wait for the compile slot. Yield the `run_slot`, which the judge enters before it runs anything."""
        self._compile_lock.acquire(cancellation)
        with ExitStack() as compile_slot:
            compile_slot.callback(self._compile_lock.release)
            yield self._run_slot(compile_slot, cancellation)

    @contextmanager
    def _run_slot(self, compile_slot: ExitStack, cancellation: CancellationToken) -> Iterator[None]:
        # Keep the compile slot until the run slot is held: otherwise every waiting attempt would compile.
        self._run_lock.acquire(cancellation)
        try:
            compile_slot.close()
            yield
        finally:
            self._run_lock.release()
