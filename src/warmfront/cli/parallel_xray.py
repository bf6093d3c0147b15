"""The X-ray that goes with every run: what the real target makes of it, while the CPU build is under way.

It never decides a verdict. Where the two compilers disagree, the verdict says so.
"""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING

from warmfront import gpus
from warmfront.events import Accepted, Benchmarked, Checked, Event, Failed, Xray
from warmfront.hip.xray.event import xray_event
from warmfront.verdicts import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from concurrent.futures import Future

    from warmfront.judge_request import JudgeRequest
    from warmfront.sandbox.base import Sandbox
    from warmfront.settings import Settings


def admitted(
    events: Iterable[Event], submission: JudgeRequest, sandbox: Sandbox, configured: Settings
) -> Iterator[Event]:
    """The judge's events, with the X-ray before the first, and in the verdict what the X-ray adds to it."""
    with ThreadPoolExecutor(1, thread_name_prefix="warmfront-xray") as pool:
        looking = pool.submit(_examine, submission, sandbox, configured)
        stream = iter(events)
        held = [next(stream), *_meanwhile(stream, looking)]
        seen = looking.result()
        yield seen
        for event in itertools.chain(held, stream):
            yield _with_target(event, seen)


def _meanwhile(stream: Iterator[Event], looking: Future[Xray]) -> Iterator[Event]:
    """What the judge finds out while the X-ray is made; not the timing, which wants the machine to itself."""
    for event in stream:
        yield event
        if looking.done() or isinstance(event, Checked | Failed):
            return


def _examine(submission: JudgeRequest, sandbox: Sandbox, configured: Settings) -> Xray:
    return xray_event(
        submission.source,
        file_name=submission.file_name,
        gpu=gpus.get(configured.default_gpu),
        problem=submission.problem,
        dtype=submission.dtype,
        sandbox=sandbox,
        settings=configured,
    )


def _with_target(event: Event, seen: Xray) -> Event:
    """A verdict that the two compilers do not agree on says so."""
    if isinstance(event, Checked | Benchmarked | Accepted) and seen.compiles is False:
        return replace(event, target=f"It does not compile for {seen.arch}: {seen.message}")
    if isinstance(event, Failed) and event.verdict is Verdict.COMPILE_ERROR and seen.compiles:
        return replace(event, details={**event.details, "target": f"It does compile for {seen.arch}."})
    return event
