"""The commands and their options. What they do is elsewhere; here is only what a person types."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from warmfront import __version__
from warmfront.cli import cost_commands
from warmfront.cli.fleet_commands import fleet_app

app = typer.Typer(
    help="Prove whether a HIP kernel is right, and measure how fast it is.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
problems_app = typer.Typer(help="The problems that a kernel can solve.", no_args_is_help=True)
app.add_typer(problems_app, name="problems")
keys_app = typer.Typer(help="Who may use the service of this machine.", no_args_is_help=True)
app.add_typer(keys_app, name="keys")
app.add_typer(fleet_app, name="fleet")

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON, and nothing else, on stdout.")]
DtypeOption = Annotated[str | None, typer.Option(help="float32 or float16, where the problem has it.")]


def _print_version(value: bool) -> None:  # noqa: FBT001 - Typer's callback takes the option's value
    if value:
        typer.echo(f"warmfront {__version__}")
        raise typer.Exit


@app.callback()
def _common(
    *,
    _version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


@app.command()
def run(
    file: Annotated[Path, typer.Argument(help="The HIP source to judge.", show_default=False)],
    *,
    problem: Annotated[
        str, typer.Option("--problem", "-p", help="Its problem; see `warmfront problems list`.")
    ],
    endpoint: Annotated[
        str, typer.Option(help="checker, benchmark or submit; all of them check first.")
    ] = "submit",
    dtype: DtypeOption = None,
    toolchain: Annotated[
        str | None, typer.Option(help="cpu or rocm; by default what this machine has.")
    ] = None,
    sandbox: Annotated[
        str | None, typer.Option(help="bubblewrap or docker; by default what works here.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Draw the inputs from this seed, not a secret one.")
    ] = None,
    as_json: JsonOption = False,
    trust: Annotated[
        bool,
        typer.Option(
            "--trust", help="Your own code: with AMD_CONTAINER_ISOLATION=false, run it without a sandbox."
        ),
    ] = False,
) -> None:
    """Compile FILE, check it, time it, and say the verdict.

    Exit codes: 0 accepted, 1 the kernel's fault, 2 usage, 3 infrastructure.
    """
    from warmfront.cli.run_local import Request, run_request  # noqa: PLC0415 - each command loads what it needs

    request = Request(
        file=file,
        problem=problem,
        endpoint=endpoint,
        dtype=dtype,
        toolchain=toolchain,
        sandbox=sandbox,
        seed=seed,
        trust=trust,
    )
    raise typer.Exit(run_request(request, as_json=as_json))


@app.command()
def check(
    file: Annotated[Path, typer.Argument(help="The HIP source to check.", show_default=False)],
    *,
    problem: Annotated[
        str, typer.Option("--problem", "-p", help="Its problem; see `warmfront problems list`.")
    ],
    bugs: Annotated[
        bool, typer.Option("--bugs", help="Look for bugs in every case, however long it takes.")
    ] = False,
    dtype: DtypeOption = None,
    sandbox: Annotated[
        str | None, typer.Option(help="bubblewrap or docker; by default what works here.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Draw the inputs from this seed, not a secret one.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Check FILE on the CPU and look for bugs that a GPU hides: races, divergent barriers, and more."""
    from warmfront.cli.run_local import Request, run_request  # noqa: PLC0415 - each command loads what it needs

    request = Request(
        file=file,
        problem=problem,
        endpoint="checker",
        dtype=dtype,
        toolchain="cpu",
        sandbox=sandbox,
        seed=seed,
        trust=False,
        bugs=bugs,
    )
    raise typer.Exit(run_request(request, as_json=as_json))


