"""The process that judges in one slot of a VM with several GPUs.

Each slot has its own process: eight judges in one interpreter would wait for the global interpreter lock
while they measure times. The listener sends one JSON object per line on standard input, a `judge` or a
`cancel` command. This process answers on standard output: first its `status`, then for each attempt its
events and its `ended`. It exits when its input ends.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import sys
import threading
from dataclasses import asdict
from typing import IO, TYPE_CHECKING, Any

from warmfront.judge.cancellation import CancellationToken
from warmfront.listener.attempt_events import send_until_verdict
from warmfront.listener.attempt_pipeline import AttemptPipeline
from warmfront.listener.event_fields import encode
from warmfront.listener.judge_runtime import JudgeRuntime
from warmfront.listener.protocol import ExecuteRequest
from warmfront.logs import log_to_streams

if TYPE_CHECKING:
    from collections.abc import Iterator

    from warmfront.events import Event
    from warmfront.hip.device_facts import DeviceFacts
    from warmfront.settings import Settings

log = logging.getLogger(__name__)


class SlotProcess:
    """The attempts of one slot: one compiles while another runs."""

    def __init__(self, runtime: JudgeRuntime, commands: IO[bytes], answers: IO[bytes]) -> None:
        self._runtime = runtime
        self._commands = commands
        self._answers = answers
        self._writing = threading.Lock()
        self._pipeline = AttemptPipeline()
        self._attempts: dict[str, tuple[CancellationToken, threading.Thread]] = {}

    def serve(self) -> None:
        """Execute commands until the input ends; then cancel the attempts that are still running."""
        self._answer({"status": asdict(self._runtime.status)})
        for line in self._commands:
            command = json.loads(line)
            if "judge" in command:
                self._start(ExecuteRequest(**command["judge"]))
            elif command["cancel"] in self._attempts:
                token, _ = self._attempts[command["cancel"]]
                threading.Thread(target=token.cancel, daemon=True).start()
        running = list(self._attempts.values())
        for token, _ in running:
            token.cancel()
        for _, thread in running:
            thread.join()

    def _start(self, attempt: ExecuteRequest) -> None:
        token = CancellationToken()
        thread = threading.Thread(target=self._judge, args=(attempt, token), name=f"attempt {attempt.id}")
        self._attempts[attempt.id] = token, thread
        thread.start()

    def _judge(self, attempt: ExecuteRequest, token: CancellationToken) -> None:
        def send(_seq: int, fields: dict[str, Any], _is_last: bool) -> None:  # noqa: FBT001 - as `SendEvent`
            self._answer({"attempt": attempt.id, "event": fields})

        try:
            send_until_verdict(self._events(attempt, token), send, attempt=attempt, cancellation=token)
        finally:
            self._attempts.pop(attempt.id, None)
            self._answer({"attempt": attempt.id, "ended": True, "status": asdict(self._runtime.status)})

    def _events(self, attempt: ExecuteRequest, token: CancellationToken) -> Iterator[Event]:
        with self._pipeline.enter(token) as run_slot:
            yield from self._runtime.events(attempt, run_slot=run_slot, cancellation=token)

    def _answer(self, fields: dict[str, Any]) -> None:
        with self._writing:
            try:
                self._answers.write(encode(fields) + b"\n")
                self._answers.flush()
            except OSError:  # the listener has ended, so the input will end too
                log.warning("the listener no longer reads the answers of this slot")


def serve_slot(toolchain: str | None, settings: Settings, device: DeviceFacts | None) -> None:
    """Judge the attempts that the listener sends, until it closes the channel.

    Raises:
        WarmfrontError: the toolchain or the sandbox does not work.
    """
    # Ignore signals, which are also sent to the listener's process group: only the end of the input ends this
    # process.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    log_to_streams()
    if settings.run_cpu_set:
        # The judge computes only while its kernel is not running, so it can share the CPUs of its boxes.
        os.sched_setaffinity(0, settings.run_cpu_set)
    # Nothing but answers may be written to the channel.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    runtime = JudgeRuntime.open(toolchain, settings, device=device)
    try:
        SlotProcess(runtime, sys.stdin.buffer, answers).serve()
    finally:
        runtime.close()
