"""The X-ray that goes with every run: what the real target makes of it, while the CPU build is under way.

It never decides a verdict. Where the two compilers disagree, the verdict says so.
"""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING

from warmfront.errors import WarmfrontError
from warmfront.events import Accepted, Benchmarked, Checked, Event, Failed, Xray
from warmfront.hip.trailer import SOURCE_NAME
from warmfront.submissions import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from concurrent.futures import Future

    from warmfront.sandbox.base import Sandbox
    from warmfront.settings import Settings
    from warmfront.submissions import Submission

ARCH = "gfx942"


def admitted(
    events: Iterable[Event], submission: Submission, sandbox: Sandbox, configured: Settings
) -> Iterator[Event]:
    """The judge's events, with the X-ray before the first, and in the verdict what the X-ray adds to it."""
    with ThreadPoolExecutor(1, thread_name_prefix="warmfront-xray") as pool:
        stream = iter(events)
        first = next(stream)  # by now the compilers that decide are at work
        looking = pool.submit(examine, submission, sandbox, configured)
        held = [first, *_meanwhile(stream, looking)]
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


def examine(submission: Submission, sandbox: Sandbox, configured: Settings) -> Xray:
    """The X-ray of a submission; a machine that cannot make one says so in the notes."""
    try:
        from warmfront.hip.xray import xray  # noqa: PLC0415 - loaded while the sandbox starts

        report = xray(
            submission.source,
            arch=ARCH,
            problem=submission.problem,
            dtype=submission.dtype,
            sandbox=sandbox,
            settings=configured,
        )
    except WarmfrontError as error:
        return Xray(
            arch=ARCH,
            gpu="",
            compiler="",
            compiles=None,
            kernels=[],
            findings=[],
            notes=[f"{error.message} {error.hint or ''}"],
        )
    data = report.to_dict()
    message = report.failure.message if report.failure else ""
    return Xray(
        arch=report.arch,
        gpu=report.gpu,
        compiler=report.compiler,
        # A header that only this machine's compilers lack says nothing about the target.
        compiles=None if report.failure and report.failure.code == "NO_HEADER" else report.compiles,
        kernels=data["kernels"],
        findings=data["findings"],
        message=message.replace(f"{SOURCE_NAME}:", f"{submission.file_name}:"),
        notes=list(report.notes),
        seconds=data["seconds"],
    )


def _with_target(event: Event, seen: Xray) -> Event:
    """A verdict that the two compilers do not agree on says so."""
    if isinstance(event, Checked | Benchmarked | Accepted) and seen.compiles is False:
        return replace(event, target=f"It does not compile for {seen.arch}: {seen.message}")
    if isinstance(event, Failed) and event.verdict is Verdict.COMPILE_ERROR and seen.compiles:
        return replace(event, details={**event.details, "target": f"It does compile for {seen.arch}."})
    return event
