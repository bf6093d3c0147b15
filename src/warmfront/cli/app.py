"""The commands, their options and their help.

Every command imports its implementation when it runs, so that `warmfront --help` does not load a web
framework.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from warmfront import __version__
from warmfront.cli import account_commands, cost_commands, launch_commands, operator_commands
from warmfront.cli.fleet_commands import fleet_app
from warmfront.cli.image_commands import image_app

app = typer.Typer(
    help="Check whether a HIP kernel is correct, and measure how fast it is.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
problems_app = typer.Typer(help="Show the problems.", no_args_is_help=True)
app.add_typer(problems_app, name="problems")
keys_app = typer.Typer(help="Manage the API keys of the service on this machine.", no_args_is_help=True)
app.add_typer(keys_app, name="keys")
signing_key_app = typer.Typer(
    help="Manage the keys that sign receipts on this machine.", no_args_is_help=True
)
app.add_typer(signing_key_app, name="signing-key")
app.add_typer(fleet_app, name="fleet")
app.add_typer(image_app, name="image")
app.add_typer(operator_commands.vm_app, name="vm")
app.add_typer(operator_commands.intake_app, name="intake")
app.add_typer(operator_commands.limits_app, name="limits")
app.add_typer(account_commands.users_app, name="users")
app.add_typer(account_commands.teams_app, name="teams")

JsonOption = Annotated[bool, typer.Option("--json", help="Print only JSON on stdout.")]
ReceiptOption = Annotated[
    Path | None, typer.Option("--receipt", help="Save the signed receipt of an accepted kernel to this file.")
]
CaseOption = Annotated[
    list[str] | None,
    typer.Option(
        "--case",
        help="A case of your own, such as n=1000,m=3,style=wide; may be repeated. Only for a check.",
        show_default=False,
    ),
]
AllCasesOption = Annotated[
    bool, typer.Option("--all-cases", help="Continue after a wrong answer. Only for a check.")
]
DtypeOption = Annotated[
    str | None,
    typer.Option(help="float32 or float16, if the problem supports it."),
]


def _print_version(value: bool) -> None:  # noqa: FBT001 - Typer passes the value by position
    if value:
        typer.echo(f"warmfront {__version__}")
        raise typer.Exit


@app.callback()
def _common(
    *,
    _version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit."),
    ] = False,
) -> None:
    pass


@app.command()
def run(
    file: Annotated[Path, typer.Argument(help="The HIP source to judge.", show_default=False)],
    *,
    problem: Annotated[
        str, typer.Option("--problem", "-p", help="The problem to solve; see `warmfront problems list`.")
    ],
    endpoint: Annotated[
        str, typer.Option(help="checker, benchmark or submit. All of them check correctness first.")
    ] = "submit",
    dtype: DtypeOption = None,
    toolchain: Annotated[
        str | None, typer.Option(help="cpu, rocm or stub (default: rocm if this machine has a GPU).")
    ] = None,
    sandbox: Annotated[
        str | None, typer.Option(help="bubblewrap or docker (default: the first that works).")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Generate the inputs from this seed instead of a secret one.")
    ] = None,
    as_json: JsonOption = False,
    trust: Annotated[
        bool,
        typer.Option(
            "--trust",
            help="Your own code only: with AMD_CONTAINER_ISOLATION=false, run it without a sandbox.",
        ),
    ] = False,
    receipt: ReceiptOption = None,
) -> None:
    """Compile FILE, check and time it on this machine, and print the verdict.

    Exit codes: 0 accepted, 1 rejected, 2 usage error, 3 infrastructure error.
    """
    from warmfront.cli.run_local import RunOptions, run

    options = RunOptions(
        file=file,
        problem=problem,
        endpoint=endpoint,
        dtype=dtype,
        toolchain=toolchain,
        sandbox=sandbox,
        seed=seed,
        trust=trust,
        receipt=receipt,
    )
    raise typer.Exit(run(options, as_json=as_json))


@app.command()
def check(
    file: Annotated[Path, typer.Argument(help="The HIP source to check.", show_default=False)],
    *,
    problem: Annotated[
        str, typer.Option("--problem", "-p", help="The problem to solve; see `warmfront problems list`.")
    ],
    bugs: Annotated[
        bool, typer.Option("--bugs", help="Run the bug finder on every case, however long it takes.")
    ] = False,
    dtype: DtypeOption = None,
    case: CaseOption = None,
    all_cases: AllCasesOption = False,
    sandbox: Annotated[
        str | None, typer.Option(help="bubblewrap or docker (default: the first that works).")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Generate the inputs from this seed instead of a secret one.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Check FILE on the CPU and find bugs that a GPU hides, such as data races and divergent barriers."""
    from warmfront.cli.run_local import RunOptions, run

    options = RunOptions(
        file=file,
        problem=problem,
        endpoint="checker",
        dtype=dtype,
        toolchain="cpu",
        sandbox=sandbox,
        seed=seed,
        trust=False,
        bugs=bugs,
        cases=tuple(case or ()),
        all_cases=all_cases,
    )
    raise typer.Exit(run(options, as_json=as_json))


