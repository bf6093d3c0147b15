"""The commands of `warmfront fleet` and their options; `warmfront.cli.fleet` implements them."""

from __future__ import annotations

from typing import Annotated

import typer

fleet_app = typer.Typer(help="Manage the dstack fleet of cloud VMs.", no_args_is_help=True)

JsonOption = Annotated[bool, typer.Option("--json", help="Print only JSON on standard output.")]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]
NameArgument = Annotated[
    str | None, typer.Argument(help="Name of the fleet; default: AMD_FLEET_NAME.", show_default=False)
]


CpuOption = Annotated[
    bool, typer.Option("--cpu", help="The fleet of CPU nodes, AMD_CPU_FLEET_NAME, with its settings.")
]


@fleet_app.command()
def create(
    *,
    cpu: CpuOption = False,
    name: Annotated[str | None, typer.Option(help="Name of the fleet; AMD_FLEET_NAME.")] = None,
    nodes: Annotated[str | None, typer.Option(help="Maximum number of VMs; AMD_FLEET_MAX_NODES.")] = None,
    idle_duration: Annotated[
        str | None, typer.Option(help="Idle time after which dstack ends a VM; AMD_FLEET_IDLE_DURATION.")
    ] = None,
    backend: Annotated[str | None, typer.Option(help="dstack backend; AMD_BACKEND.")] = None,
    spot_policy: Annotated[str | None, typer.Option(help="auto, spot or on-demand; AMD_SPOT_POLICY.")] = None,
    yes: YesOption = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the plan without creating anything; AMD_FLEET_DRY_RUN.")
    ] = False,
    replace: Annotated[
        bool, typer.Option("--replace", help="If the fleet cannot be changed, delete it and create it again.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Show dstack's plan and its worst-case cost, ask for confirmation, and create the fleet."""
    from warmfront.cli import fleet

    options = fleet.CreateOptions(
        cpu=cpu,
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
    raise typer.Exit(fleet.create(options))


@fleet_app.command()
def verify(name: NameArgument = None, *, cpu: CpuOption = False, as_json: JsonOption = False) -> None:
    """Check whether the fleet matches the settings and a VM is available."""
    from warmfront.cli import fleet

    raise typer.Exit(fleet.verify(name, cpu=cpu, as_json=as_json))


@fleet_app.command("list")
def list_fleets(*, as_json: JsonOption = False) -> None:
    """List the fleets of the dstack project."""
    from warmfront.cli import fleet

    raise typer.Exit(fleet.show_all(as_json=as_json))


@fleet_app.command()
def show(name: NameArgument = None, *, as_json: JsonOption = False) -> None:
    """Show a fleet and its VMs."""
    from warmfront.cli import fleet

    raise typer.Exit(fleet.show(name, as_json=as_json))


@fleet_app.command()
def delete(name: NameArgument = None, *, yes: YesOption = False, as_json: JsonOption = False) -> None:
    """Delete a fleet and its VMs, and wait until they have ended."""
    from warmfront.cli import fleet

    raise typer.Exit(fleet.delete(name, yes=yes, as_json=as_json))


@fleet_app.command()
def config(
    kind: Annotated[
        str,
        typer.Argument(help="fleet, cpu-fleet, worker, direct, or server (for a self-hosted dstack server)."),
    ] = "fleet",
) -> None:
    """Print a configuration as YAML, for `dstack apply -f`."""
    from warmfront.cli import fleet

    raise typer.Exit(fleet.print_configuration(kind))
