"""The judge's side of the channel to the guest in the run box.

Every command carries a fresh nonce, and only an answer with that nonce is accepted. Answers are claims. This
module turns an early end of the guest into a verdict; it does not check outputs or times.
"""

from __future__ import annotations

import json
import secrets
import signal
import struct
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from warmfront.judge.kernel_failure import KernelFailure
from warmfront.sandbox.base import ExitReason
from warmfront.verdicts import Verdict

if TYPE_CHECKING:
    from warmfront.judge.buffer_layout import BufferLayout
    from warmfront.sandbox.base import Box, BoxExit

#: These values are defined in guest.cpp as well.
_LOAD, _PLAN, _RUN, _QUIT = 1, 2, 3, 4
_OK, _FAULT, _ERROR = 1, 2, 3
_HEADER = struct.Struct("<IIQ")
_RUN_HEADER = struct.Struct("<IIQ")
_RUN_ANSWER = struct.Struct("<QIi64s")
_UNKNOWN_LAUNCHES = 2**64 - 1

#: Upper limit for the size of an answer, so that a forged header cannot make the judge read without end.
_MAX_ANSWER_BYTES = 1 << 20

#: How long the guest may take to exit after its last answer or after it closed the channel.
EXIT_TIMEOUT_S = 2.0

#: How much of the program's output is shown to its author.
MAX_SHOWN_OUTPUT_BYTES = 64 * 1024


@dataclass(frozen=True, kw_only=True)
class RunReport:
    """What the guest claims about a RUN command, and the time by the judge's own clock."""

    times_ms: tuple[float, ...]  #: time of each call by HIP events, as claimed by the guest
    outer_ms: float  #: time of the whole command by the judge's clock
    launches: int | None  #: None if the toolchain cannot count them
    left_threads: int  #: threads that still ran after the last call returned
    error: str  #: the last HIP error, or empty


