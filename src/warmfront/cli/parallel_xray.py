"""X-ray a source while the judge compiles and checks it, and merge the events of both.

The X-ray never decides the verdict. If the two compilers disagree, the verdict mentions it.
"""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING

from warmfront import gpus
from warmfront.events import Accepted, Benchmarked, Checked, Event, Failed, Xray
from warmfront.hip.xray.analysis import xray_event
from warmfront.verdicts import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from concurrent.futures import Future

    from warmfront.judge_request import JudgeRequest
    from warmfront.sandbox.base import Sandbox
    from warmfront.settings import Settings


def with_xray(
    events: Iterable[Event], request: JudgeRequest, sandbox: Sandbox, configured: Settings
) -> Iterator[Event]:
    """Yield the XRAY event, then the judge's events, with the X-ray's result added to the verdict."""
    with ThreadPoolExecutor(1, thread_name_prefix="warmfront-xray") as pool:
        pending = pool.submit(_xray, request, sandbox, configured)
        stream = iter(events)
        buffered = [next(stream), *_events_until_done(stream, pending)]
        xray = pending.result()
        yield xray
        for event in itertools.chain(buffered, stream):
            yield _with_target(event, xray)


def _events_until_done(stream: Iterator[Event], pending: Future[Xray]) -> Iterator[Event]:
    """Yield events until the X-ray is done, or until timing begins, which must not share the CPU."""
    for event in stream:
        yield event
        if pending.done() or isinstance(event, Checked | Failed):
            return


def _xray(request: JudgeRequest, sandbox: Sandbox, configured: Settings) -> Xray:
    return xray_event(
        request.source,
        file_name=request.file_name,
        gpu=gpus.get(configured.judge_gpu),
        # A scratch kernel has no reference, and so no roofline.
        problem=request.problem if request.problem.checks_outputs else None,
        dtype=request.dtype,
        sandbox=sandbox,
        settings=configured,
    )


def _with_target(event: Event, xray: Xray) -> Event:
    """Add a note to a verdict if only one of the two compilers accepted the source."""
    if isinstance(event, Checked | Benchmarked | Accepted) and xray.compiles is False:
        return replace(event, target=f"It does not compile for {xray.arch}: {xray.message}")
    if isinstance(event, Failed) and event.verdict is Verdict.COMPILE_ERROR and xray.compiles:
        return replace(event, details={**event.details, "target": f"It does compile for {xray.arch}."})
    return event
