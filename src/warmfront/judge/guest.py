"""The judge's side of the channel to the guest in the run box.

Every command carries a fresh nonce, and only an answer with that nonce is accepted. Answers are claims
(`box_messages.py` parses them). This module turns an early end of the guest into a verdict, and measures
windows; it does not check outputs.
"""

from __future__ import annotations

import os
import secrets
import signal
import struct
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from warmfront.errors import GpuFailed
from warmfront.events import Window
from warmfront.judge import box_messages
from warmfront.judge.box_messages import (
    ERROR,
    FAULT,
    HEADER_BYTES,
    FaultReport,
    InvalidMessage,
    RunAnswer,
    printable,
)
from warmfront.judge.kernel_failure import KernelFailure
from warmfront.sandbox.base import ExitReason
from warmfront.verdicts import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from warmfront.judge.buffer_layout import BufferLayout
    from warmfront.judge.case_memory import CaseMemory
    from warmfront.sandbox.base import Box, BoxExit

#: These values are defined in guest.cpp as well.
_LOAD, _PLAN, _RUN, _QUIT, _UPLOAD, _DOWNLOAD, _CHECK_DEVICE = 1, 2, 3, 4, 5, 6, 7
_PROTECT, _ONE_WORKER = 1, 2
_HEADER = struct.Struct("<IIQ")
_RUN_HEADER = struct.Struct("<IIQ")
#: A plan without arguments and slots.
_EMPTY_PLAN = bytes(32)

#: CPU weights of the guest's cgroup: while it is timed, and otherwise. `python -m bench.repeatability` shows
#: the effect. Only timed calls, on one core, have the large one, so that the machine stays responsive.
TIMED_CPU_WEIGHT, CPU_WEIGHT = 10_000, 100

#: How long the guest may take to exit after its last answer or after it closed the channel.
EXIT_TIMEOUT_S = 2.0

#: If neither the guest nor the judge ran or waited for a CPU for longer than this in a window, the guest
#: slept, and the time beyond this limit counts. Waking two processes takes less.
SLEEP_ALLOWANCE_MS = 3.0