class GuestProcess:
    """The guest in one box. Every method raises `KernelFailure` if the guest ends unexpectedly."""

    def __init__(self, box: Box, *, case_timeout_s: float) -> None:
        self._box = box
        self.case_timeout_s = case_timeout_s  #: time limit of one command
        self.case_name: str | None = None  #: name of the running case, for messages
        self._layout: BufferLayout | None = None
        self._addresses: tuple[int, ...] = ()

    def load(self) -> None:
        """Load solution.so. The static constructors of submitted code run now."""
        kind, payload = self._command(_LOAD, b"", timeout_s=self.case_timeout_s)
        if kind == _ERROR:
            _raise_load_error(payload.decode(errors="replace"))

    def plan(self, layout: BufferLayout) -> None:
        """Allocate the buffers of a case."""
        self._layout = None
        kind, payload = self._command(_PLAN, layout.plan())
        if kind == _ERROR:
            raise KernelFailure(
                Verdict.MEMORY_LIMIT_EXCEEDED,
                "BUFFERS_DO_NOT_FIT",
                payload.decode(errors="replace"),
                hint="A global constructor may have allocated the memory: allocate inside solution().",
            )
        self._layout = layout
        self._addresses = struct.unpack_from(f"<{len(payload) // 8}Q", payload)

    def run(self, *, calls: int = 1, protect: bool = False, flush_bytes: int = 0) -> RunReport:
        """Call `solution` on the planned buffers, `calls` times in a row.

        Args:
            calls: number of calls; they cycle through the slots of the layout.
            protect: make device memory inaccessible to host code (CPU runtime only).
            flush_bytes: bytes to write before each call, to flush the caches.
        """
        start = time.perf_counter()
        command = _RUN_HEADER.pack(calls, protect, flush_bytes)
        kind, payload = self._command(_RUN, command, timeout_s=self.case_timeout_s)
        outer_ms = (time.perf_counter() - start) * 1e3
        if kind == _ERROR:
            text = payload.decode(errors="replace")
            raise KernelFailure(
                Verdict.RUNTIME_ERROR,
                "EXCEPTION",
                f"{self._location()}{text}.",
                hint="Catch it inside solution().",
            )
        if len(payload) != _RUN_ANSWER.size + 8 * calls:
            self._raise_tampered("an answer of the wrong size")
        launches, threads, error, name = _RUN_ANSWER.unpack_from(payload)
        return RunReport(
            times_ms=struct.unpack_from(f"<{calls}d", payload, _RUN_ANSWER.size),
            outer_ms=outer_ms,
            launches=None if launches == _UNKNOWN_LAUNCHES else launches,
            left_threads=threads,
            error=name.split(b"\0")[0].decode(errors="replace") if error else "",
        )

    def describe_address(self, address: object) -> str | None:
        """Describe an address as an element of a planned tensor; None if no tensor is near."""
        if self._layout is None or not isinstance(address, int) or not address:
            return None
        return self._layout.describe_address(address, self._addresses)

    def quit(self) -> str:
        """End the guest and return what the program printed."""
        self._command(_QUIT, b"")
        return printable_output(self._box.wait(EXIT_TIMEOUT_S).output)

    def _command(self, op: int, payload: bytes, timeout_s: float | None = None) -> tuple[int, bytes]:
        nonce = secrets.randbits(64)
        self._box.send(_HEADER.pack(op, len(payload), nonce) + payload)
        kind, size, echoed_nonce = _HEADER.unpack(self._receive(_HEADER.size, timeout_s))
        if echoed_nonce != nonce or kind not in {_OK, _FAULT, _ERROR} or size > _MAX_ANSWER_BYTES:
            self._raise_tampered("an answer that matches no command")
        body = self._receive(size, timeout_s)
        if kind == _FAULT:
            self._raise_fault(body)
        return kind, body

    def _receive(self, size: int, timeout_s: float | None) -> bytes:
        if size == 0:
            return b""
        try:
            data = self._box.receive(size, timeout_s)
        except TimeoutError:
            raise self._time_limit_failure(timeout_s or 0.0) from None
        if len(data) < size:
            # The guest ended, or it closed the channel: then `wait` ends it.
            self._raise_early_exit(self._box.wait(EXIT_TIMEOUT_S))
        return data

    def _time_limit_failure(self, limit_s: float) -> KernelFailure:
        return KernelFailure(
            Verdict.TIME_LIMIT_EXCEEDED,
            "TIME_LIMIT",
            f"{self._location()}no result after {limit_s:g} s.",
            hint="Look for an infinite loop, in the kernel and on the host. "
            "WARMFRONT_CASE_TIMEOUT sets the limit.",
            **self._case_details(),
        )

    def _raise_early_exit(self, end: BoxExit) -> NoReturn:
        """Raise the failure for a guest that ended during a command."""
        verdict, code, message, hint = explain_end(end)
        raise KernelFailure(
            verdict,
            code,
            f"{self._location()}{message}",
            hint=hint,
            output=printable_output(end.output),
            **self._case_details(),
        )

    def _raise_fault(self, body: bytes) -> NoReturn:
        end = self._box.wait(EXIT_TIMEOUT_S)
        try:
            fault = json.loads(body)
            kind = str(fault["fault"])
        except (ValueError, KeyError, TypeError, RecursionError):
            self._raise_tampered("a fault report that cannot be parsed")
        message = f"{self._location()}{describe_fault(fault, self.describe_address(fault.get('address')))}"
        raise KernelFailure(
            Verdict.RUNTIME_ERROR,
            kind.upper().replace("-", "_"),
            message,
            hint=FAULT_HINTS.get(kind, ""),
            fault=fault,
            output=printable_output(end.output),
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


FAULT_HINTS = {
    "memory-fault": "Compare the index with the size before the access. The last block is the usual suspect.",
    "misaligned-access": "A float4 needs an address that is a multiple of 16.",
    "stack-overflow": "Make private arrays smaller, or end the recursion.",
    "division-by-zero": "Check the divisor before the division.",
    "host-access-to-device-memory": "Host code cannot access device memory: use hipMemcpy or a kernel.",
}


def describe_fault(fault: dict[str, Any], tensor: str | None = None) -> str:
    """Describe a fault of the CPU runtime in one sentence; `tensor` names the element, if known."""
    place = ""
    if fault.get("kernel"):
        block, thread = (", ".join(map(str, fault.get(k, "?"))) for k in ("block", "thread"))
        place = f" in kernel `{fault['kernel']}`, block ({block}), thread ({thread})"
    detail = f": {tensor or fault['detail']}" if tensor or fault.get("detail") else ""
    return f"{str(fault['fault']).replace('-', ' ')}{place}{detail}."


def explain_end(end: BoxExit) -> tuple[Verdict, str, str, str]:
    """Return verdict, code, message and hint for a program that ended before it answered."""
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


def printable_output(output: bytes) -> str:
    """Decode what a program printed, truncated to `MAX_SHOWN_OUTPUT_BYTES`."""
    text = output[:MAX_SHOWN_OUTPUT_BYTES].decode(errors="replace")
    return f"{text}\n… ({len(output):,} bytes in total)" if len(output) > MAX_SHOWN_OUTPUT_BYTES else text


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
