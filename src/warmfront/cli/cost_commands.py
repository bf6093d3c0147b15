"""The options of `warmfront cost` and `warmfront simulate`."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - Typer reads the annotations
from typing import Annotated

import typer

JsonOption = Annotated[bool, typer.Option("--json", help="Print only JSON on stdout.")]


def cost(
    *,
    what_if: Annotated[
        bool, typer.Option("--what-if", help="Show what this month would have cost under other policies.")
    ] = False,
    forecast: Annotated[
        bool, typer.Option("--forecast", help="Show how long the credits will last.")
    ] = False,
    tasks_per_day: Annotated[
        float | None, typer.Option(help="Forecast for this many submissions per day.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Show costs per day and per VM activity, a forecast, or a what-if comparison."""
    from warmfront.cli import cost_projections, server_reports

    if what_if:
        raise typer.Exit(cost_projections.what_if(as_json=as_json))
    if forecast or tasks_per_day is not None:
        raise typer.Exit(cost_projections.forecast(tasks_per_day=tasks_per_day, as_json=as_json))
    raise typer.Exit(server_reports.cost(as_json=as_json))


def simulate(
    csv: Annotated[
        Path | None,
        typer.Argument(help="A file with one arrival per line, in seconds or as a date.", show_default=False),
    ] = None,
    *,
    from_history: Annotated[
        bool, typer.Option("--from-history", help="Replay the submissions in this machine's database.")
    ] = False,
    trace: Annotated[str | None, typer.Option(help="Generate arrivals: poisson, workday or bursts.")] = None,
    per_day: Annotated[float, typer.Option(help="Submissions per day of a generated trace.")] = 50.0,
    days: Annotated[float, typer.Option(help="Length of a generated trace in days.")] = 60.0,
    seed: Annotated[int, typer.Option(min=0, help="Random seed of a generated trace.")] = 1,
    policy: Annotated[
        list[str] | None,
        typer.Option(help="adaptive, fixed, fixed:10m, at-once or always. Repeat to compare several."),
    ] = None,
    max_vms: Annotated[
        list[str] | None, typer.Option(help="Maximum number of VMs. Repeat to compare several.")
    ] = None,
    boot: Annotated[
        list[str] | None, typer.Option(help="Boot time of a VM, such as 450s. Repeat to compare several.")
    ] = None,
    price: Annotated[
        list[str] | None, typer.Option(help="Dollars per VM hour. Repeat to compare several.")
    ] = None,
    billing: Annotated[
        list[str] | None,
        typer.Option(help="second, minute, hour or reserved:4h. Repeat to compare several."),
    ] = None,
    task: Annotated[
        str | None, typer.Option(help="How long a submission runs on a VM (default: 30s).")
    ] = None,
    wait_value: Annotated[
        str | None, typer.Option(help="The value of an hour of waiting, in dollars.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Write a bar chart of the costs to this SVG file.")
    ] = None,
    lanes: Annotated[
        Path | None, typer.Option(help="Write a timeline of the VMs on one day to this SVG file.")
    ] = None,
    day: Annotated[int, typer.Option(min=1, help="The day that --lanes shows.")] = 1,
    as_json: JsonOption = False,
) -> None:
    """Replay arrivals through the real orchestrator in virtual time, and compare the costs of policies."""
    from warmfront.cli.run_simulation import SimulationOptions, simulate

    options = SimulationOptions(
        csv=csv,
        from_history=from_history,
        trace=trace,
        per_day=per_day,
        days=days,
        seed=seed,
        policies=policy or [],
        max_vms=max_vms or [],
        boots=boot or [],
        prices=price or [],
        billings=billing or [],
        task=task,
        wait_value=wait_value,
        plot=plot,
        lanes=lanes,
        day=day,
    )
    raise typer.Exit(simulate(options, as_json=as_json))