@app.command()
def xray(
    file: Annotated[Path, typer.Argument(help="The HIP source to X-ray.", show_default=False)],
    *,
    problem: Annotated[
        str | None,
        typer.Option("--problem", "-p", help="The problem that the kernel solves, to add its roofline."),
    ] = None,
    dtype: DtypeOption = None,
    arch: Annotated[str, typer.Option(help="gfx942 (MI300X), gfx90a or gfx950.")] = "gfx942",
    isa: Annotated[bool, typer.Option("--isa", help="Show the assembly next to the source.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Compile FILE for an MI300X and report registers, occupancy and instructions. Needs no GPU."""
    from warmfront.cli.run_xray import print_xray

    raise typer.Exit(print_xray(file, problem=problem, arch=arch, isa=isa, as_json=as_json, dtype=dtype))


@app.command()
def doctor(
    *,
    gpu: Annotated[
        bool, typer.Option("--gpu", help="Check the GPU instead; exit code 1 if it fails.")
    ] = False,
    full: Annotated[
        bool,
        typer.Option("--full", help="With --gpu: also judge broken kernels and take measurements (minutes)."),
    ] = False,
    toolchain: Annotated[
        str | None, typer.Option(help="With --gpu: rocm, or stub to rehearse the checks without a GPU.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Check this machine, and print the commands that install what is missing."""
    if gpu:
        from warmfront.listener import gpu_doctor

        raise typer.Exit(gpu_doctor.report(as_json=as_json, full=full, toolchain=toolchain))
    if full or toolchain:
        raise typer.BadParameter("--full and --toolchain need --gpu.")
    from warmfront.cli.doctor import report

    raise typer.Exit(report(as_json=as_json))


@app.command()
def serve(
    *,
    host: Annotated[
        str | None, typer.Option(help="The address to listen on (default: WARMFRONT_HOST).")
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(min=0, max=65535, help="The port; 0 selects a free one (default: WARMFRONT_PORT)."),
    ] = None,
) -> None:
    """Run the service: accept submissions over HTTP and run them on VMs."""
    from warmfront.cli.run_service import run_service

    raise typer.Exit(run_service(host=host, port=port))


@app.command()
def listener(
    *,
    host: Annotated[str, typer.Option(help="The address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 selects a free one.")] = 8000,
    uds: Annotated[
        Path | None,
        typer.Option(help="A UNIX socket to listen on, with mode 0600, instead of --host and --port."),
    ] = None,
    watchdog: Annotated[
        float | None,
        typer.Option(
            "--dead-man",
            min=0.1,
            help="The watchdog ends the listener after this many seconds without a heartbeat "
            "(default: WARMFRONT_DEAD_MAN).",
        ),
    ] = None,
    announce: Annotated[
        Path | None,
        typer.Option(
            help="Write the address and process id to this file when the listener accepts connections."
        ),
    ] = None,
    toolchain: Annotated[
        str | None, typer.Option(help="cpu, rocm or stub (default: rocm if this machine has a GPU).")
    ] = None,
) -> None:
    """Run the listener of a VM, which judges the attempts that the control plane sends.

    WARMFRONT_LISTENER_TOKEN is the token that requests must carry.
    """
    from warmfront.cli.run_listener import run_listener

    raise typer.Exit(
        run_listener(
            host=host, port=port, uds=uds, watchdog_s=watchdog, announce=announce, toolchain=toolchain
        )
    )


@problems_app.command("list")
def list_problems(*, as_json: JsonOption = False) -> None:
    """List all problems."""
    from warmfront.cli.show_problems import print_list

    print_list(as_json=as_json)


@problems_app.command()
def show(slug: str, *, as_json: JsonOption = False) -> None:
    """Print the statement, signature and cases of a problem."""
    from warmfront.cli.show_problems import print_problem

    raise typer.Exit(print_problem(slug, as_json=as_json))


@problems_app.command()
def starter(slug: str, dtype: DtypeOption = None) -> None:
    """Print the starter code of a problem: `warmfront problems starter relu > relu.hip`."""
    from warmfront.cli.show_problems import print_starter

    raise typer.Exit(print_starter(slug, dtype))


IdArgument = Annotated[
    str, typer.Argument(help="The id of the submission, or a prefix of it.", show_default=False)
]


@app.command()
def submit(
    file: Annotated[Path, typer.Argument(help="The HIP source to submit.", show_default=False)],
    *,
    problem: Annotated[
        str, typer.Option("--problem", "-p", help="The problem to solve; see `warmfront problems list`.")
    ],
    endpoint: Annotated[str, typer.Option(help="xray, checker, benchmark or submit.")] = "submit",
    dtype: DtypeOption = None,
    gpu: Annotated[str | None, typer.Option(help="The GPU type (default: the server's).")] = None,
    case: CaseOption = None,
    all_cases: AllCasesOption = False,
    detach: Annotated[
        bool, typer.Option("--detach", "-d", help="Print the id and exit; the submission continues.")
    ] = False,
    receipt: ReceiptOption = None,
    as_json: JsonOption = False,
) -> None:
    """Submit FILE to the server at WARMFRONT_URL and follow it to its verdict.

    Ctrl-C detaches; the submission continues.

    Exit codes: 0 accepted, 1 rejected, 2 usage error, 3 infrastructure error, 130 detached.
    """
    from warmfront.cli.submit_and_follow import SubmitOptions, submit

    options = SubmitOptions(
        file=file,
        problem=problem,
        endpoint=endpoint,
        dtype=dtype,
        gpu_type=gpu,
        receipt=receipt,
        cases=tuple(case or ()),
        all_cases=all_cases,
    )
    raise typer.Exit(submit(options, detach=detach, as_json=as_json))


@app.command()
def ps(
    *,
    finished: Annotated[
        bool, typer.Option("--all", "-a", help="List the latest 100, including finished ones.")
    ] = False,
    everyone: Annotated[
        bool, typer.Option("--everyone", help="List the submissions of all users; operators only.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """List the unfinished submissions."""
    from warmfront.cli.server_reports import ps

    raise typer.Exit(ps(finished=finished, everyone=everyone, as_json=as_json))


@app.command()
def logs(
    submission_id: IdArgument,
    *,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Follow until the verdict.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Show the events of a submission."""
    from warmfront.cli.submit_and_follow import logs

    raise typer.Exit(logs(submission_id, follow=follow, as_json=as_json))


@app.command()
def receipt(
    submission_id: IdArgument,
    *,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Save it to this file instead of printing it.")
    ] = None,
) -> None:
    """Download the signed receipt of an accepted submission."""
    from warmfront.cli.verify_receipt import download

    raise typer.Exit(download(submission_id, output))


@app.command()
def verify(
    file: Annotated[Path, typer.Argument(help="The receipt.", show_default=False)],
    *,
    key: Annotated[
        Path | None,
        typer.Option(help="The public keys to trust: PEM, or saved from /api/amd/keys."),
    ] = None,
    server: Annotated[
        str | None, typer.Option(help="Trust the keys that this server publishes; needs a connection.")
    ] = None,
    source: Annotated[
        Path | None, typer.Option(help="Also check that the receipt is for this HIP source.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Verify a receipt offline: its signature, its seed and the score from the raw windows.

    Without --key or --server, only the keys of this machine are known.

    Exit codes: 0 valid, 1 refused, 2 usage error or unreadable file.
    """
    from warmfront.cli.verify_receipt import VerifyOptions, verify

    options = VerifyOptions(file=file, key=key, server=server, source=source)
    raise typer.Exit(verify(options, as_json=as_json))


@app.command()
def stop(
    submission_id: IdArgument,
    *,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Do not ask before cancelling another user's submission.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Cancel a submission and wait until its processes have ended. Operators can cancel anyone's."""
    from warmfront.cli.server_reports import stop

    raise typer.Exit(stop(submission_id, yes=yes, as_json=as_json))


@app.command()
def vms(
    *,
    finished: Annotated[bool, typer.Option("--all", "-a", help="Include recently terminated VMs.")] = False,
    as_json: JsonOption = False,
) -> None:
    """List the server's VMs."""
    from warmfront.cli.server_reports import vms

    raise typer.Exit(vms(finished=finished, as_json=as_json))


@app.command()
def provisioning(
    *,
    reset: Annotated[
        str | None, typer.Option(metavar="GPU", help="Close the circuit breaker of this GPU type.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Show why the server provisions no VMs; with --reset, close a circuit breaker first."""
    from warmfront.cli.server_reports import provisioning

    raise typer.Exit(provisioning(reset=reset, as_json=as_json))


@app.command()
def metrics(*, as_json: JsonOption = False) -> None:
    """Show the headline metrics of the server."""
    from warmfront.cli.server_reports import metrics

    raise typer.Exit(metrics(as_json=as_json))


app.command()(launch_commands.launch)
app.command()(cost_commands.cost)
app.command()(cost_commands.simulate)
app.command()(operator_commands.audit)
app.command()(operator_commands.alerts)


@keys_app.command("create")
def create_key(
    *,
    user: Annotated[str, typer.Option(help="The user that the key belongs to.")],
    role: Annotated[str, typer.Option(help="reader, author, operator or admin.")] = "author",
    team: Annotated[str | None, typer.Option(help="The team whose daily budget the user shares.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Create a key and print its secret, which is not shown again."""
    from warmfront.cli import manage_keys

    raise typer.Exit(manage_keys.create(user, role, team=team, as_json=as_json))


@keys_app.command("list")
def list_keys(*, as_json: JsonOption = False) -> None:
    """List all keys, including revoked ones."""
    from warmfront.cli import manage_keys

    raise typer.Exit(manage_keys.show_all(as_json=as_json))


@keys_app.command("revoke")
def revoke_key(
    key_id: Annotated[str, typer.Argument(help="The id of the key, or a prefix of it.", show_default=False)],
    *,
    as_json: JsonOption = False,
) -> None:
    """Revoke a key."""
    from warmfront.cli import manage_keys

    raise typer.Exit(manage_keys.revoke(key_id, as_json=as_json))


@signing_key_app.command("list")
def list_signing_keys(*, as_json: JsonOption = False) -> None:
    """List the public keys, including retired ones."""
    from warmfront.cli import manage_signing_keys

    raise typer.Exit(manage_signing_keys.show_all(as_json=as_json))


@signing_key_app.command("rotate")
def rotate_signing_key(*, as_json: JsonOption = False) -> None:
    """Create a new signing key and retire the old one, whose receipts remain valid."""
    from warmfront.cli import manage_signing_keys

    raise typer.Exit(manage_signing_keys.rotate(as_json=as_json))
