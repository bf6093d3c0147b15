"""The slots of this VM: one process per slot. Attempts without a slot get the least busy one.

A process that ends unexpectedly, such as one killed by the kernel, is restarted. Its attempts are lost, and
the control plane sends them again. A slot whose process ends repeatedly without having judged an attempt is
disabled. A VM without working slots is unhealthy.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import queue
import subprocess
import sys
import threading
from dataclasses import asdict, replace
from typing import IO, TYPE_CHECKING, Any

from warmfront.errors import SlotFailed, VMUnhealthy
from warmfront.events import Event, Failed
from warmfront.hip.toolchain import default_toolchain, open_toolchain
from warmfront.listener.event_fields import encode
from warmfront.listener.judge_runtime import JudgeRuntime
from warmfront.listener.slots import find_devices, plan_slots, slot_environ
from warmfront.listener.vm_status import VMStatus
from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager

    from warmfront.errors import WarmfrontError
    from warmfront.judge.cancellation import CancellationToken
    from warmfront.listener.protocol import ExecuteRequest
    from warmfront.listener.slots import Slot
    from warmfront.settings import Settings

log = logging.getLogger(__name__)

#: How long a slot may take to destroy its boxes and end.
END_S = 20.0
#: How often in a row the process of a slot is restarted without having judged an attempt.
MAX_RESTARTS = 3


@dataclass(frozen=True, kw_only=True)
class RelayedEvent(Event):
    """An event from a slot's process, which has already numbered and cleaned it."""

    content: dict[str, Any]

    def fields(self) -> dict[str, Any]:
        """Return the event as the slot sent it."""
        return self.content


def open_judge(toolchain: str | None, settings: Settings) -> JudgeRuntime | SlotPool:
    """Return the judge of this VM: in this process for one device, otherwise with a process per device.

    Raises:
        WarmfrontError: the toolchain or the sandbox does not work.
    """
    name = toolchain or default_toolchain()
    slots = plan_slots(find_devices(name, settings), settings)
    if len(slots) > 1:
        log.info("this VM has %d slots: %s", len(slots), "; ".join(map(str, slots)))
        open_toolchain(name, settings).build()  # once, for all slots
        return SlotPool.open(slots, name, settings)
    if name == "cpu":
        return JudgeRuntime.open(toolchain, settings)
    [slot] = slots
    own = replace(settings, run_cpu_set=slot.run_cpus, compile_cpu_set=slot.compile_cpus)
    return JudgeRuntime.open(toolchain, own)


class SlotPool:
    """The slots of this VM, with the interface of `JudgeRuntime`."""

    def __init__(self, channels: Sequence[SlotChannel]) -> None:
        self._channels = tuple(channels)
        self._choosing = threading.Lock()

    @classmethod
    def open(cls, slots: Sequence[Slot], toolchain: str | None, settings: Settings) -> SlotPool:
        """Start the processes of all slots in parallel; return when each is ready or has failed."""
        pool = cls([SlotChannel(slot, toolchain, settings) for slot in slots])
        try:
            for channel in pool._channels:
                channel.wait_until_ready()
        except BaseException:
            pool.close()
            raise
        return pool

    @property
    def status(self) -> VMStatus:
        """The status of the VM: its devices, and the number of working slots."""
        statuses = [channel.status for channel in self._channels]
        working = [status for status in statuses if not status.failure]
        failures = [
            f"slot {channel.slot.number}: {channel.failure}" for channel in self._channels if channel.failure
        ]
        is_lost = not working and not any(channel.is_restarting for channel in self._channels)
        return replace(
            working[0] if working else statuses[0],
            failure="; ".join(failures) if is_lost else "",
            devices=tuple(device for status in statuses for device in status.devices),
            slots=len(working),
            failed_slots=tuple(channel.slot.number for channel in self._channels if channel.failure),
        )

    def events(
        self,
        attempt: ExecuteRequest,
        *,
        run_slot: AbstractContextManager[None],
        cancellation: CancellationToken,
    ) -> Iterator[Event]:
        """Judge the attempt in its slot and yield its events; the last one is the verdict.

        An attempt without a slot, or whose slot has just failed, gets the least busy slot.
        """
        del run_slot  # each slot runs one attempt at a time
        with self._choosing:
            channel = min(self._channels, key=lambda channel: _rank(channel, attempt.slot))
            answers = channel.judge(attempt)
        cancellation.on_cancel(lambda: channel.cancel(attempt.id))
        while (event := answers.get()) is not None:
            yield event

    def close(self) -> None:
        """End the processes of all slots; each destroys its boxes."""
        for channel in self._channels:
            channel.close_input()
        for channel in self._channels:
            channel.close()