class GuestProcess:
    """The guest in one box. Every method raises `KernelFailure` if the guest ends unexpectedly."""

    def __init__(
        self, box: Box, *, case_timeout_s: float, elapsed_s: Callable[[], float] = time.perf_counter
    ) -> None:
        self._box = box
        self._elapsed_s = elapsed_s  # the clock of windows, from the toolchain
        self.case_timeout_s = case_timeout_s  #: CPU time limit of one command
        self.case_name: str | None = None  #: name of the running case, for messages
        self._is_frozen = False
        self._layout: BufferLayout | None = None
        self._addresses: tuple[int, ...] = ()
        self._markers: list[tuple[int, str | None]] = []  # marker → case; None if its output is not shown

    def check_device(self) -> None:
        """Check that the device of the box works. Call this before `load`, while the guest can be trusted.

        Raises:
            GpuFailed: the device does not work, or the guest has already ended.
        """
        try:
            kind, payload = self._command(_CHECK_DEVICE, b"")
        except KernelFailure as failure:
            raise GpuFailed(
                f"The guest failed before the submission was loaded: {failure.event.message}"
            ) from failure
        if kind == ERROR:
            raise GpuFailed(f"The GPU does not work: {printable(payload.decode(errors='replace'))}.")

    def load(self) -> None:
        """Load solution.so. This runs the static constructors of submitted code."""
        kind, payload = self._command(_LOAD, b"")
        if kind == ERROR:
            _raise_load_error(printable(payload.decode(errors="replace")))

    def plan(self, layout: BufferLayout, plan: bytes) -> None:
        """Open or allocate the buffers of a case, with the payload that `CaseMemory.plan` returned."""
        self._layout = None
        kind, payload = self._command(_PLAN, plan)
        if kind == ERROR:
            raise KernelFailure(
                Verdict.MEMORY_LIMIT_EXCEEDED,
                "BUFFERS_DO_NOT_FIT",
                "The case's buffers do not fit into device memory.",
                hint="A global constructor may have allocated the memory: allocate inside solution().",
            )
        try:
            self._addresses = box_messages.parse_addresses(payload, layout.slots * layout.argument_count)
        except InvalidMessage as error:
            self._raise_tampered(str(error))
        self._layout = layout

    def run(self, *, protect: bool = False, shows_output: bool = True) -> RunAnswer:
        """Call `solution` once on the planned buffers.

        Args:
            protect: make device memory inaccessible to host code (CPU runtime only).
            shows_output: whether the author may see the output of this call.
        """
        marker = self._new_marker(self.case_name if shows_output else None)
        header = _RUN_HEADER.pack(1, _PROTECT if protect else 0, marker)
        kind, payload = self._command(_RUN, header)
        return self._parse_run(kind, payload, calls=1)

    def accepts_plan(self, payload: bytes) -> bool:
        """Return whether the guest can open the memory of this plan. Call it before `load`."""
        kind, _ = self._command(_PLAN, payload)
        return kind != ERROR

    def upload(self) -> None:
        """Copy the data file to the guest's own memory."""
        self._copy(_UPLOAD)

    def download(self) -> None:
        """Copy the guest's own memory to the data file."""
        self._copy(_DOWNLOAD)

    @contextmanager
    def prioritized(self) -> Iterator[None]:
        """Give the guest a large share of a busy CPU, so that its caches stay warm."""
        self._box.set_cpu_weight(TIMED_CPU_WEIGHT)
        try:
            yield
        finally:
            self._box.set_cpu_weight(CPU_WEIGHT)

    def pin(self, cpus: set[int]) -> bool:
        """Pin the guest to these CPUs; return whether that is possible."""
        return self._box.set_cpus(cpus)

    def freeze(self) -> None:
        """Stop the guest. It stays stopped, except during a `window`."""
        self._box.freeze()
        self._is_frozen = True

    def thaw(self) -> None:
        """Resume the guest."""
        if self._is_frozen:
            self._is_frozen = False
            self._box.thaw()

    def window(
        self,
        calls: int,
        memory: CaseMemory | None = None,
        *,
        protect: bool = False,
        by_cpu_time: bool = True,
    ) -> tuple[Window, RunAnswer]:
        """Let the stopped guest call `solution` on the first `calls` slots, and stop it again.

        The clock starts before the guest runs and ends when all of its processes are stopped, so work after
        its answer counts. On the CPU runtime, the time is the CPU time of the whole box, from the kernel:
        neither other processes nor the guest can change it. Sleeping counts as well. On a GPU it is elapsed
        time. With `protect`, which costs time, host code cannot access device memory (CPU runtime only).
        """
        box = self._box
        flags = _ONE_WORKER | (_PROTECT if protect else 0)
        header = _RUN_HEADER.pack(calls, flags, self._new_marker(None))
        load, usage_before, judge_before_ms = machine_load(), box.usage(), _judge_waited_ms()
        start_s = self._elapsed_s()
        if memory:
            memory.reveal(calls)
        box.thaw()
        kind, payload = self._command(_RUN, header)
        if memory:
            memory.save(calls)
        box.freeze()
        wall_ms = (self._elapsed_s() - start_s) * 1e3
        usage, judge_waited_ms = box.usage(), _judge_waited_ms() - judge_before_ms
        cpu_ms = (usage.cpu_s - usage_before.cpu_s) * 1e3
        waited_ms = ((usage.waited_s or 0.0) - (usage_before.waited_s or 0.0)) * 1e3
        slept_ms = wall_ms - cpu_ms - waited_ms - judge_waited_ms - SLEEP_ALLOWANCE_MS
        window = Window(
            calls=calls,
            time_ms=cpu_ms + max(0.0, slept_ms) if by_cpu_time else wall_ms,
            wall_ms=wall_ms,
            cpu_ms=cpu_ms if by_cpu_time else None,
            waited_ms=None if usage.waited_s is None else waited_ms,
            load=load,
        )
        return window, self._parse_run(kind, payload, calls=calls)

    def empty_window(self, *, by_cpu_time: bool = True) -> Window:
        """Measure a window in which the guest calls a function that does nothing. Call it before `load`."""
        self._command(_PLAN, _EMPTY_PLAN)
        self.freeze()
        window, _ = self.window(1, by_cpu_time=by_cpu_time)
        self.thaw()
        return window

    def describe_address(self, address: object) -> str | None:
        """Describe an address as an element of a planned tensor; None if no tensor is near."""
        if self._layout is None or not isinstance(address, int) or not address:
            return None
        return self._layout.describe_address(address, self._addresses)

    def outputs(self, *, patience_s: float = EXIT_TIMEOUT_S) -> dict[str, str]:
        """End the program and return its output by case; the key "" has the output before the first case.

        The output of hidden cases and of timed calls is left out.
        """
        self._box.thaw()
        self._box.send(_HEADER.pack(_QUIT, 0, 0))
        rest = self._box.wait(patience_s).output
        outputs: dict[str, str] = {}
        for marker, case in self._markers or [(0, "")]:
            # Output without a marker after it belongs to a case that did not finish.
            text, found, rest = rest.partition(box_messages.marker_line(marker))
            if text and case is not None:
                outputs[case] = outputs.get(case, "") + box_messages.printable_output(text)
            if not found:
                break
        return outputs

    def _new_marker(self, case: str | None) -> int:
        marker = secrets.randbits(63) | 1
        self._markers.append((marker, case))
        return marker

    def _copy(self, op: int) -> None:
        was_frozen = self._is_frozen
        self.thaw()
        kind, payload = self._command(op, b"")
        if was_frozen:
            self.freeze()
        if kind == ERROR:
            raise self._exception_failure(payload)

    def _parse_run(self, kind: int, payload: bytes, *, calls: int) -> RunAnswer:
        if kind == ERROR:
            raise self._exception_failure(payload)
        try:
            return box_messages.parse_run_answer(payload, calls)
        except InvalidMessage as error:
            self._raise_tampered(str(error))

    def _command(self, op: int, payload: bytes) -> tuple[int, bytes]:
        nonce = secrets.randbits(64)
        self._box.send(_HEADER.pack(op, len(payload), nonce) + payload)
        try:
            kind, size = box_messages.parse_header(self._receive(HEADER_BYTES), nonce)
        except InvalidMessage as error:
            self._raise_tampered(str(error))
        body = self._receive(size)
        if kind == FAULT:
            self._raise_fault(body)
        return kind, body

    def _receive(self, size: int) -> bytes:
        if size == 0:
            return b""
        try:
            data = self._box.receive(size, cpu_timeout_s=self.case_timeout_s)
        except TimeoutError:
            raise self._time_limit_failure() from None
        if len(data) < size:
            # The guest ended, or it closed the channel, in which case `wait` ends it.
            self._raise_early_exit(self._box.wait(EXIT_TIMEOUT_S))
        return data

    def _time_limit_failure(self) -> KernelFailure:
        return KernelFailure(
            Verdict.TIME_LIMIT_EXCEEDED,
            "TIME_LIMIT",
            f"{self._location()}no result after {self.case_timeout_s:g} s of computing or waiting.",
            hint="Look for an infinite loop, in the kernel and on the host. "
            "WARMFRONT_CASE_TIMEOUT sets the limit.",
            **self._case_details(),
        )

    def _exception_failure(self, payload: bytes) -> KernelFailure:
        return KernelFailure(
            Verdict.RUNTIME_ERROR,
            "EXCEPTION",
            f"{self._location()}{printable(payload.decode(errors='replace'))}.",
            hint="Catch it inside solution().",
            **self._case_details(),
        )

    def _raise_early_exit(self, end: BoxExit) -> NoReturn:
        """Raise the failure for a guest that ended during a command."""
        if end.signal is not None and (fault := box_messages.parse_rocm_fault(end.output)):
            tensor = self.describe_address(fault.address)
            raise self._fault_failure(fault, f"{fault.detail}, near {tensor}" if tensor else None)
        verdict, code, message, hint = explain_end(end)
        raise KernelFailure(verdict, code, f"{self._location()}{message}", hint=hint, **self._case_details())

    def _raise_fault(self, body: bytes) -> NoReturn:
        self._box.wait(EXIT_TIMEOUT_S)
        try:
            fault = box_messages.parse_fault(body)
        except InvalidMessage as error:
            self._raise_tampered(str(error))
        raise self._fault_failure(fault, self.describe_address(fault.address))

    def _fault_failure(self, fault: FaultReport, place: str | None) -> KernelFailure:
        return KernelFailure(
            Verdict.RUNTIME_ERROR,
            fault.code,
            f"{self._location()}{fault.describe(place)}",
            hint=box_messages.FAULT_HINTS[fault.kind],
            fault=fault.fields(),
            **self._case_details(),
        )

    def _raise_tampered(self, what: str) -> NoReturn:
        raise KernelFailure(
            Verdict.RUNTIME_ERROR,
            "CHANNEL_TAMPERED",
            f"{self._location()}the judge's channel to the program carried {what}.",
            hint="Submitted code must not use file descriptors that it did not open.",
            **self._case_details(),
        )

    def _location(self) -> str:
        return f"Case `{self.case_name}`: " if self.case_name else "While the program was loaded: "

    def _case_details(self) -> dict[str, Any]:
        return {"case": self.case_name} if self.case_name else {}


