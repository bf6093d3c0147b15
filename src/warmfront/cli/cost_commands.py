"""`warmfront cost` and `warmfront simulate` as they are typed. What they do is elsewhere."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - Typer reads the annotations
from typing import Annotated

import typer

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else, on stdout.")]


def cost(
    *,
    what_if: Annotated[
        bool, typer.Option("--what-if", help="What this month had cost with other policies, and at best.")
    ] = False,
    forecast: Annotated[bool, typer.Option("--forecast", help="How long the credits last.")] = False,
    tasks_per_day: Annotated[
        float | None, typer.Option(help="With --forecast: at this pace, instead of 10, 50 and 200.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Show where the money went: by day, and by what the VMs did; or where it will go."""
    from warmfront.cli import cost_projections, server_reports  # noqa: PLC0415 - each command loads what it needs

    if what_if:
        raise typer.Exit(cost_projections.what_if(as_json=as_json))
    if forecast or tasks_per_day is not None:
        raise typer.Exit(cost_projections.forecast(tasks_per_day=tasks_per_day, as_json=as_json))
    raise typer.Exit(server_reports.cost(as_json=as_json))


def simulate(
    csv: Annotated[
        Path | None, typer.Argument(help="Arrivals, one a line: seconds or dates.", show_default=False)
    ] = None,
    *,
    from_history: Annotated[
        bool, typer.Option("--from-history", help="Replay this store's own submissions.")
    ] = False,
    trace: Annotated[str | None, typer.Option(help="Made-up arrivals: poisson, workday or bursts.")] = None,
    per_day: Annotated[float, typer.Option(help="Tasks a day of a trace.")] = 50.0,
    days: Annotated[float, typer.Option(help="Days of a trace.")] = 60.0,
    seed: Annotated[int, typer.Option(min=0, help="Which trace of its kind.")] = 1,
    policy: Annotated[
        list[str] | None,
        typer.Option(help="adaptive, fixed, fixed:10m, at-once or always; again for more than one."),
    ] = None,
    max_vms: Annotated[list[str] | None, typer.Option(help="VMs at once; again for more.")] = None,
    boot: Annotated[list[str] | None, typer.Option(help="How long a VM boots, such as 450s.")] = None,
    price: Annotated[list[str] | None, typer.Option(help="Dollars an hour.")] = None,
    billing: Annotated[list[str] | None, typer.Option(help="second, minute, hour or reserved:4h.")] = None,
    task: Annotated[str | None, typer.Option(help="How long a task takes; 30s.")] = None,
    wait_value: Annotated[
        str | None, typer.Option(help="What an hour of waiting is worth, in dollars.")
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Draw what each way costs, as SVG.")] = None,
    lanes: Annotated[Path | None, typer.Option(help="Draw what the VMs did on one day, as SVG.")] = None,
    day: Annotated[int, typer.Option(min=1, help="Which day that is.")] = 1,
    as_json: JsonOption = False,
) -> None:
    """Replay arrivals through the real orchestrator on a virtual clock, and compare what they cost."""
    from warmfront.cli.run_simulation import Order, simulate  # noqa: PLC0415 - each command loads what it needs

    order = Order(
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
    raise typer.Exit(simulate(order, as_json=as_json))
