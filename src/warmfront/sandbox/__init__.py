"""Where untrusted code is compiled and run: bubblewrap or Docker, one use each.

Nothing slow is imported before a sandbox is opened: the command line passes through here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from warmfront.errors import NoSandbox

if TYPE_CHECKING:
    from pathlib import Path

    from warmfront.sandbox.base import Sandbox

BUBBLEWRAP = "bubblewrap"
DOCKER = "docker"
TRUSTED = "none (trusted)"


@dataclass(frozen=True, kw_only=True)
class SandboxAvailability:
    """Whether a sandbox works on this machine."""

    name: str
    works: bool
    detail: str  #: how it isolates, or why it does not work
    fix: str | None = None  #: the line to run


def open_sandbox(
    name: str | None = None, *, base: Path | None = None, image: str | None = None, url: str | None = None
) -> Sandbox:
    """The sandbox of that name, or the first that works here. None means that nothing untrusted is run.

    `base` is where the boxes' folders live. `image` and `url` are Docker's: the image that boxes see,
    by default this host's own system, and where the daemon listens.
    """
    if name == TRUSTED:
        from warmfront.sandbox.trusted_process import TrustedSandbox  # noqa: PLC0415  as the module says

        return TrustedSandbox(base=base)
    if name == BUBBLEWRAP:
        return _open_bubblewrap(base)
    if name == DOCKER:
        return _open_docker(base, image, url)
    if name is not None:
        raise NoSandbox(f"There is no sandbox {name!r}.", hint=f"{BUBBLEWRAP} or {DOCKER}")
    try:
        return _open_bubblewrap(base)
    except NoSandbox as bubblewrap:
        try:
            return _open_docker(base, image, url)
        except NoSandbox as docker:
            message = f"No sandbox works here. {bubblewrap.message} {docker.message}"
            raise NoSandbox(message, hint=bubblewrap.hint) from docker


def available(*, image: str | None = None, url: str | None = None) -> list[SandboxAvailability]:
    """What each sandbox says of this machine."""
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
    from warmfront.sandbox import bwrap_command  # noqa: PLC0415  as the module says

    bwrap_command.begin_probe()  # while the rest is loaded
    from warmfront.sandbox.bubblewrap import Bubblewrap  # noqa: PLC0415  as the module says

    return Bubblewrap(base=base)


def _open_docker(base: Path | None, image: str | None, url: str | None) -> Sandbox:
    from warmfront.sandbox.docker import Docker  # noqa: PLC0415  as the module says

    return Docker(base=base, image=image, url=url)