@app.command()
def xray(
    file: Annotated[Path, typer.Argument(help="The HIP source to look into.", show_default=False)],
    *,
    problem: Annotated[
        str | None, typer.Option("--problem", "-p", help="Its problem, for what the GPU must do at least.")
    ] = None,
    dtype: DtypeOption = None,
    arch: Annotated[str, typer.Option(help="gfx942 (MI300X), gfx90a or gfx950.")] = "gfx942",
    isa: Annotated[bool, typer.Option("--isa", help="Show the instructions beside the source.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Say what an MI300X would make of FILE: registers, occupancy, instructions. No GPU is needed."""
    from warmfront.cli.run_xray import print_xray  # noqa: PLC0415 - each command loads what it needs

    raise typer.Exit(print_xray(file, problem=problem, arch=arch, isa=isa, as_json=as_json, dtype=dtype))


@app.command()
def doctor(*, as_json: JsonOption = False) -> None:
    """Say what this machine can do, and the line to run for what is missing."""
    from warmfront.cli.doctor import report  # noqa: PLC0415 - as above

    raise typer.Exit(report(as_json=as_json))


@app.command()
def serve(
    *,
    host: Annotated[str | None, typer.Option(help="The address to listen on; WARMFRONT_HOST.")] = None,
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="The port; 0 takes any that is free; WARMFRONT_PORT.")
    ] = None,
) -> None:
    """Take submissions over HTTP and run them on VMs, until it is stopped."""
    from warmfront.cli.run_service import serve as run_service  # noqa: PLC0415 - each command loads what it needs

    raise typer.Exit(run_service(host=host, port=port))


@app.command()
def listener(
    *,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 takes any that is free.")] = 8000,
    dead_man: Annotated[
        float | None,
        typer.Option(
            "--dead-man", min=0.1, help="Seconds without a heartbeat until it ends; WARMFRONT_DEAD_MAN."
        ),
    ] = None,
    announce: Annotated[
        Path | None, typer.Option(help="A file for its address and process id, written when it listens.")
    ] = None,
    toolchain: Annotated[
        str | None, typer.Option(help="cpu or rocm; by default what this machine has.")
    ] = None,
) -> None:
    """Judge what a control plane sends. Its token is in WARMFRONT_LISTENER_TOKEN."""
    from warmfront.cli.run_listener import run_listener  # noqa: PLC0415 - each command loads what it needs

    raise typer.Exit(
        run_listener(host=host, port=port, dead_man_s=dead_man, announce=announce, toolchain=toolchain)
    )


@problems_app.command("list")
def list_problems(*, as_json: JsonOption = False) -> None:
    """List all problems."""
    from warmfront.cli.show_problems import print_list  # noqa: PLC0415 - as above

    print_list(as_json=as_json)


@problems_app.command()
def show(slug: str, *, as_json: JsonOption = False) -> None:
    """Print a problem's statement, signature and cases."""
    from warmfront.cli.show_problems import print_problem  # noqa: PLC0415 - as above

    raise typer.Exit(print_problem(slug, as_json=as_json))


@problems_app.command()
def starter(slug: str, dtype: DtypeOption = None) -> None:
    """Print code to begin with: `warmfront problems starter relu > relu.hip`."""
    from warmfront.cli.show_problems import print_starter  # noqa: PLC0415 - as above

    raise typer.Exit(print_starter(slug, dtype))


IdArgument = Annotated[str, typer.Argument(help="The submission's id, or its beginning.", show_default=False)]


@app.command()
def submit(
    file: Annotated[Path, typer.Argument(help="The HIP source to submit.", show_default=False)],
    *,
    problem: Annotated[
        str, typer.Option("--problem", "-p", help="Its problem; see `warmfront problems list`.")
    ],
    endpoint: Annotated[str, typer.Option(help="xray, checker, benchmark or submit.")] = "submit",
    dtype: DtypeOption = None,
    gpu: Annotated[str | None, typer.Option(help="The GPU; by default the server's.")] = None,
    detach: Annotated[
        bool, typer.Option("--detach", "-d", help="Print the id and leave; it goes on.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Submit FILE to the server at WARMFRONT_URL and follow it to its verdict.

    Ctrl-C detaches, and the submission goes on. Exit codes: 0 accepted, 1 the kernel's fault, 2 usage,
    3 infrastructure, 130 detached by Ctrl-C.
    """
    from warmfront.cli.submit_and_follow import Order, submit  # noqa: PLC0415 - as above

    order = Order(file=file, problem=problem, endpoint=endpoint, dtype=dtype, gpu_type=gpu)
    raise typer.Exit(submit(order, detach=detach, as_json=as_json))


@app.command()
def ps(
    *,
    finished: Annotated[bool, typer.Option("--all", "-a", help="The latest 100, finished ones too.")] = False,
    everyone: Annotated[bool, typer.Option("--everyone", help="Of all users; for operators.")] = False,
    as_json: JsonOption = False,
) -> None:
    """List the submissions that are under way."""
    from warmfront.cli.server_reports import ps  # noqa: PLC0415 - as above

    raise typer.Exit(ps(finished=finished, everyone=everyone, as_json=as_json))


@app.command()
def logs(
    submission_id: IdArgument,
    *,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on to the verdict.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Show what happened to a submission so far."""
    from warmfront.cli.submit_and_follow import logs  # noqa: PLC0415 - as above

    raise typer.Exit(logs(submission_id, follow=follow, as_json=as_json))


@app.command()
def stop(submission_id: IdArgument, *, as_json: JsonOption = False) -> None:
    """Cancel a submission, and wait until nothing of it runs."""
    from warmfront.cli.server_reports import stop  # noqa: PLC0415 - as above

    raise typer.Exit(stop(submission_id, as_json=as_json))


@app.command()
def vms(
    *,
    finished: Annotated[bool, typer.Option("--all", "-a", help="Those that ended of late too.")] = False,
    as_json: JsonOption = False,
) -> None:
    """List the server's VMs."""
    from warmfront.cli.server_reports import vms  # noqa: PLC0415 - as above

    raise typer.Exit(vms(finished=finished, as_json=as_json))


@app.command()
def metrics(*, as_json: JsonOption = False) -> None:
    """Show the server in a few numbers."""
    from warmfront.cli.server_reports import metrics  # noqa: PLC0415 - as above

    raise typer.Exit(metrics(as_json=as_json))


app.command()(cost_commands.cost)
app.command()(cost_commands.simulate)


@keys_app.command("create")
def create_key(
    *,
    user: Annotated[str, typer.Option(help="Whose it is.")],
    role: Annotated[str, typer.Option(help="user or operator.")] = "user",
    team: Annotated[str | None, typer.Option(help="With whom it shares dollars a day.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Make a key; its secret is printed once, on stdout."""
    from warmfront.cli import manage_keys  # noqa: PLC0415 - as above

    raise typer.Exit(manage_keys.create(user, role, team=team, as_json=as_json))


@keys_app.command("list")
def list_keys(*, as_json: JsonOption = False) -> None:
    """List all keys."""
    from warmfront.cli import manage_keys  # noqa: PLC0415 - as above

    raise typer.Exit(manage_keys.show_all(as_json=as_json))


@keys_app.command("revoke")
def revoke_key(
    key_id: Annotated[str, typer.Argument(help="The key's id, or its beginning.", show_default=False)],
    *,
    as_json: JsonOption = False,
) -> None:
    """Make a key useless from now on."""
    from warmfront.cli import manage_keys  # noqa: PLC0415 - as above

    raise typer.Exit(manage_keys.revoke(key_id, as_json=as_json))
