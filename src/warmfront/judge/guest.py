"""The judge's side of the private channel to the worker in the run sandbox.

Every command carries a fresh nonce, and only the answer with that nonce counts. What the worker answers
is a claim: this room turns an early end into a verdict, but judges no output and believes no time.
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

#: As in worker.cpp.
_LOAD, _PLAN, _RUN, _QUIT = 1, 2, 3, 4
_OK, _FAULT, _ERROR = 1, 2, 3
_HEADER = struct.Struct("<IIQ")
_RUN_HEADER = struct.Struct("<IIQ")
_RUN_ANSWER = struct.Struct("<QIi64s")
_UNKNOWN_LAUNCHES = 2**64 - 1

#: No honest answer is larger; a forged one must not make us read for ever.
_MAX_ANSWER_BYTES = 1 << 20

#: How long a program may take to end once it has nothing more to say.
ENDING_S = 2.0

#: What of the program's output is shown to its author.
SHOWN_OUTPUT_BYTES = 64 * 1024


@dataclass(frozen=True, kw_only=True)
class RunReport:
    """What the worker claims of a RUN, and what our own clock says."""

    times_ms: tuple[float, ...]  #: of each call, by HIP's events
    outer_ms: float  #: of the whole command, by our clock
    launches: int | None  #: None where the toolchain cannot tell
    left_threads: int  #: still there after the last call returned
    error: str  #: HIP's last error, or empty


class GuestProcess:
    """One worker in one box. Any end that was not asked for raises `KernelFailure`."""

    def __init__(self, box: Box, *, case_timeout_s: float) -> None:
        self._box = box
        self.case_timeout_s = case_timeout_s  #: how long one question may take
        self.case_name: str | None = None  #: which case is running, for messages
        self._layout: BufferLayout | None = None
        self._addresses: tuple[int, ...] = ()

    def load(self) -> None:
        """Have the worker load solution.so; the program's static constructors run now."""
        kind, payload = self._ask(_LOAD, b"", timeout_s=self.case_timeout_s)
        if kind == _ERROR:
            _explain_load_error(payload.decode(errors="replace"))

    def plan(self, layout: BufferLayout) -> None:
        """Have the worker allocate a case's buffers."""
        self._layout = None
        kind, payload = self._ask(_PLAN, layout.plan())
        if kind == _ERROR:
            raise KernelFailure(
                Verdict.MEMORY_LIMIT_EXCEEDED,
                "BUFFERS_DO_NOT_FIT",
                payload.decode(errors="replace"),
                hint="A global constructor may have taken the memory: allocate inside solution().",
            )
        self._layout = layout
        self._addresses = struct.unpack_from(f"<{len(payload) // 8}Q", payload)

    def run(self, *, calls: int = 1, protect: bool = False, flush_bytes: int = 0) -> RunReport:
        """Call `solution` on the planned buffers, `calls` times in a row."""
        start = time.perf_counter()
        command = _RUN_HEADER.pack(calls, protect, flush_bytes)
        kind, payload = self._ask(_RUN, command, timeout_s=self.case_timeout_s)
        outer_ms = (time.perf_counter() - start) * 1e3
        if kind == _ERROR:
            text = payload.decode(errors="replace")
            raise KernelFailure(
                Verdict.RUNTIME_ERROR,
                "EXCEPTION",
                f"{self._where()}{text}.",
                hint="Catch it inside solution().",
            )
        if len(payload) != _RUN_ANSWER.size + 8 * calls:
            self._tampered("an answer of the wrong size")
        launches, threads, error, name = _RUN_ANSWER.unpack_from(payload)
        return RunReport(
            times_ms=struct.unpack_from(f"<{calls}d", payload, _RUN_ANSWER.size),
            outer_ms=outer_ms,
            launches=None if launches == _UNKNOWN_LAUNCHES else launches,
            left_threads=threads,
            error=name.split(b"\0")[0].decode(errors="replace") if error else "",
        )

    def whereabouts(self, address: object) -> str | None:
        """Which element of which of the planned tensors an address would be, in words."""
        if self._layout is None or not isinstance(address, int) or not address:
            return None
        return self._layout.whereabouts(address, self._addresses)

    def quit(self) -> str:
        """End the worker in good order; what the program printed."""
        self._ask(_QUIT, b"")
        return shown(self._box.wait(ENDING_S).output)

    def _ask(self, op: int, payload: bytes, timeout_s: float | None = None) -> tuple[int, bytes]:
        nonce = secrets.randbits(64)
        self._box.send(_HEADER.pack(op, len(payload), nonce) + payload)
        kind, size, answered = _HEADER.unpack(self._receive(_HEADER.size, timeout_s))
        if answered != nonce or kind not in {_OK, _FAULT, _ERROR} or size > _MAX_ANSWER_BYTES:
            self._tampered("an answer that nobody asked for")
        body = self._receive(size, timeout_s)
        if kind == _FAULT:
            self._fault(body)
        return kind, body

    def _receive(self, size: int, timeout_s: float | None) -> bytes:
        if size == 0:
            return b""
        try:
            data = self._box.receive(size, timeout_s)
        except TimeoutError:
            raise self._too_slow(timeout_s or 0.0) from None
        if len(data) < size:
            # It ended; or it closed the channel and goes on, which does it no good.
            self._ended(self._box.wait(ENDING_S))
        return data

    def _too_slow(self, limit_s: float) -> KernelFailure:
        return KernelFailure(
            Verdict.TIME_LIMIT_EXCEEDED,
            "TIME_LIMIT",
            f"{self._where()}no answer after {limit_s:g} s.",
            hint="Look for a loop that never ends, in the kernel and on the host; "
            "WARMFRONT_CASE_TIMEOUT sets the limit.",
            **self._case(),
        )

    def _ended(self, end: BoxExit) -> NoReturn:
        """The program ended in the middle of a command: say why, as well as the sandbox can tell."""
        verdict, code, message, hint = explain_end(end)
        raise KernelFailure(
            verdict, code, f"{self._where()}{message}", hint=hint, output=shown(end.output), **self._case()
        )

    def _fault(self, body: bytes) -> NoReturn:
        end = self._box.wait(ENDING_S)
        try:
            fault = json.loads(body)
            kind = str(fault["fault"])
        except (ValueError, KeyError, TypeError, RecursionError):
            self._tampered("a fault that cannot be read")
        message = f"{self._where()}{describe_fault(fault, self.whereabouts(fault.get('address')))}"
        raise KernelFailure(
            Verdict.RUNTIME_ERROR,
            kind.upper().replace("-", "_"),
            message,
            hint=FAULT_HINTS.get(kind, ""),
            fault=fault,
            output=shown(end.output),
            **self._case(),
        )

    def _tampered(self, what: str) -> NoReturn:
        raise KernelFailure(
            Verdict.RUNTIME_ERROR,
            "CHANNEL_TAMPERED",
            f"{self._where()}the judge's private channel carried {what}.",
            hint="Submitted code must leave file descriptors that it did not open alone.",
            **self._case(),
        )

    def _where(self) -> str:
        return f"Case `{self.case_name}`: " if self.case_name else "While it was loaded: "

    def _case(self) -> dict[str, Any]:
        return {"case": self.case_name} if self.case_name else {}


