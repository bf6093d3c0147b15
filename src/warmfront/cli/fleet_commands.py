"""The commands of `warmfront fleet` and their options. What they do is elsewhere."""

from __future__ import annotations

from typing import Annotated

import typer

fleet_app = typer.Typer(help="The fleet of cloud VMs, through dstack.", no_args_is_help=True)

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else, on stdout.")]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
NameArgument = Annotated[
    str | None, typer.Argument(help="The fleet; by default AMD_FLEET_NAME.", show_default=False)
]


@fleet_app.command()
def create(
    *,
    name: Annotated[str | None, typer.Option(help="AMD_FLEET_NAME.")] = None,
    nodes: Annotated[str | None, typer.Option(help="The most VMs at once; AMD_FLEET_MAX_NODES.")] = None,
    idle_duration: Annotated[
        str | None, typer.Option(help="After which dstack ends an idle VM; AMD_FLEET_IDLE_DURATION.")
    ] = None,
    backend: Annotated[str | None, typer.Option(help="The cloud; AMD_BACKEND.")] = None,
    spot_policy: Annotated[str | None, typer.Option(help="auto, spot or on-demand; AMD_SPOT_POLICY.")] = None,
    yes: YesOption = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Stop after the plan; AMD_FLEET_DRY_RUN.")
    ] = False,
    replace: Annotated[
        bool, typer.Option("--replace", help="Delete and create again what cannot be changed.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Show dstack's plan and its worst case, ask, create the fleet, and read it back."""
    from warmfront.cli import fleet  # noqa: PLC0415 - each command loads what it needs

    asked = fleet.Asked(
        name=name,
        nodes=nodes,
        idle_duration=idle_duration,
        backend=backend,
        spot_policy=spot_policy,
        yes=yes,
        dry_run=dry_run,
        replace=replace,
        as_json=as_json,
    )
    raise typer.Exit(fleet.create(asked))


@fleet_app.command()
def verify(name: NameArgument = None, *, as_json: JsonOption = False) -> None:
    """Say whether the fleet is what the settings ask for, and could get a VM now."""
    from warmfront.cli import fleet  # noqa: PLC0415 - as above

    raise typer.Exit(fleet.verify(name, as_json=as_json))


@fleet_app.command("list")
def list_fleets(*, as_json: JsonOption = False) -> None:
    """List the fleets of the dstack project."""
    from warmfront.cli import fleet  # noqa: PLC0415 - as above

    raise typer.Exit(fleet.show_all(as_json=as_json))


@fleet_app.command()
def show(name: NameArgument = None, *, as_json: JsonOption = False) -> None:
    """Show a fleet and its VMs."""
    from warmfront.cli import fleet  # noqa: PLC0415 - as above

    raise typer.Exit(fleet.show(name, as_json=as_json))


@fleet_app.command()
def delete(name: NameArgument = None, *, yes: YesOption = False, as_json: JsonOption = False) -> None:
    """Delete a fleet and end its VMs; wait until they are gone."""
    from warmfront.cli import fleet  # noqa: PLC0415 - as above

    raise typer.Exit(fleet.delete(name, yes=yes, as_json=as_json))


@fleet_app.command()
def config(
    kind: Annotated[
        str, typer.Argument(help="fleet, worker, direct, or server: that of a dstack server of your own.")
    ] = "fleet",
) -> None:
    """Print the YAML, for `dstack apply -f`."""
    from warmfront.cli import fleet  # noqa: PLC0415 - as above

    raise typer.Exit(fleet.print_configuration(kind))
