"""Judge one attempt and exit, on a VM without a resident listener.

Events go to standard output, signed. The attempt is validated like one that arrives by HTTP.
"""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from typing import TYPE_CHECKING, Any

from warmfront.errors import UsageError, WarmfrontError
from warmfront.judge.cancellation import CancellationToken
from warmfront.listener.attempt_events import send_until_verdict
from warmfront.listener.judge_runtime import JudgeRuntime
from warmfront.listener.request_parsing import parse_execute_request
from warmfront.listener.signed_events import KEY_VARIABLE, sign_event
from warmfront.listener.vm_status import UnavailableJudge

if TYPE_CHECKING:
    from pathlib import Path

    from warmfront.settings import Settings


def judge_single_attempt(path: Path, toolchain: str | None, settings: Settings) -> None:
    """Judge the attempt in this file and print its signed events.

    Raises:
        UsageError: the signing key is not set.
    """
    key = os.environ.pop(KEY_VARIABLE, "")
    if not key:
        raise UsageError(f"{KEY_VARIABLE} is not set; it is required to sign events.")
    attempt = parse_execute_request(path.read_bytes())
    cancellation = CancellationToken()
    for number in (signal.SIGTERM, signal.SIGINT):
        # Cancel in a thread: `cancel` waits until boxes are destroyed, and the interrupted code may be making
        # one.
        signal.signal(number, lambda *_: threading.Thread(target=cancellation.cancel, daemon=True).start())

    def send(seq: int, fields: dict[str, Any], is_last: bool) -> None:  # noqa: FBT001 - as `SendEvent`
        print(sign_event(key, attempt.id, seq=seq, fields=fields, is_last=is_last), flush=True)

    with contextlib.closing(_open_judge(toolchain, settings)) as judge:
        events = judge.events(attempt, run_slot=contextlib.nullcontext(), cancellation=cancellation)
        send_until_verdict(events, send, attempt=attempt, cancellation=cancellation)


def _open_judge(toolchain: str | None, settings: Settings) -> JudgeRuntime | UnavailableJudge:
    """Return the judge of this VM, or a replacement that returns the attempt with the reason."""
    try:
        return JudgeRuntime.open(toolchain, settings)
    except WarmfrontError as error:
        return UnavailableJudge(error, toolchain=toolchain or "", gpu=settings.judge_gpu)