def machine_load() -> float | None:
    """Return how many other processes are ready to run per CPU, at most 1.

    Call it while the guest is stopped.
    """
    try:
        ready = int(Path("/proc/loadavg").read_text(encoding="ascii").split()[3].partition("/")[0])
    except (OSError, IndexError, ValueError):
        return None
    return min(1.0, max(0, ready - 1) / (os.cpu_count() or 1))


def _judge_waited_ms() -> float:
    """Return how long this thread has waited for a CPU so far; 0 if the kernel does not report it."""
    try:
        return int(Path("/proc/thread-self/schedstat").read_text(encoding="ascii").split()[1]) / 1e6
    except (OSError, IndexError, ValueError):
        return 0.0


def explain_end(end: BoxExit) -> tuple[Verdict, str, str, str]:
    """Return the verdict, code, message and hint for a program that ended before it answered."""
    if end.reason is ExitReason.MEMORY:
        return (
            Verdict.MEMORY_LIMIT_EXCEEDED,
            "MEMORY_LIMIT",
            "memory limit exceeded.",
            "Allocate less; AMD_CONTAINER_MEMORY_LIMIT sets the limit.",
        )
    if end.reason is ExitReason.TIMED_OUT:
        return (
            Verdict.TIME_LIMIT_EXCEEDED,
            "TIME_LIMIT",
            "the time limit of the whole run was exceeded.",
            "WARMFRONT_RUN_TIMEOUT sets the limit.",
        )
    if end.reason is ExitReason.OUTPUT:
        return (
            Verdict.RUNTIME_ERROR,
            "OUTPUT_LIMIT",
            "output limit exceeded.",
            "Print less; WARMFRONT_OUTPUT_LIMIT sets the limit.",
        )
    if end.signal is not None:
        name = (
            signal.Signals(end.signal).name if end.signal in set(signal.Signals) else f"signal {end.signal}"
        )
        return (
            Verdict.RUNTIME_ERROR,
            "CRASHED",
            f"the program was killed by {name}.",
            "The end of its output may show where.",
        )
    return (
        Verdict.RUNTIME_ERROR,
        "EXITED_EARLY",
        f"the program exited with code {end.code}.",
        "solution() must return; it must not end the process.",
    )


