"""`warmfront submit` and `warmfront logs`: submit a file to a server and follow its events.

Ctrl-C detaches from a submission; only `warmfront stop` cancels it.
"""

from __future__ import annotations

import asyncio
import re
import sys
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from warmfront.cli.arguments import check_receipt_file, parse_case, parse_endpoint
from warmfront.cli.event_views import JsonView, show_error
from warmfront.cli.formatting import print_json
from warmfront.cli.local_receipts import save_receipt
from warmfront.cli.server_access import find_submission
from warmfront.cli.terminal_view import TerminalView
from warmfront.client import AsyncClient
from warmfront.errors import UsageError, WarmfrontError
from warmfront.judge_request import read_source
from warmfront.value_class import dataclass
from warmfront.verdicts import Endpoint, Verdict

if TYPE_CHECKING:
    from pathlib import Path

    from warmfront.cli.event_views import EventView
    from warmfront.client import Event

#: Seconds between two updates of the elapsed time of the current step.
_TICK_S = 0.1
#: The exit code after Ctrl-C, as shells report it for SIGINT, because there is no verdict to report.
INTERRUPTED = 130


@dataclass(kw_only=True)
class SubmitOptions:
    """The arguments of `warmfront submit`, as typed."""

    file: Path
    problem: str
    endpoint: str
    dtype: str | None
    gpu_type: str | None
    receipt: Path | None = None  #: the file to save the signed receipt to
    cases: tuple[str, ...] = ()  #: the author's own cases
    all_cases: bool = False  #: continue after a wrong answer
    launch: dict[str, Any] | None = None  #: of a scratch kernel
    heading: str | None = None  #: the first line of the output, instead of file and problem
    submission_id: str | None = None  #: set when the server has accepted the submission


def submit(options: SubmitOptions, *, detach: bool, as_json: bool) -> int:
    """Submit a file, show its events, and return the verdict's exit code."""
    try:
        return asyncio.run(_submit(options, detach=detach, as_json=as_json))
    except WarmfrontError as error:
        return show_error(error, as_json=as_json)
    except KeyboardInterrupt:
        _print_next_steps(options.submission_id)
        return INTERRUPTED


def logs(prefix: str, *, follow: bool, as_json: bool) -> int:
    """Show the events of a submission so far, or follow it to its verdict."""
    try:
        return asyncio.run(_logs(prefix, follow=follow, as_json=as_json))
    except WarmfrontError as error:
        return show_error(error, as_json=as_json)
    except KeyboardInterrupt:
        return INTERRUPTED


async def _submit(options: SubmitOptions, *, detach: bool, as_json: bool) -> int:
    endpoint = parse_endpoint(options.endpoint)
    if options.receipt:
        check_receipt_file(options.receipt, endpoint)
    if options.receipt and detach:
        raise UsageError(
            "--receipt needs the verdict; --detach does not wait for it.", hint="Use one of them."
        )
    source = read_source(options.file)
    async with AsyncClient() as client:
        options.submission_id = await client.submit(
            source,
            problem=options.problem,
            gpu_type=options.gpu_type,
            dtype=options.dtype,
            endpoint=options.endpoint,
            file_name=_plain_name(options.file),
            own_cases=[parse_case(text) for text in options.cases],
            all_cases=options.all_cases,
            launch=options.launch,
        )
        if detach:
            if as_json:
                print_json({"id": options.submission_id})
            else:
                print(options.submission_id)
            return 0
        heading = (
            f"{options.heading or f'{options.file.name} for {options.problem}'}: {options.submission_id}"
        )
        view = _open_view(heading, endpoint, options.submission_id, as_json=as_json)
        last = await _show_events(client, options.submission_id, view)
    exit_code = last.verdict.exit_code if last else Verdict.ERROR.exit_code
    if options.receipt is None:
        return exit_code
    signed = last.fields.get("signed_receipt", "") if last else ""
    return save_receipt(options.receipt, signed.encode(), exit_code)


async def _logs(prefix: str, *, follow: bool, as_json: bool) -> int:
    async with AsyncClient() as client:
        submission = await find_submission(client, prefix)
        heading = f"{submission.file_name} for {submission.problem}, {submission.dtype}: {submission.id}"
        view = _open_view(heading, Endpoint(submission.endpoint), submission.id, as_json=as_json)
        await _show_events(client, submission.id, view, until=None if follow else submission.last_event_id)
    if not follow and submission.verdict is None:
        print(
            f"The submission has no verdict yet; to follow it: warmfront logs -f {submission.id}",
            file=sys.stderr,
        )
    return 0


async def _show_events(
    client: AsyncClient, submission_id: str, view: EventView, *, until: int | None = None
) -> Event | None:
    """Show the events up to the id `until`, or up to the verdict, and return the last one."""
    last = None
    ticker = asyncio.create_task(_tick(view))
    try:
        async with aclosing(client.events(submission_id)) as events:
            async for last in events:
                view.show(last.fields)
                if until is not None and last.id >= until:
                    break
    finally:
        ticker.cancel()
        view.close()
    return last


async def _tick(view: EventView) -> None:
    while True:
        await asyncio.sleep(_TICK_S)
        view.tick()


def _open_view(heading: str, endpoint: Endpoint, submission_id: str, *, as_json: bool) -> EventView:
    if as_json:
        return JsonView(submission_id=submission_id)
    return TerminalView(heading, endpoint, sys.stdout)


def _print_next_steps(submission_id: str | None) -> None:
    if submission_id is None:
        print(
            "\nInterrupted while submitting; `warmfront ps` shows whether the server accepted it.",
            file=sys.stderr,
        )
        return
    print(
        f"\nDetached; {submission_id} continues on the server.\n"
        f"  → warmfront logs -f {submission_id}   follows it again\n"
        f"  → warmfront stop {submission_id}      cancels it",
        file=sys.stderr,
    )


def _plain_name(file: Path) -> str:
    """Return the file's name, with underscores for characters that the server does not accept."""
    return re.sub(r"^[^A-Za-z0-9_]|[^A-Za-z0-9_ .+-]", "_", file.name)[:100]