FAULT_HINTS = {
    "memory-fault": "Compare the index with the size before the access; the last block is the usual place.",
    "misaligned-access": "A float4 needs an address that is a multiple of 16.",
    "stack-overflow": "Make private arrays smaller, or end the recursion.",
    "division-by-zero": "Guard the divisor.",
    "host-access-to-device-memory": "Device memory is for kernels: use hipMemcpy, or a kernel.",
}


def describe_fault(fault: dict[str, Any], tensor: str | None = None) -> str:
    """A fault of the CPU runtime in one sentence, about `tensor` where that is known."""
    place = ""
    if fault.get("kernel"):
        block, thread = (", ".join(map(str, fault.get(k, "?"))) for k in ("block", "thread"))
        place = f" in kernel `{fault['kernel']}`, block ({block}), thread ({thread})"
    detail = f": {tensor or fault['detail']}" if tensor or fault.get("detail") else ""
    return f"{str(fault['fault']).replace('-', ' ')}{place}{detail}."


def explain_end(end: BoxExit) -> tuple[Verdict, str, str, str]:
    """Verdict, code, message and hint for a program that ended before it answered."""
    if end.reason is ExitReason.MEMORY:
        return (
            Verdict.MEMORY_LIMIT_EXCEEDED,
            "MEMORY_LIMIT",
            "it asked for more memory than it may have.",
            ("Allocate less; AMD_CONTAINER_MEMORY_LIMIT sets the limit."),
        )
    if end.reason is ExitReason.TIMED_OUT:
        return (
            Verdict.TIME_LIMIT_EXCEEDED,
            "TIME_LIMIT",
            "the whole run took too long.",
            ("WARMFRONT_RUN_TIMEOUT sets the limit."),
        )
    if end.reason is ExitReason.OUTPUT:
        return (
            Verdict.RUNTIME_ERROR,
            "OUTPUT_LIMIT",
            "it printed more than it may.",
            ("Print less; WARMFRONT_OUTPUT_LIMIT sets the limit."),
        )
    if end.signal is not None:
        name = (
            signal.Signals(end.signal).name if end.signal in set(signal.Signals) else f"signal {end.signal}"
        )
        return (
            Verdict.RUNTIME_ERROR,
            "CRASHED",
            f"the program was ended by {name}.",
            ("What it printed last may say where."),
        )
    return (
        Verdict.RUNTIME_ERROR,
        "EXITED_EARLY",
        f"the program ended itself with exit code {end.code}.",
        ("solution() must return; it must not end the process."),
    )


def shown(output: bytes) -> str:
    """What a program printed, as text of a bearable length."""
    text = output[:SHOWN_OUTPUT_BYTES].decode(errors="replace")
    return f"{text}\n… ({len(output):,} bytes in all)" if len(output) > SHOWN_OUTPUT_BYTES else text


def _explain_load_error(text: str) -> NoReturn:
    """A library that does not load was not linked right: that is the compiler's business."""
    if text.startswith("reserved name: "):
        name = text.removeprefix("reserved name: ")
        code = "MAIN_DEFINED" if name == "main" else "RESERVED_NAME"
        raise KernelFailure(
            Verdict.COMPILE_ERROR,
            code,
            f"`{name}` is defined, but that name belongs to the program that calls solution().",
            hint="Leave main() out: solution() is called for you." if name == "main" else "Rename it.",
        )
    if "undefined symbol: " in text:
        name = text.split("undefined symbol: ")[1].split(" (", maxsplit=1)[0]
        raise KernelFailure(
            Verdict.COMPILE_ERROR,
            "UNDEFINED_NAME",
            f"`{name}` is used but nowhere defined.",
            hint="Define it in this file: nothing else is linked.",
        )
    if "static TLS" in text:
        raise KernelFailure(
            Verdict.COMPILE_ERROR,
            "TOO_MUCH_SHARED_MEMORY",
            "All kernels together declare more shared memory than the CPU runtime has room for.",
            hint="Make the __shared__ arrays smaller.",
        )
    raise KernelFailure(
        Verdict.RUNTIME_ERROR, "NOT_LOADED", f"The compiled program could not be loaded: {text}."
    )
