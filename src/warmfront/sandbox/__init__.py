"""Sandboxes for untrusted code: bubblewrap or Docker. Each box is used once.

Slow modules are imported only when a sandbox is opened, because the command line imports this package.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from warmfront.errors import NoSandbox
from warmfront.value_class import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from warmfront.sandbox.base import Sandbox

BUBBLEWRAP = "bubblewrap"
DOCKER = "docker"
TRUSTED = "none (trusted)"


@dataclass(frozen=True, kw_only=True)
class SandboxAvailability:
    """Whether a sandbox works on this machine, and if not, why."""

    name: str
    works: bool
    detail: str  #: how it isolates, or why it does not work
    fix: str | None = None  #: the command that would make it work


def open_sandbox(
    name: str | None = None,
    *,
    base: Path | None = None,
    image: str | None = None,
    image_dirs: Sequence[Path] = (),
    url: str | None = None,
) -> Sandbox:
    """Open a sandbox.

    Args:
        name: `bubblewrap`, `docker` or `none (trusted)`; None for the first of bubblewrap and Docker that
            works.
        base: directory for the folders of boxes; by default shared memory, or the temporary directory.
        image: Docker only: the image that boxes see; by default the system of this host, read-only.
        image_dirs: Docker only: directories that the image contains; they are not mounted from the host.
        url: Docker only: address of the daemon; by default DOCKER_HOST.

    Raises:
        NoSandbox: the sandbox does not work on this machine, or there is no sandbox of that name.

    Example:
        >>> sandbox = open_sandbox("bubblewrap")
        >>> with sandbox.take(template) as box:
        ...     box.go()
        ...     print(box.wait().output)
        >>> sandbox.close()
    """
    if name == TRUSTED:
        from warmfront.sandbox.trusted_process import TrustedSandbox  # noqa: PLC0415 - see the module docstring

        return TrustedSandbox(base=base)
    if name == BUBBLEWRAP:
        return _open_bubblewrap(base)
    if name == DOCKER:
        return _open_docker(base, image, image_dirs, url)
    if name is not None:
        raise NoSandbox(f"Unknown sandbox: {name!r}.", hint=f"Use {BUBBLEWRAP} or {DOCKER}.")
    try:
        return _open_bubblewrap(base)
    except NoSandbox as bubblewrap:
        try:
            return _open_docker(base, image, image_dirs, url)
        except NoSandbox as docker:
            message = f"No sandbox works on this machine. {bubblewrap.message} {docker.message}"
            raise NoSandbox(message, hint=bubblewrap.hint) from docker


def available(*, image: str | None = None, url: str | None = None) -> list[SandboxAvailability]:
    """Return whether each sandbox works on this machine."""
    return [_try(BUBBLEWRAP), _try(DOCKER, image=image, url=url)]


def _try(name: str, *, image: str | None = None, url: str | None = None) -> SandboxAvailability:
    try:
        sandbox = open_sandbox(name, image=image, url=url)
    except NoSandbox as error:
        return SandboxAvailability(name=name, works=False, detail=error.message, fix=error.hint)
    try:
        return SandboxAvailability(name=name, works=True, detail=sandbox.detail)
    finally:
        sandbox.close()


def _open_bubblewrap(base: Path | None) -> Sandbox:
    from warmfront.sandbox import bwrap_command  # noqa: PLC0415 - see the module docstring

    bwrap_command.start_probe()  # the probe runs while the other modules are imported
    from warmfront.sandbox.bubblewrap import Bubblewrap  # noqa: PLC0415 - see the module docstring

    return Bubblewrap(base=base)


def _open_docker(
    base: Path | None, image: str | None, image_dirs: Sequence[Path], url: str | None
) -> Sandbox:
    from warmfront.sandbox.docker import Docker  # noqa: PLC0415 - see the module docstring

    return Docker(base=base, image=image, image_dirs=image_dirs, url=url)
