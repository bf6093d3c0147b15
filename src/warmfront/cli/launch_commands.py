"""The options of `warmfront launch`."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - Typer reads the annotations
from typing import Annotated

import typer

JsonOption = Annotated[bool, typer.Option("--json", help="Print only JSON on stdout.")]


def launch(
    file: Annotated[Path, typer.Argument(help="The HIP source; it needs no `solution`.", show_default=False)],
    *,
    kernel: Annotated[
        str | None, typer.Option("--kernel", "-k", help="The kernel (default: the only one of the file).")
    ] = None,
    grid: Annotated[str, typer.Option(help="Blocks: one to three sizes, such as 4x2.")] = "1",
    block: Annotated[str, typer.Option(help="Threads per block, such as 16x16.")] = "64",
    arg: Annotated[
        list[str] | None,
        typer.Option(
            "--arg",
            help="An argument: n=1024 by value, x=1024:index for a buffer of 1024 elements, x=3:1,2,5 with "
            "these values; once per parameter. Fills: random, index, zeros, ones, uninitialized.",
            show_default=False,
        ),
    ] = None,
    shared_bytes: Annotated[int, typer.Option(help="Bytes of dynamic LDS.")] = 0,
    bugs: Annotated[
        bool,
        typer.Option("--bugs", help="Let the bug finder take as long as it needs; only on this machine."),
    ] = False,
    sandbox: Annotated[
        str | None, typer.Option(help="bubblewrap or docker (default: the first that works).")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Fill random buffers from this seed; only on this machine.")
    ] = None,
    server: Annotated[
        bool, typer.Option("--server", help="Launch it on a VM of the server at WARMFRONT_URL.")
    ] = False,
    gpu: Annotated[
        str | None, typer.Option(help="With --server: the GPU type (default: the server's).")
    ] = None,
    detach: Annotated[
        bool, typer.Option("--detach", "-d", help="With --server: print the id and exit.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Launch a kernel of FILE without a problem, and print the buffers that it has written.

    Exit codes: 0 it ran without errors, 1 it failed, 2 usage error, 3 infrastructure error.
    """
    from warmfront.cli.launch_arguments import LaunchOptions
    from warmfront.cli.launch_kernel import launch_here, launch_on_server

    options = LaunchOptions(
        kernel=kernel, grid=grid, block=block, shared_bytes=shared_bytes, arguments=tuple(arg or ())
    )
    if server:
        if bugs or sandbox or seed is not None:
            raise typer.BadParameter("--bugs, --sandbox and --seed cannot be combined with --server.")
        raise typer.Exit(launch_on_server(file, options, gpu_type=gpu, detach=detach, as_json=as_json))
    if gpu or detach:
        raise typer.BadParameter("--gpu and --detach need --server.")
    raise typer.Exit(launch_here(file, options, bugs=bugs, sandbox=sandbox, seed=seed, as_json=as_json))
