"""The commands of `warmfront image` and their options; `warmfront.cli.image` implements them."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - Typer reads the annotations
from typing import Annotated

import typer

image_app = typer.Typer(help="Build the image of cloud VMs.", no_args_is_help=True)

RepositoryOption = Annotated[
    str | None,
    typer.Option(help="Repository to push to, such as ghcr.io/you/warmfront-vm; WARMFRONT_IMAGE_REPOSITORY."),
]


@image_app.command()
def lock() -> None:
    """Look up the base images in their registries, and write their digests to deploy/images.toml."""
    from warmfront.cli import image

    raise typer.Exit(image.lock())


@image_app.command()
def build(
    *,
    repository: RepositoryOption = None,
    wheels: Annotated[
        Path | None, typer.Option(help="Folder with the Python packages, for a build without an index.")
    ] = None,
    allow_unpinned: Annotated[
        bool, typer.Option("--allow-unpinned", help="Build even if a base image has no digest.")
    ] = False,
) -> None:
    """Build the image of VMs, check it, and print its size."""
    from warmfront.cli import image

    raise typer.Exit(image.build(repository, wheels=wheels, allow_unpinned=allow_unpinned))


@image_app.command()
def push(*, repository: RepositoryOption = None) -> None:
    """Push the image, and print the line that sets WARMFRONT_WORKER_IMAGE to its digest."""
    from warmfront.cli import image

    raise typer.Exit(image.push(repository))
