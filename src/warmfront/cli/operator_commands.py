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
    subject: Annotated[
        str | None, typer.Option(help="Only actions on this subject, such as a VM's id.")
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Check the hash chain of the whole log instead.")
    ] = False,
    head: Annotated[
        str | None,
        typer.Option(help="With --check: the head of an earlier check, which the log must still contain."),
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


vm_app = typer.Typer(help="Release, drain, pin and unpin VMs; operators only.", no_args_is_help=True)
intake_app = typer.Typer(help="Pause and resume the intake of submissions.", no_args_is_help=True)
limits_app = typer.Typer(help="Show and change limits at run time; operators only.", no_args_is_help=True)

VmArgument = Annotated[str, typer.Argument(help="The id of the VM, or a prefix of it.", show_default=False)]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]
ReasonOption = Annotated[str, typer.Option(help="The reason, for the audit log.")]


@vm_app.command()
def release(vm_id: VmArgument, *, yes: YesOption = False, as_json: JsonOption = False) -> None:
    """End a VM now; its submissions start again on another VM."""
    from warmfront.cli import control_service

    raise typer.Exit(control_service.act_on_vm("release", vm_id, yes=yes, as_json=as_json))


@vm_app.command()
def drain(vm_id: VmArgument, *, yes: YesOption = False, as_json: JsonOption = False) -> None:
    """Let a VM finish its submissions, give it no new ones, and then end it."""
    from warmfront.cli import control_service

    raise typer.Exit(control_service.act_on_vm("drain", vm_id, yes=yes, as_json=as_json))


@vm_app.command()
def pin(
    vm_id: VmArgument,
    *,
    duration: Annotated[str, typer.Option("--for", help="How long to keep the VM, such as 90m, 8h or 2d.")],
    yes: YesOption = False,
    as_json: JsonOption = False,
) -> None:
    """Keep a VM for a time, whatever the keep-warm policy decides."""
    from warmfront.cli import control_service

    raise typer.Exit(control_service.act_on_vm("pin", vm_id, pin_for=duration, yes=yes, as_json=as_json))


@vm_app.command()
def unpin(vm_id: VmArgument, *, yes: YesOption = False, as_json: JsonOption = False) -> None:
    """End the pin of a VM."""
    from warmfront.cli import control_service

    raise typer.Exit(control_service.act_on_vm("unpin", vm_id, yes=yes, as_json=as_json))


@intake_app.command("show")
def show_intake(*, as_json: JsonOption = False) -> None:
    """Show whether submissions are accepted and run."""
    from warmfront.cli import control_service

    raise typer.Exit(control_service.show_intake(as_json=as_json))


@intake_app.command("pause")
def pause_intake(
    *,
    reason: Annotated[str, typer.Option(help="The reason, for authors and the audit log.")],
    mode: Annotated[
        str, typer.Option(help="queue: submissions wait. refuse: new submissions get an error.")
    ] = "queue",
    yes: YesOption = False,
    as_json: JsonOption = False,
) -> None:
    """Pause the intake; operators only."""
    from warmfront.cli import control_service

    raise typer.Exit(control_service.pause_intake(mode, reason, yes=yes, as_json=as_json))


@intake_app.command("resume")
def resume_intake(*, yes: YesOption = False, as_json: JsonOption = False) -> None:
    """Resume the intake; operators only."""
    from warmfront.cli import control_service

    raise typer.Exit(control_service.resume_intake(yes=yes, as_json=as_json))


@limits_app.command("show")
def show_limits(*, as_json: JsonOption = False) -> None:
    """List the limits with their current and configured values."""
    from warmfront.cli import control_service

    raise typer.Exit(control_service.show_limits(as_json=as_json))


@limits_app.command("set")
def set_limits(
    changes: Annotated[
        list[str], typer.Argument(help="NAME=VALUE, such as idle_timeout_s=300.", show_default=False)
    ],
    *,
    reason: ReasonOption = "",
    yes: YesOption = False,
    as_json: JsonOption = False,
) -> None:
    """Change limits; a restart of the service keeps them."""
    from warmfront.cli import control_service

    raise typer.Exit(control_service.change_limits(changes, reason=reason, yes=yes, as_json=as_json))


@limits_app.command("reset")
def reset_limits(
    names: Annotated[list[str], typer.Argument(help="Names of limits.", show_default=False)],
    *,
    reason: ReasonOption = "",
    yes: YesOption = False,
    as_json: JsonOption = False,
) -> None:
    """Restore the configured values of limits."""
    from warmfront.cli import control_service

    raise typer.Exit(
        control_service.change_limits(names, reason=reason, reset=True, yes=yes, as_json=as_json)
    )


def alerts(
    *,
    test: Annotated[bool, typer.Option("--test", help="Send a test message to every channel.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Show the alert rules and active alerts; operators only."""
    from warmfront.cli import show_alerts

    raise typer.Exit(show_alerts.test(as_json=as_json) if test else show_alerts.show(as_json=as_json))
