"""`warmfront submit` and `warmfront logs`: a submission on a server, followed as it happens.

Leaving never stops it: Ctrl-C lets go, and `warmfront stop` is what ends one.
"""

from __future__ import annotations

import asyncio
import re
import sys
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from warmfront.cli.event_views import JsonView, refuse
from warmfront.cli.formatting import print_json
from warmfront.cli.server_access import find
from warmfront.cli.terminal_view import TerminalView
from warmfront.client import AsyncClient
from warmfront.errors import UsageError, WarmfrontError
from warmfront.judge_request import read_source
from warmfront.verdicts import Endpoint, Verdict

if TYPE_CHECKING:
    from pathlib import Path

    from warmfront.cli.event_views import View
    from warmfront.client import Event

#: Seconds between two drawings of the step that goes on.
_TICK_S = 0.1
#: What a shell reports of a program that Ctrl-C ended: there is no verdict to report.
INTERRUPTED = 130


@dataclass(kw_only=True)
class Order:
    """What was typed, and the id once there is one."""

    file: Path
    problem: str
    endpoint: str
    dtype: str | None
    gpu_type: str | None
    submission_id: str | None = None


def submit(order: Order, *, detach: bool, as_json: bool) -> int:
    """Hand a file over and show what becomes of it; the exit code is the verdict's."""
    try:
        return asyncio.run(_submit(order, detach=detach, as_json=as_json))
    except WarmfrontError as error:
        return refuse(error, as_json=as_json)
    except KeyboardInterrupt:
        _say_how_to_go_on(order.submission_id)
        return INTERRUPTED


def logs(beginning: str, *, follow: bool, as_json: bool) -> int:
    """Show a submission's events so far, or on to its verdict."""
    try:
        return asyncio.run(_logs(beginning, follow=follow, as_json=as_json))
    except WarmfrontError as error:
        return refuse(error, as_json=as_json)
    except KeyboardInterrupt:
        return INTERRUPTED


async def _submit(order: Order, *, detach: bool, as_json: bool) -> int:
    endpoint = _endpoint(order.endpoint)
    source = read_source(order.file)
    async with AsyncClient() as client:
        order.submission_id = await client.submit(
            source,
            problem=order.problem,
            gpu_type=order.gpu_type,
            dtype=order.dtype,
            endpoint=order.endpoint,
            file_name=_plain_name(order.file),
        )
        if detach:
            if as_json:
                print_json({"id": order.submission_id})
            else:
                print(order.submission_id)
            return 0
        heading = f"{order.file.name} for {order.problem}: {order.submission_id}"
        view = _view(heading, endpoint, order.submission_id, as_json=as_json)
        last = await _watch(client, order.submission_id, view)
    return last.verdict.exit_code if last else Verdict.ERROR.exit_code


async def _logs(beginning: str, *, follow: bool, as_json: bool) -> int:
    async with AsyncClient() as client:
        found = await find(client, beginning)
        heading = f"{found.file_name} for {found.problem}, {found.dtype}: {found.id}"
        view = _view(heading, Endpoint(found.endpoint), found.id, as_json=as_json)
        await _watch(client, found.id, view, until=None if follow else found.last_event_id)
    if not follow and found.verdict is None:
        print(f"It is not over: `warmfront logs -f {found.id}` follows it.", file=sys.stderr)
    return 0


async def _watch(
    client: AsyncClient, submission_id: str, view: View, *, until: int | None = None
) -> Event | None:
    """Show every event up to that id, or to the verdict; the last one."""
    last = None
    ticking = asyncio.create_task(_tick(view))
    try:
        async with aclosing(client.events(submission_id)) as events:
            async for last in events:
                view.show(last.fields)
                if until is not None and last.id >= until:
                    break
    finally:
        ticking.cancel()
        view.close()
    return last


async def _tick(view: View) -> None:
    while True:
        await asyncio.sleep(_TICK_S)
        view.tick()


def _view(heading: str, endpoint: Endpoint, submission_id: str, *, as_json: bool) -> View:
    if as_json:
        return JsonView(submission_id=submission_id)
    return TerminalView(heading, endpoint, sys.stdout)


def _say_how_to_go_on(submission_id: str | None) -> None:
    if submission_id is None:
        print("\nStopped while handing it over; `warmfront ps` shows if it was taken.", file=sys.stderr)
        return
    print(
        f"\nDetached: {submission_id} goes on without you.\n"
        f"  → warmfront logs -f {submission_id}   to follow it again\n"
        f"  → warmfront stop {submission_id}      to end it",
        file=sys.stderr,
    )


def _endpoint(name: str) -> Endpoint:
    if name not in set(Endpoint):
        raise UsageError(
            f"There is no endpoint {name!r}.", hint=f"Use --endpoint with one of: {', '.join(Endpoint)}."
        )
    return Endpoint(name)


def _plain_name(file: Path) -> str:
    """The file's name, of the characters that messages and logs can take."""
    return re.sub(r"^[^A-Za-z0-9_]|[^A-Za-z0-9_ .+-]", "_", file.name)[:100]
