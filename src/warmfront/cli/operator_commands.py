"""The options of the operators' commands."""

from __future__ import annotations

from typing import Annotated

import typer

JsonOption = Annotated[bool, typer.Option("--json", help="Print only JSON on stdout.")]


def audit(
    *,
    limit: Annotated[int, typer.Option(min=1, help="How many entries to show.")] = 50,
    actor: Annotated[str | None, typer.Option(help="Only actions of this user.")] = None,
    action: Annotated[str | None, typer.Option(help="Only this action, such as vm.drain.")] = None,
    subject: Annotated[str | None, typer.Option(help="Only actions on this, such as a VM's id.")] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Check the hash chain of the whole log instead.")
    ] = False,
    head: Annotated[
        str | None,
        typer.Option(help="With --check: the head of an earlier check, which must still be there."),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Show who did what, when and with which outcome; operators only.

    Exit codes of --check: 0 intact, 1 tampered with.
    """
    from warmfront.cli import audit_log

    if head is not None and not check:
        raise typer.BadParameter("--head needs --check.")
    if check:
        raise typer.Exit(audit_log.check(expected=head, as_json=as_json))
    raise typer.Exit(
        audit_log.show(limit=limit, actor=actor, action=action, subject=subject, as_json=as_json)
    )