def _raise_load_error(text: str) -> NoReturn:
    """Raise the failure for a library that could not be loaded: usually a link error."""
    if text.startswith("reserved name: "):
        name = text.removeprefix("reserved name: ")
        code = "MAIN_DEFINED" if name == "main" else "RESERVED_NAME"
        raise KernelFailure(
            Verdict.COMPILE_ERROR,
            code,
            f"`{name}` is defined, but the name is reserved for the program that calls solution().",
            hint="Remove main(): solution() is called for you." if name == "main" else "Rename it.",
        )
    if "undefined symbol: " in text:
        name = text.split("undefined symbol: ")[1].split(" (", maxsplit=1)[0]
        raise KernelFailure(
            Verdict.COMPILE_ERROR,
            "UNDEFINED_NAME",
            f"`{name}` is used but not defined.",
            hint="Define it in this file: nothing else is linked.",
        )
    if "static TLS" in text:
        raise KernelFailure(
            Verdict.COMPILE_ERROR,
            "TOO_MUCH_SHARED_MEMORY",
            "The kernels together declare more shared memory than the CPU runtime can provide.",
            hint="Make the __shared__ arrays smaller.",
        )
    raise KernelFailure(
        Verdict.RUNTIME_ERROR, "NOT_LOADED", f"The compiled program could not be loaded: {text}."
    )