class SlotChannel:
    """The process of one slot, and the attempts that it judges."""

    def __init__(self, slot: Slot, toolchain: str | None, settings: Settings) -> None:
        self.slot = slot
        options = ["--toolchain", toolchain] if toolchain else []
        self._argv = [sys.executable, "-m", "warmfront.listener", "--slot", *options, *slot.arguments()]
        self._environ = slot_environ(slot, os.environ, settings)
        self._process = self._start()
        self.status = VMStatus(toolchain=toolchain or "", gpu=settings.judge_gpu, simulated=False)
        self.is_restarting = False
        self._restarts = 0  # since an attempt was judged
        self._is_ready = threading.Event()
        self._is_closing = self._has_ended = False
        self._lock = threading.Lock()  # protects the process, its input, and the attempts
        self._attempts: dict[str, queue.SimpleQueue[Event | None]] = {}
        self._reader = threading.Thread(target=self._read, name=f"slot {slot.number}", daemon=True)
        self._reader.start()

    @property
    def failure(self) -> str:
        """Why the slot cannot judge; empty if it can."""
        return self.status.failure

    @property
    def load(self) -> int:
        """The number of attempts in the slot."""
        return len(self._attempts)

    def wait_until_ready(self) -> None:
        """Wait until the process has reported its status, or has ended."""
        self._is_ready.wait()

    def judge(self, attempt: ExecuteRequest) -> queue.SimpleQueue[Event | None]:
        """Start an attempt; return the queue of its events, which ends with None."""
        answers: queue.SimpleQueue[Event | None] = queue.SimpleQueue()
        with self._lock:
            if not self._has_ended:
                self._attempts[attempt.id] = answers
                self._send({"judge": asdict(attempt)})
                return answers
        _end(answers, VMUnhealthy(self._describe_failure()))
        return answers

    def cancel(self, attempt_id: str) -> None:
        """Cancel an attempt; its queue ends when its boxes are destroyed."""
        with self._lock:
            self._send({"cancel": attempt_id})

    def close_input(self) -> None:
        """Close the input of the process, which makes it end."""
        with self._lock, contextlib.suppress(OSError):
            self._is_closing = True
            _pipe(self._process.stdin).close()

    def close(self) -> None:
        """End the process; kill it if it does not end by itself."""
        self.close_input()
        try:
            self._process.wait(END_S)
        except subprocess.TimeoutExpired:
            log.warning("the process of slot %d did not end; killing it", self.slot.number)
            self._process.kill()
            self._process.wait()
        self._reader.join(END_S)

    def _start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            self._argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=self._environ,
            start_new_session=True,
        )

    def _send(self, command: dict[str, Any]) -> None:
        with contextlib.suppress(OSError, ValueError):  # it has ended: see `_read`
            _pipe(self._process.stdin).write(encode(command) + b"\n")
            _pipe(self._process.stdin).flush()

    def _read(self) -> None:
        """Handle the answers of the process and of the processes that replace it."""
        while True:
            has_reported = self._handle_answers()
            code = self._process.wait()
            reported = self.failure if has_reported else ""
            # The first process ends before it reports if slots cannot work here at all.
            can_restart = (
                not reported and (has_reported or self._restarts > 0) and self._restarts < MAX_RESTARTS
            )
            reason = reported or f"its process ended with code {code}"
            self.status = replace(self.status, failure=reason)
            if not (can_restart and self._restart(reason)):
                break
        with self._lock:
            self._has_ended, self.is_restarting = True, False
            attempts, self._attempts = self._attempts, {}
            if not self._is_closing:
                log.error("slot %d failed: %s; it is disabled", self.slot.number, self.failure)
        for answers in attempts.values():
            _end(answers, VMUnhealthy(self._describe_failure()))
        self._is_ready.set()

    def _handle_answers(self) -> bool:
        """Handle the answers of one process until it ends; return whether it has reported its status."""
        has_reported = False
        for line in _pipe(self._process.stdout):
            self._handle(json.loads(line))
            has_reported = True
        return has_reported

    def _handle(self, answer: dict[str, Any]) -> None:
        if "status" in answer:
            devices = tuple(answer["status"].get("devices", ()))
            self.status = VMStatus(**{**answer["status"], "devices": devices})
            self.is_restarting = False
            self._is_ready.set()
        if "attempt" not in answer:
            return
        answers = self._attempts.get(answer["attempt"])
        if answers is not None and "event" in answer:
            answers.put(RelayedEvent(content=answer["event"]))
        elif answers is not None:
            self._restarts = 0
            with self._lock:
                self._attempts.pop(answer["attempt"], None)
            answers.put(None)

    def _restart(self, reason: str) -> bool:
        """Restart the process, and end its attempts; return False if the listener is closing."""
        with self._lock:
            if self._is_closing:
                return False
            self._restarts += 1
            self.is_restarting = True
            attempts, self._attempts = self._attempts, {}
            for pipe in (self._process.stdin, self._process.stdout):
                with contextlib.suppress(OSError):
                    _pipe(pipe).close()
            self._process = self._start()
        log.warning(
            "slot %d failed: %s; restarting it (%d of %d)",
            *(self.slot.number, reason, self._restarts, MAX_RESTARTS),
        )
        for answers in attempts.values():
            _end(answers, SlotFailed(self._describe_failure()))
        return True

    def _describe_failure(self) -> str:
        return f"Slot {self.slot.number} of the VM failed: {self.failure}."


def _rank(channel: SlotChannel, wanted: int | None) -> tuple[bool, bool, int, int]:
    """Return the sort key for choosing a slot: working first, then requested, then least busy.

    The control plane's choice has priority: it receives a verdict before the slot reports the attempt's end.
    """
    return bool(channel.failure), channel.slot.number != wanted, channel.load, channel.slot.number


def _end(answers: queue.SimpleQueue[Event | None], error: WarmfrontError) -> None:
    """End an attempt with the error as its verdict."""
    answers.put(Failed.of(error))
    answers.put(None)


def _pipe(stream: IO[bytes] | None) -> IO[bytes]:
    assert stream is not None  # noqa: S101 - for mypy: the process was started with pipes
    return stream
